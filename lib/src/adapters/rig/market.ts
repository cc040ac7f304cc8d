/** The four adapters before a whole application with many routes; what is free there says `free`. */
import type { RequestListener } from 'node:http';
import express from 'express';
import { Hono } from 'hono';
import type { CatalogueOptions, Probe, Route, RouteRequest, Seller } from '../../seller/index.ts';
import { probe as probeExpress, paidRoutes as sellExpress } from '../express.ts';
import { probe as probeFetch, paidRoutes as sellFetch } from '../fetch.ts';
import { probe as probeHono, paidRoutes as sellHono } from '../hono.ts';
import { probe as probeNode, paidRoutes as sellNode } from '../node.ts';
import { bridge } from './bridge.ts';
import { type Door, type Handler, respond, seenIn, write } from './door.ts';
import { serveHono } from './hono.ts';

/** A route and what stands behind it. */
export type Sold = readonly (readonly [Route<RouteRequest>, Handler])[];

type Market = { readonly listener: RequestListener; readonly probe: Probe };

type Open = (seller: Seller, sold: Sold, options: CatalogueOptions) => Market;

export const markets: { readonly [name in Door['name']]: Open } = {
  fetch: (seller, sold, options) => {
    const pairs = sold.map(([route, handler]) => {
      const answer = async (
        request: Request,
        context: Parameters<Handler>[0]['context'],
      ): Promise<Response> => respond(await handler({ ...(await seenIn(request)), context }));
      return [route, answer] as const;
    });
    const handler = sellFetch(seller, pairs, { ...options, otherwise: () => new Response('free') });
    return { listener: bridge(handler), probe: probeFetch(handler) };
  },
  node: (seller, sold, options) => {
    const pairs = sold.map(([route, handler]) => {
      const answer = (...parts: Parameters<Parameters<typeof sellNode>[1][number][1]>): Promise<void> =>
        write(parts[0], parts[1], handler, parts[2] as Parameters<Handler>[0]['context']);
      return [route, answer] as const;
    });
    const listener = sellNode(seller, pairs, {
      ...options,
      otherwise: (_request, response) => response.end('free'),
    });
    return { listener, probe: probeNode(listener) };
  },
  express: (seller, sold, options) => {
    const app = express();
    const gate = sellExpress(
      seller,
      sold.map(([route]) => route),
      { closed: [], ...options },
    );
    app.use(gate);
    for (const [route, handler] of sold) {
      app.all(route.path, (request, response, next) =>
        request.method === route.method ? write(request, response, handler, gate.context(request)) : next(),
      );
    }
    app.use((_request, response) => void response.send('free'));
    return { listener: app, probe: probeExpress(app) };
  },
  hono: (seller, sold, options) => {
    const app = new Hono();
    const gate = sellHono(
      seller,
      sold.map(([route]) => route),
      { closed: [], ...options },
    );
    app.use(gate);
    for (const [route, handler] of sold) {
      app.on(route.method, route.path, async (c) =>
        respond(await handler({ ...(await seenIn(c.req.raw)), context: gate.context(c) })),
      );
    }
    app.notFound((c) => c.text('free', 200));
    return { listener: serveHono(app), probe: probeHono(app) };
  },
};
