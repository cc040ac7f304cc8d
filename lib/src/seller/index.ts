/** Sell: put a seller together, define priced routes, and answer requests to them. */
export { cacheFields, statusHeader } from './answer.ts';
export type { Alarm, SellerEvent } from './event.ts';
export { defaultLease, type LeaseSettings } from './lease.ts';
export type {
  Answer,
  BodyResult,
  Delivery,
  HeaderList,
  SellerRequest,
  Work,
  WorkContext,
} from './message.ts';
export type { ParsedRouteOptions, Route, RouteOptions, RouteRequest } from './route.ts';
export { createSeller, type Seller, type SellerOptions } from './seller.ts';
