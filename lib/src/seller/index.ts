/** Sell: put a seller together, define priced routes, and answer requests to them. */
export { cacheFields, statusHeader } from './answer.ts';
export type { Assurance } from './assurance.ts';
export type { ReconcileSettings } from './background.ts';
export type { CatalogueOptions } from './catalogue.ts';
export type { CorsOptions } from './cors.ts';
export type { Alarm, SellerEvent } from './event.ts';
export { defaultLease, type LeaseSettings } from './lease.ts';
export type { BreakerOptions, BreakerState } from './limits/breaker.ts';
export type { BucketOptions } from './limits/bucket.ts';
export type { LimitOptions } from './limits/limits.ts';
export type { QuotaOptions } from './limits/quota.ts';
export type { UnpaidRuns } from './limits/unpaid.ts';
export type {
  Answer,
  BodyResult,
  Delivery,
  HeaderList,
  SellerRequest,
  Work,
  WorkContext,
} from './message.ts';
export type { Probe, ProbeAnswer, ProbeRequest } from './probe.ts';
export { RequestFault, readJson, readQuery } from './read.ts';
export type { SiblingPolicy } from './roster.ts';
export type { Invalid, ParsedRouteOptions, Route, RouteOptions, RouteRequest, Validate } from './route.ts';
export {
  createSeller,
  type Found,
  type ReadyTest,
  type Seller,
  type SellerOptions,
  type Sought,
} from './seller.ts';
export type { RouteSettings } from './settings.ts';
