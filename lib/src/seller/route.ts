/** A priced route: what is sold, for how much, and the limits of its work. Mistakes are found here, at start-up. */
import type { ExposureLimits, Finality } from '../claim/index.ts';
import {
  type Binding,
  type Budget,
  checkBudget,
  commitmentExtension,
  declareCommitment,
  defaultBudget,
} from '../payment/index.ts';
import {
  buildRequirements,
  createQuote,
  declareBazaar,
  declarePaymentIdentifier,
  defaultMaxTimeoutSeconds,
  defineTerms,
  describeResource,
  type Flow,
  type PriceOf,
  type Quote,
} from '../terms/index.ts';
import type { JsonObject, ResourceInfo } from '../wire/v2.ts';
import { checkAssurance, finalityOf } from './assurance.ts';
import { exposureLimits } from './limits/unpaid.ts';
import type { HeaderList } from './message.ts';
import { checkSettings, limitsOf, type RouteLimits, type RouteSettings } from './settings.ts';
import type { Shop } from './shop.ts';

/** The request as it is fingerprinted, priced and handed to the work. */
export type RouteRequest = {
  readonly method: string;
  /** The configured origin and the target as received. */
  readonly url: string;
  readonly headers: HeaderList;
  readonly body: Uint8Array;
};

/** Why a request cannot be served, in the seller's own words; the buyer reads them. */
export type Invalid =
  | string
  | {
      readonly detail: string;
      /** 400 unless said otherwise; any other of the 4xx but 402. */
      readonly status?: number;
      /** Names of what was wrong. */
      readonly fields?: readonly string[];
    };

/** Judges a request before anything is claimed or charged; gives nothing where it can be served. */
export type Validate<Parsed> = (
  parsed: Parsed,
  request: RouteRequest,
) => Invalid | undefined | Promise<Invalid | undefined>;

export type RouteOptions<Parsed> = RouteSettings & {
  readonly price: PriceOf<Parsed>;
  /** Reads the request once, for the price and for the work alike (B11); throwing refuses it, uncharged. */
  readonly parse?: (request: RouteRequest) => Parsed | Promise<Parsed>;
  /** Runs before the claim, paid or not: a request that is refused here never costs money. */
  readonly validate?: Validate<Parsed>;
};

/** A route whose request is read by the seller's own `parse`. */
export type ParsedRouteOptions<Parsed> = RouteOptions<Parsed> & {
  readonly parse: (request: RouteRequest) => Parsed | Promise<Parsed>;
};

export type Route<Parsed> = RouteLimits & {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly flow: Flow;
  readonly binding: Binding;
  readonly parse: (request: RouteRequest) => Parsed | Promise<Parsed>;
  readonly validate: Validate<Parsed> | undefined;
  readonly quote: Quote<Parsed>;
  /** Everything that its 402 says is the same for every request, the URL apart. */
  readonly asksAlike: boolean;
  /** What the 402 says of the resource, apart from its URL. */
  readonly resource: Omit<ResourceInfo, 'url'>;
  /** What the 402 declares, apart from the digest of a required binding. */
  readonly extensions: JsonObject;
  readonly budget: Budget;
  /** How deep the chain must show a transfer; undefined where a facilitator's word is enough. */
  readonly assurance: Finality | undefined;
  readonly maxTimeoutSeconds: number;
  /** What one payer may run up before its money must move first; undefined where nothing is lent, or counted. */
  readonly unpaid: ExposureLimits | undefined;
};

/** Checks and completes a route; every mistake is a TypeError that names the option. */
export function defineRoute<Parsed>(
  shop: Pick<
    Shop,
    'accepts' | 'assetList' | 'assurance' | 'binding' | 'chains' | 'observe' | 'roster' | 'unpaidRuns'
  >,
  options: ParsedRouteOptions<Parsed>,
): Route<Parsed> {
  checkSettings({ ...options, binding: options.binding ?? shop.binding });
  const { method, path, flow = 'authorization', maxTimeoutSeconds = defaultMaxTimeoutSeconds } = options;
  const { binding = shop.binding } = options;
  const name = `${method} ${path}`;
  const budget = {
    ...defaultBudget,
    ...(options.workMs === undefined ? {} : { workMs: options.workMs }),
    ...(options.settleMs === undefined ? {} : { settleMs: options.settleMs }),
  };
  checkBudget({ flow, maxTimeoutSeconds, budget });
  const assurance = finalityOf(options.assurance ?? shop.assurance);
  checkAssurance(shop, { name, budget, assurance });
  const limits = limitsOf(options);
  const unpaid = exposureLimits(options.unpaidRuns ?? shop.unpaidRuns);
  const quote = quoteOf(shop, options, { name, binding });
  return Object.freeze({
    name,
    method,
    path,
    flow,
    binding,
    parse: options.parse,
    validate: options.validate,
    quote,
    asksAlike: typeof options.price !== 'function' && binding !== 'required',
    resource: resourceOf(shop, options, name),
    extensions: extensionsOf(options, binding, limits),
    budget,
    assurance,
    maxTimeoutSeconds,
    unpaid: flow === 'authorization' ? unpaid : undefined,
    ...limits,
  });
}

function quoteOf<Parsed>(
  shop: Pick<Shop, 'accepts' | 'assetList' | 'observe' | 'roster'>,
  options: ParsedRouteOptions<Parsed>,
  route: { readonly name: string; readonly binding: Binding },
): Quote<Parsed> {
  const { accepts, assetList: assets, roster } = shop;
  const { method, path, price, flow = 'authorization' } = options;
  const { maxTimeoutSeconds = defaultMaxTimeoutSeconds } = options;
  const terms = defineTerms({ accepts, assets, flow, maxTimeoutSeconds });
  const declared = { name: route.name, method, path, signed: route.binding === 'required' };
  if (typeof price !== 'function') {
    const fixed = buildRequirements(price, terms);
    roster.declare(declared, fixed);
    return roster.fixedQuote(route.name, fixed);
  }
  roster.declare(declared, undefined);
  return createQuote(price, terms, (fault) =>
    shop.observe({
      event: 'alarm',
      alarm: 'price_failed',
      detail: fault instanceof Error ? fault.name : 'unknown',
    }),
  );
}

function resourceOf(
  shop: Pick<Shop, 'observe'>,
  options: RouteSettings,
  route: string,
): Omit<ResourceInfo, 'url'> {
  const { description, mimeType, serviceName, tags, iconUrl } = options;
  const told = { description, mimeType, serviceName, tags, iconUrl };
  const given = Object.fromEntries(Object.entries(told).filter(([, value]) => value !== undefined));
  const { resource, dropped } = describeResource(given);
  if (dropped.length > 0) {
    shop.observe({ event: 'shortened', route, fields: dropped.map(({ field }) => field) });
  }
  return resource;
}

function extensionsOf(options: RouteSettings, binding: Binding, limits: RouteLimits): JsonObject {
  const { method, path, discovery } = options;
  const { boundHeaders, paymentId } = limits;
  return {
    ...(binding === 'off'
      ? {}
      : {
          [commitmentExtension]: declareCommitment({ required: binding === 'required', boundHeaders }),
        }),
    ...(paymentId === 'off'
      ? {}
      : { 'payment-identifier': declarePaymentIdentifier(paymentId === 'required') }),
    ...(discovery === undefined ? {} : { bazaar: declareBazaar({ method, path, ...discovery }) }),
  };
}
