/** A priced route: what is sold, for how much, and the limits of its work. Mistakes are found here, at start-up. */
import { type Budget, checkBudget, defaultBudget } from '../payment/index.ts';
import {
  createQuote,
  defaultMaxTimeoutSeconds,
  defineTerms,
  type Flow,
  type PriceOf,
  type Quote,
} from '../terms/index.ts';
import type { HeaderList } from './message.ts';
import type { Shop } from './shop.ts';

/** The request as it is fingerprinted, priced and handed to the work. */
export type RouteRequest = {
  readonly method: string;
  /** The configured origin and the target as received. */
  readonly url: string;
  readonly headers: HeaderList;
  readonly body: Uint8Array;
};

/** What a route is, apart from its price. */
export type RouteSettings = {
  /** Any HTTP method but HEAD and OPTIONS. */
  readonly method: string;
  /** Names the route in records and events, as `/weather`. */
  readonly path: string;
  /** Default `authorization`: the work first, the money before the answer. */
  readonly flow?: Flow;
  readonly description?: string;
  readonly mimeType?: string;
  /** Default 300 (design 9.17). */
  readonly maxTimeoutSeconds?: number;
  /** The longest that the work may take; then it is aborted and counts as failed. Default 60 s. */
  readonly workMs?: number;
  /** The longest that a settlement may take. Default 30 s. */
  readonly settleMs?: number;
  /** A larger answer is refused before any charge; default 1 MiB. */
  readonly maxAnswerBytes?: number;
  /** Default 1 MiB. */
  readonly maxBodyBytes?: number;
  /** Default 10 s for the whole body. */
  readonly bodyTimeoutMs?: number;
  /** Runs of the work that one payment may start; default 2. */
  readonly attempts?: number;
  /** Default `serve`: a buyer whose earlier payment for the same request is stuck is not charged again. */
  readonly earlierPayment?: 'serve' | 'off';
  /** What the same payment gets after its answer was delivered; default `answer`. */
  readonly redeliver?: 'answer' | 'status' | 'off';
  /** How long an answer is kept after its first complete write; at least and by default 10 min. */
  readonly keepMs?: number;
  readonly inProgressStatus?: 402 | 409;
  /** Default `refuse`: a 3xx is not delivered and not charged. */
  readonly redirects?: 'refuse' | 'sell';
};

export type RouteOptions<Parsed> = RouteSettings & {
  readonly price: PriceOf<Parsed>;
  /** Reads the request once, for the price and for the work alike (B11); throwing refuses it, uncharged. */
  readonly parse?: (request: RouteRequest) => Parsed | Promise<Parsed>;
};

export type Route<Parsed> = {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly flow: Flow;
  readonly parse: (request: RouteRequest) => Parsed | Promise<Parsed>;
  readonly quote: Quote<Parsed>;
  readonly description?: string;
  readonly mimeType?: string;
  readonly budget: Budget;
  readonly maxTimeoutSeconds: number;
  readonly maxAnswerBytes: number;
  readonly maxBodyBytes: number;
  readonly bodyTimeoutMs: number;
  readonly attempts: number;
  readonly earlierPayment: 'serve' | 'off';
  readonly redeliver: 'answer' | 'status' | 'off';
  readonly keepMs: number;
  readonly inProgressStatus: 402 | 409;
  readonly redirects: 'refuse' | 'sell';
};

const mebibyte = 1024 * 1024;
/** Kept answers must outlive the buyer's own time-outs and retries (design section 3). */
const leastKeepMs = 600_000;
/** Ten runs for one payment is a gift to whoever sends bad requests (C11). */
const mostAttempts = 10;

const optionNames: ReadonlySet<string> = new Set([
  'method',
  'path',
  'price',
  'flow',
  'parse',
  'description',
  'mimeType',
  'maxTimeoutSeconds',
  'workMs',
  'settleMs',
  'maxAnswerBytes',
  'maxBodyBytes',
  'bodyTimeoutMs',
  'attempts',
  'earlierPayment',
  'redeliver',
  'keepMs',
  'inProgressStatus',
  'redirects',
]);

