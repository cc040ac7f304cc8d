/**
 * The street behind the gates of the adapters. Where a gate lets a request pass, or finds another route than the
 * framework does, a priced handler runs unpaid: every application here has them all.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { MiddlewareHandler } from 'hono';
import type { Route, RouteRequest, Seller } from '../../seller/index.ts';
import * as expressGates from '../express.ts';
import * as fetchGates from '../fetch.ts';
import * as honoGates from '../hono.ts';
import * as nodeGates from '../node.ts';
import { expressOf, honoOf, type Run, served } from './frameworks.ts';
import { options, priced } from './street.ts';

export type Gated = { readonly name: string; readonly listener: RequestListener };

/** Every adapter's gates before the street. */
export function gatedStreets(seller: Seller, run: Run): readonly Gated[] {
  const routes = priced.map(({ method, path }) => seller.route({ method, path, price: '$0.01' }));
  const routeOf = (name: string): Route<RouteRequest> => {
    const route = routes.find((known) => known.name === name);
    if (route === undefined) throw new Error(`no route ${name}`);
    return route;
  };
  const expressApp = expressGates.paidRoutes(seller, routes, options);
  const expressRoute = (name: string): expressGates.Gate<RouteRequest> =>
    expressGates.paid(seller, routeOf(name));
  const honoApp: MiddlewareHandler = honoGates.paidRoutes(seller, routes, options);
  const honoRoute = (name: string): MiddlewareHandler => honoGates.paid(seller, routeOf(name));
  return [
    { name: 'Express, one gate', listener: expressOf(run, {}, { app: expressApp }) },
    { name: 'Express, strict, one gate', listener: expressOf(run, { strict: true }, { app: expressApp }) },
    { name: 'Express, mounted, one gate', listener: expressOf(run, { mounted: true }, { app: expressApp }) },
    { name: 'Express, gates at handlers', listener: expressOf(run, {}, { route: expressRoute }) },
    {
      name: 'Express, mounted, gates at handlers',
      listener: expressOf(run, { mounted: true }, { route: expressRoute }),
    },
    { name: 'Hono, one gate', listener: served(honoOf(run, {}, { app: honoApp })) },
    { name: 'Hono, loose, one gate', listener: served(honoOf(run, { loose: true }, { app: honoApp })) },
    { name: 'Hono, nested, one gate', listener: served(honoOf(run, { nested: true }, { app: honoApp })) },
    { name: 'Hono, gates at handlers', listener: served(honoOf(run, {}, { route: honoRoute })) },
    { name: 'node:http before Express', listener: nodeStreet(seller, routes, run) },
    { name: 'fetch before Hono', listener: fetchStreet(seller, routes, run) },
  ];
}

type Routes = readonly Route<RouteRequest>[];

function nodeStreet(seller: Seller, routes: Routes, run: Run): RequestListener {
  const otherwise = expressOf(run);
  const pairs = routes.map((route) => [route, soldByNode] as const);
  return nodeGates.paidRoutes(seller, pairs, { ...options, otherwise });
}

function soldByNode(_request: IncomingMessage, response: ServerResponse): void {
  response.end();
}

function fetchStreet(seller: Seller, routes: Routes, run: Run): RequestListener {
  const street = honoOf(run);
  const pairs = routes.map((route) => [route, () => new Response()] as const);
  const fetch = fetchGates.paidRoutes(seller, pairs, {
    ...options,
    otherwise: (request) => street.fetch(request),
  });
  return served({ fetch });
}
