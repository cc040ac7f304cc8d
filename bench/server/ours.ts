/** This library's gates, mounted as their documentation shows them. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { getRequestListener } from '@hono/node-server';
import { paid as gateExpress, paidRoutes as gateExpressRoutes } from 'counterfoil/adapters/express';
import { paidRoutes as sellFetch } from 'counterfoil/adapters/fetch';
import { paid as gateHono, paidRoutes as gateHonoRoutes } from 'counterfoil/adapters/hono';
import { paidRoutes as sellNode } from 'counterfoil/adapters/node';
import type { ClaimStore } from 'counterfoil/claim';
import { createSeller, type Route, type RouteRequest, type Seller } from 'counterfoil/seller';
import { createFacilitator, type Facilitator, httpTransport, localTransport } from 'counterfoil/settlement';
import { createMemoryStore } from 'counterfoil/stores/memory';
import { openSqliteStore } from 'counterfoil/stores/sqlite';
import { createSystem, type System } from 'counterfoil/system';
import { defineAsset } from 'counterfoil/terms';
import type { JsonObject } from 'counterfoil/wire';
import express from 'express';
import { Hono } from 'hono';
import { createStandIn } from './facilitator.ts';
import { freePath, network, payTo, price, token } from './goods.ts';
import type { Premises, Shop } from './shop.ts';

/** Opens a shop behind our gates; each of its paths is a route of its own. */
export async function openOurs(premises: Premises): Promise<Shop> {
  const world = await createSystem();
  const store = await openStore(premises, world);
  const seller = createSeller({
    world,
    store,
    facilitator: facilitatorOf(premises, world),
    origin: premises.origin,
    accepts: [{ network, payTo }],
    assets: [defineAsset({ network, dollar: true, ...token })],
    storeKey: new Uint8Array(32).fill(7),
  });
  const routes = premises.goods.paths.map((path) => seller.route({ method: 'GET', path, price }));
  await seller.ready();
  return {
    listener: listenerOf({ premises, seller, routes }),
    storeRoundTrip: () => store.find('nobody has this key'),
    close: async () => {
      await seller.close();
      await world.close();
    },
  };
}

async function openStore({ variant, folder }: Premises, world: System): Promise<ClaimStore> {
  if (variant.store === 'memory') return createMemoryStore({ world });
  // Shops of one process come one after the other and do not know each other's payments.
  return openSqliteStore({ path: join(folder, `${variant.name}-${performance.now()}.sqlite`) });
}

function facilitatorOf({ facilitatorUrl }: Premises, world: System): Facilitator {
  if (facilitatorUrl !== undefined) {
    return createFacilitator(httpTransport({ url: facilitatorUrl, http: world.http }));
  }
  const unread = (json: JsonObject): JsonObject => json;
  return createFacilitator(localTransport(createStandIn(), { payment: unread, requirement: unread }));
}

type Sale = {
  readonly premises: Premises;
  readonly seller: Seller;
  readonly routes: readonly Route<RouteRequest>[];
};

function listenerOf(sale: Sale): RequestListener {
  const { framework } = sale.premises.variant;
  switch (framework) {
    case 'node':
      return nodeListener(sale);
    case 'fetch':
      return fetchListener(sale);
    case 'express':
      return expressListener(sale);
    case 'hono':
      return honoListener(sale);
    default:
      return framework satisfies never;
  }
}

function nodeListener({ premises: { work }, seller, routes }: Sale): RequestListener {
  const handler = async (_request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const text = JSON.stringify(await work.answer());
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(text);
  };
  const otherwise: RequestListener = ({ url }, response) => {
    response.writeHead(url === freePath ? 200 : 404, { 'content-type': 'application/json' }).end('{}');
  };
  const pairs = routes.map((route) => [route, handler] as const);
  return sellNode(seller, pairs, { otherwise });
}

function fetchListener({ premises: { work }, seller, routes }: Sale): RequestListener {
  const handler = async (): Promise<Response> => Response.json(await work.answer());
  const otherwise = ({ url }: Request): Response =>
    Response.json({}, { status: url.endsWith(freePath) ? 200 : 404 });
  const pairs = routes.map((route) => [route, handler] as const);
  return getRequestListener(sellFetch(seller, pairs, { otherwise }));
}

/** One route has its gate before its handler; many have one gate before the application. */
function expressListener({ premises: { goods, work }, seller, routes }: Sale): RequestListener {
  const app = express();
  const [route, ...more] = routes;
  if (route === undefined || more.length > 0) app.use(gateExpressRoutes(seller, routes, { closed: [] }));
  else app.get(goods.pattern, gateExpress(seller, route));
  app.get(freePath, (_request, response) => void response.json({}));
  app.get(goods.pattern, async (_request, response) => void response.json(await work.answer()));
  return app;
}

function honoListener({ premises: { goods, work }, seller, routes }: Sale): RequestListener {
  const app = new Hono();
  const [route, ...more] = routes;
  if (route === undefined || more.length > 0) app.use(gateHonoRoutes(seller, routes, { closed: [] }));
  else app.use(goods.pattern, gateHono(seller, route));
  app.get(freePath, (context) => context.json({}));
  app.get(goods.pattern, async (context) => context.json(await work.answer()));
  return getRequestListener(app.fetch);
}
