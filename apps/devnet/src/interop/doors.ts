/**
 * A shop of several routes behind each of the library's adapters, as its applications mount them, on a real chain: for
 * tests in which what matters is that every door keeps the same promises.
 */
import { createServer, type RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { getRequestListener } from '@hono/node-server';
import { probe as probeExpress, paidRoutes as sellExpress } from 'counterfoil/adapters/express';
import { probe as probeFetch, paidRoutes as sellFetch } from 'counterfoil/adapters/fetch';
import { probe as probeHono, paidRoutes as sellHono } from 'counterfoil/adapters/hono';
import { probe as probeNode, paidRoutes as sellNode } from 'counterfoil/adapters/node';
import type { ClaimStore } from 'counterfoil/claim';
import {
  createSeller,
  type Probe,
  type Route,
  type RouteOptions,
  type RouteRequest,
  type Seller,
  type SellerOptions,
} from 'counterfoil/seller';
import { createFacilitator, httpTransport } from 'counterfoil/settlement';
import { createMemoryStore } from 'counterfoil/stores/memory';
import express from 'express';
import { Hono } from 'hono';
import { closeServer, listenLocal } from '../http.ts';
import type { Market } from './market.ts';

/** What is sold at a route, apart from the work: the name of the route and the body that it was sent. */
export type Goods = Omit<RouteOptions<RouteRequest>, 'parse' | 'price'> & { readonly price?: string };

export type DoorOptions = Pick<SellerOptions, 'binding' | 'siblings'> & {
  readonly name: DoorName;
  readonly goods: readonly Goods[];
};

export type Door = {
  /** `http://127.0.0.1:<port>` */
  readonly origin: string;
  readonly store: ClaimStore;
  /** How often the work of any route started. */
  readonly runs: () => number;
};

/** Answers for a route; the body is what reached the handler. */
type Work = (route: Route<RouteRequest>, body: string) => string;

type Built = { readonly listener: RequestListener; readonly probe: Probe };

type Build = (seller: Seller, routes: readonly Route<RouteRequest>[], work: Work) => Built;

/** One for each adapter. */
export const doorNames = ['express', 'fetch', 'hono', 'node'] as const;

export type DoorName = (typeof doorNames)[number];

/** Each mounts the routes as its framework has it. */
const doors: Readonly<Record<DoorName, Build>> = {
  express: (seller, routes, work) => {
    const app = express();
    app.use(sellExpress(seller, routes, { closed: ['/'] }));
    for (const route of routes) {
      app.all(route.path, async (request, response) => {
        response.type('text/plain').send(work(route, await text(request)));
      });
    }
    return { listener: app, probe: probeExpress(app) };
  },
  fetch: (seller, routes, work) => {
    const handler = sellFetch(
      seller,
      routes.map((route) => [route, async (request) => new Response(work(route, await request.text()))]),
    );
    return { listener: serve(handler), probe: probeFetch(handler) };
  },
  hono: (seller, routes, work) => {
    const app = new Hono();
    app.use(sellHono(seller, routes, { closed: ['/'] }));
    for (const route of routes) {
      app.on(route.method, route.path, async (c) => c.text(work(route, await c.req.text())));
    }
    return { listener: serve((request) => app.fetch(request)), probe: probeHono(app) };
  },
  node: (seller, routes, work) => {
    const listener = sellNode(
      seller,
      routes.map((route) => [
        route,
        async (request, response) => {
          response.setHeader('content-type', 'text/plain');
          response.end(work(route, await text(request)));
        },
      ]),
    );
    return { listener: (request, response) => void listener(request, response), probe: probeNode(listener) };
  },
};

/** Without replacing the globals, which all tests of a run share. */
function serve(handler: (request: Request) => Response | Promise<Response>): RequestListener {
  return getRequestListener(handler, { overrideGlobalObjects: false });
}

/** Opens a shop for the length of a test; every route was met behind its gate once before. */
export async function openDoor(
  t: TestContext,
  market: Market,
  { name, goods, ...options }: DoorOptions,
): Promise<Door> {
  const { devnet, rig, world, asset, chain } = market;
  let listener: RequestListener = (_request, response) => void response.writeHead(503).end();
  const server = createServer((request, response) => listener(request, response));
  const origin = `http://127.0.0.1:${await listenLocal(server, 0)}`;
  t.after(() => closeServer(server, 0));
  const store = createMemoryStore({ world });
  const seller = createSeller({
    world,
    store,
    facilitator: createFacilitator(httpTransport({ url: rig.url, http: world.http })),
    chains: { [devnet.network]: chain },
    origin,
    accepts: [{ network: devnet.network, payTo: devnet.accounts.seller.address }],
    assets: [asset],
    storeKey: new Uint8Array(32).fill(7),
    ...options,
  });
  const routes = goods.map((each) => seller.route({ price: '$0.01', ...each }));
  let runs = 0;
  const built = doors[name](seller, routes, (route, body) => {
    runs += 1;
    return `${route.name} ${body}`.trim();
  });
  listener = built.listener;
  await seller.ready({ probe: built.probe });
  return { origin, store, runs: () => runs };
}
