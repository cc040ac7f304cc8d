/** A shop that is an application of Express, on a real socket. */
import type { TestContext } from 'node:test';
import express, { type Express } from 'express';
import type { Route, RouteOptions, RouteRequest, Seller } from '../../seller/index.ts';
import { openShop, type Shop } from './shop.ts';

/** Opens the shop for the length of a test. */
export function openExpress(
  t: TestContext,
  build: (app: Express, seller: Seller, route: Route<RouteRequest>) => unknown,
  options?: Partial<RouteOptions<RouteRequest>>,
): Promise<Shop> {
  const make = (seller: Seller, route: Route<RouteRequest>): Express => {
    const app = express();
    build(app, seller, route);
    return app;
  };
  return openShop(t, make, options);
}
