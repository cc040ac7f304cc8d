/** A shop that is an application of Hono, served by @hono/node-server on a real socket. */
import type { RequestListener } from 'node:http';
import type { TestContext } from 'node:test';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import type { Route, RouteOptions, RouteRequest, Seller } from '../../seller/index.ts';
import { openShop, type Shop } from './shop.ts';

/** Serves a Hono application on Node; without replacing the globals, which all tests of a run share. */
export function serveHono(app: Pick<Hono, 'fetch'>): RequestListener {
  return getRequestListener(app.fetch, { overrideGlobalObjects: false });
}

/** Opens the shop for the length of a test. */
export function openHono(
  t: TestContext,
  build: (app: Hono, seller: Seller, route: Route<RouteRequest>) => unknown,
  options?: Partial<RouteOptions<RouteRequest>>,
): Promise<Shop> {
  const make = (seller: Seller, route: Route<RouteRequest>): RequestListener => {
    const app = new Hono();
    build(app, seller, route);
    return serveHono(app);
  };
  return openShop(t, make, options);
}