/** A route whose request is read by the seller's own `parse`. */
export type ParsedRouteOptions<Parsed> = RouteOptions<Parsed> & {
  readonly parse: (request: RouteRequest) => Parsed | Promise<Parsed>;
};

/** Checks and completes a route; every mistake is a TypeError that names the option. */
export function defineRoute<Parsed>(
  shop: Pick<Shop, 'accepts' | 'assetList' | 'observe'>,
  options: ParsedRouteOptions<Parsed>,
): Route<Parsed> {
  checkOptions(options);
  const { flow = 'authorization', maxTimeoutSeconds = defaultMaxTimeoutSeconds } = options;
  const terms = defineTerms({ accepts: shop.accepts, assets: shop.assetList, flow, maxTimeoutSeconds });
  const budget = {
    ...defaultBudget,
    ...(options.workMs === undefined ? {} : { workMs: options.workMs }),
    ...(options.settleMs === undefined ? {} : { settleMs: options.settleMs }),
  };
  checkBudget({ flow, maxTimeoutSeconds, budget });
  const report = (fault: unknown): void =>
    shop.observe({
      event: 'alarm',
      alarm: 'price_failed',
      detail: fault instanceof Error ? fault.name : 'unknown',
    });
  return Object.freeze({
    name: `${options.method} ${options.path}`,
    method: options.method,
    path: options.path,
    flow,
    parse: options.parse,
    quote: createQuote(options.price, terms, report),
    ...(options.description === undefined ? {} : { description: options.description }),
    ...(options.mimeType === undefined ? {} : { mimeType: options.mimeType }),
    budget,
    maxTimeoutSeconds,
    ...limitsOf(options),
  });
}

type RouteLimits = Pick<
  Route<unknown>,
  | 'maxAnswerBytes'
  | 'maxBodyBytes'
  | 'bodyTimeoutMs'
  | 'attempts'
  | 'earlierPayment'
  | 'redeliver'
  | 'keepMs'
  | 'inProgressStatus'
  | 'redirects'
>;

function limitsOf(options: RouteSettings): RouteLimits {
  return {
    maxAnswerBytes: options.maxAnswerBytes ?? mebibyte,
    maxBodyBytes: options.maxBodyBytes ?? mebibyte,
    bodyTimeoutMs: options.bodyTimeoutMs ?? 10_000,
    attempts: options.attempts ?? 2,
    earlierPayment: options.earlierPayment ?? 'serve',
    redeliver: options.redeliver ?? 'answer',
    keepMs: options.keepMs ?? leastKeepMs,
    inProgressStatus: options.inProgressStatus ?? 402,
    redirects: options.redirects ?? 'refuse',
  };
}

function checkOptions(options: RouteSettings): void {
  for (const name of Object.keys(options)) {
    if (!optionNames.has(name)) throw new TypeError(`A route has no option "${name}".`);
  }
  if (!/^[A-Z]{3,20}$/.test(options.method) || options.method === 'HEAD' || options.method === 'OPTIONS') {
    throw new TypeError(`A route cannot be sold for the method "${options.method}".`);
  }
  if (!options.path.startsWith('/')) throw new TypeError('A route path starts with "/".');
  const { attempts = 2, keepMs = leastKeepMs } = options;
  if (!Number.isInteger(attempts) || attempts < 1 || attempts > mostAttempts) {
    throw new TypeError(`attempts must be from 1 to ${mostAttempts}.`);
  }
  if (keepMs < leastKeepMs) throw new TypeError(`keepMs must be at least ${leastKeepMs}.`);
  for (const name of ['maxAnswerBytes', 'maxBodyBytes', 'bodyTimeoutMs'] as const) {
    const value = options[name];
    if (value !== undefined && (!Number.isSafeInteger(value) || value < 1)) {
      throw new TypeError(`${name} must be a whole number above 0.`);
    }
  }
}
