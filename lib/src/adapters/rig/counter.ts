/** A shop behind one of the doors, whose handler counts its runs. */
import type { TestContext } from 'node:test';
import type { RouteOptions, RouteRequest, SellerOptions } from '../../seller/index.ts';
import type { Door, Handler } from './door.ts';
import { openShop, type Shop } from './shop.ts';

export type CountingShop = Shop & { readonly runs: () => number };

/** Opens the shop for the length of a test; its handler says `sunny` unless it is given. */
export async function openCounting(
  t: TestContext,
  door: Door,
  handler: Handler = () => ({ parts: ['sunny'] }),
  options: Partial<RouteOptions<RouteRequest>> = {},
  seller: Partial<SellerOptions> = {},
): Promise<CountingShop> {
  let runs = 0;
  const counted: Handler = (parts) => {
    runs += 1;
    return handler(parts);
  };
  const shop = await openShop(t, (seller, route) => door.open(seller, route, counted), options, seller);
  return { ...shop, runs: () => runs };
}
