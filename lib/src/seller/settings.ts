/** What may be set on a route, with its defaults and limits. A mistake is a TypeError at the start that names it. */
import { type Binding, checkBoundHeaders, defaultBoundHeaders } from '../payment/index.ts';
import type { BazaarOptions, Flow, ResourceOptions } from '../terms/index.ts';
import type { Assurance } from './assurance.ts';
import { maxPaidFieldsLength } from './budget.ts';
import { checkPattern } from './catalogue.ts';
import type { UnpaidRuns } from './limits/unpaid.ts';

/** What a route is, apart from its price. */
export type RouteSettings = ResourceOptions & {
  /** Any HTTP method but HEAD and OPTIONS. */
  readonly method: string;
  /** As the application knows it, with every prefix: `/weather`, `/items/:id`, `/files/*`. */
  readonly path: string;
  /** Default `authorization`: the work first, the money before the answer. */
  readonly flow?: Flow;
  /** How a payment must be tied to its request; default the seller's, which is `echoed`. */
  readonly binding?: Binding;
  /** Header fields that change what is bought, beside content-type and content-encoding: `authorization`, `cookie`. */
  readonly boundHeaders?: readonly string[];
  /** Query parameters that change nothing that is bought, such as `utm_source`: a payment fits with and without them. */
  readonly freeParameters?: readonly string[];
  /** Whether buyers may, or must, name their payments, so that one name is never charged twice; default `optional`. */
  readonly paymentId?: 'off' | 'optional' | 'required';
  /** How long a price from a price function is kept for the request it was quoted for. */
  readonly quoteMs?: number;
  /** How catalogues of paid resources should list the route: what it takes and gives. */
  readonly discovery?: Omit<BazaarOptions, 'method' | 'path'>;
  /** Default 300 (design 9.17). */
  readonly maxTimeoutSeconds?: number;
  /** The longest that the work may take; then it is aborted and counts as failed. Default 60 s. */
  readonly workMs?: number;
  /**
   * On whose word a settlement is believed; default the seller's, which is `facilitator`. With `{ chain: finality }` the
   * answer waits, within `settleMs`, until the chain shows the transfer so deep; what takes longer is answered with 503
   * `settlement_unknown`, and the same payment gets its answer once it is that deep.
   */
  readonly assurance?: Assurance;
  /** The longest that a settlement may take, the wait for the chain included. Default 30 s. */
  readonly settleMs?: number;
  /** A larger answer is refused before any charge; default 1 MiB. */
  readonly maxAnswerBytes?: number;
  /** All header fields of a paid answer, at least 2 KiB; default 3.5 KiB, since a default nginx turns more than 4 KiB into a 502. */
  readonly maxHeaderBytes?: number;
  /** Default 1 MiB. */
  readonly maxBodyBytes?: number;
  /** Default 10 s for the whole body. */
  readonly bodyTimeoutMs?: number;
  /** Runs of the work that one payment may start; default 2. */
  readonly attempts?: number;
  /** What one payer may run up where the work comes first; default the seller's: 3 unpaid runs, 32 open ones. */
  readonly unpaidRuns?: UnpaidRuns;
  /** Default `serve`: a buyer whose earlier payment for the same request is stuck is not charged again. */
  readonly earlierPayment?: 'serve' | 'off';
  /** What the same payment gets after its answer was delivered; default `answer`. */
  readonly redeliver?: 'answer' | 'status' | 'off';
  /** How long an answer is kept after its first complete write; at least and by default 10 min. */
  readonly keepMs?: number;
  readonly inProgressStatus?: 402 | 409;
  /** Default `refuse`: a 3xx is not delivered and not charged. */
  readonly redirects?: 'refuse' | 'sell';
  /** Default `ignore`: the work never sees a range and sells the whole; `sell` prices and binds each range by itself. */
  readonly ranges?: 'ignore' | 'sell';
};

/** The settings that a route keeps as they are, completed. */
export type RouteLimits = {
  readonly boundHeaders: readonly string[];
  readonly freeParameters: readonly string[];
  readonly paymentId: 'off' | 'optional' | 'required';
  readonly quoteMs: number | undefined;
  readonly maxAnswerBytes: number;
  readonly maxHeaderBytes: number;
  readonly maxBodyBytes: number;
  readonly bodyTimeoutMs: number;
  readonly attempts: number;
  readonly earlierPayment: 'serve' | 'off';
  readonly redeliver: 'answer' | 'status' | 'off';
  readonly keepMs: number;
  readonly inProgressStatus: 402 | 409;
  readonly redirects: 'refuse' | 'sell';
  readonly ranges: 'ignore' | 'sell';
};

const mebibyte = 1024 * 1024;
/** Kept answers must outlive the buyer's own time-outs and retries (design section 3). */
const leastKeepMs = 600_000;
/** Ten runs for one payment is a gift to whoever sends bad requests (C11). */
const mostAttempts = 10;
/** Shorter, and a buyer could not sign in time; longer, and yesterday's price is sold. */
const quoteRangeMs = { least: 1_000, most: 86_400_000 } as const;

/** Our own fields take about 700 octets, and a cached URL up to 928 of the rest: with less, nothing could be sold. */
const leastHeaderBytes = 2048;

/** Options that are one of a few words: a misspelt one must not fall back to a weaker rule. */
const choices: readonly (readonly [name: keyof RouteSettings, values: readonly unknown[]])[] = [
  ['binding', ['off', 'advisory', 'echoed', 'required']],
  ['paymentId', ['off', 'optional', 'required']],
  ['earlierPayment', ['serve', 'off']],
  ['redeliver', ['answer', 'status', 'off']],
  ['inProgressStatus', [402, 409]],
  ['redirects', ['refuse', 'sell']],
  ['ranges', ['ignore', 'sell']],
];

const optionNames: ReadonlySet<string> = new Set([
  'method',
  'path',
  'price',
  'flow',
  'parse',
  'validate',
  'binding',
  'boundHeaders',
  'freeParameters',
  'paymentId',
  'quoteMs',
  'discovery',
  'description',
  'mimeType',
  'serviceName',
  'tags',
  'iconUrl',
  'maxTimeoutSeconds',
  'workMs',
  'settleMs',
  'assurance',
  'maxAnswerBytes',
  'maxHeaderBytes',
  'maxBodyBytes',
  'bodyTimeoutMs',
  'attempts',
  'unpaidRuns',
  'earlierPayment',
  'redeliver',
  'keepMs',
  'inProgressStatus',
  'redirects',
  'ranges',
]);

/** Completes what was not set. */
export function limitsOf(options: RouteSettings): RouteLimits {
  const ranged = options.ranges === 'sell' ? ['range', 'if-range'] : [];
  return {
    boundHeaders: checkBoundHeaders([...defaultBoundHeaders, ...(options.boundHeaders ?? []), ...ranged]),
    freeParameters: options.freeParameters ?? [],
    paymentId: options.paymentId ?? 'optional',
    quoteMs: options.quoteMs,
    maxAnswerBytes: options.maxAnswerBytes ?? mebibyte,
    maxHeaderBytes: options.maxHeaderBytes ?? maxPaidFieldsLength,
    maxBodyBytes: options.maxBodyBytes ?? mebibyte,
    bodyTimeoutMs: options.bodyTimeoutMs ?? 10_000,
    attempts: options.attempts ?? 2,
    earlierPayment: options.earlierPayment ?? 'serve',
    redeliver: options.redeliver ?? 'answer',
    keepMs: options.keepMs ?? leastKeepMs,
    inProgressStatus: options.inProgressStatus ?? 402,
    redirects: options.redirects ?? 'refuse',
    ranges: options.ranges ?? 'ignore',
  };
}

/** Throws TypeError for what no route can be. */
export function checkSettings(options: RouteSettings & { readonly price: unknown }): void {
  for (const name of Object.keys(options)) {
    if (!optionNames.has(name)) throw new TypeError(`A route has no option "${name}".`);
  }
  if (!/^[A-Z]{3,20}$/.test(options.method) || options.method === 'HEAD' || options.method === 'OPTIONS') {
    throw new TypeError(`A route cannot be sold for the method "${options.method}".`);
  }
  checkPattern(options.path);
  const { attempts = 2, keepMs = leastKeepMs } = options;
  if (!Number.isInteger(attempts) || attempts < 1 || attempts > mostAttempts) {
    throw new TypeError(`attempts must be from 1 to ${mostAttempts}.`);
  }
  if (keepMs < leastKeepMs) throw new TypeError(`keepMs must be at least ${leastKeepMs}.`);
  for (const name of ['maxAnswerBytes', 'maxHeaderBytes', 'maxBodyBytes', 'bodyTimeoutMs'] as const) {
    const value = options[name];
    if (value !== undefined && (!Number.isSafeInteger(value) || value < 1)) {
      throw new TypeError(`${name} must be a whole number above 0.`);
    }
  }
  if (options.maxHeaderBytes !== undefined && options.maxHeaderBytes < leastHeaderBytes) {
    throw new TypeError(`maxHeaderBytes must be at least ${leastHeaderBytes}.`);
  }
  checkChoices(options);
  checkNames(options);
  checkQuote(options);
}

function checkChoices(options: RouteSettings): void {
  for (const [name, values] of choices) {
    const value: unknown = options[name];
    if (value !== undefined && !values.includes(value)) {
      throw new TypeError(`${name} is one of ${values.join(', ')}, not "${String(value)}".`);
    }
  }
}

function checkNames({ binding, boundHeaders, freeParameters = [] }: RouteSettings): void {
  for (const [name, list] of Object.entries({ boundHeaders, freeParameters })) {
    const texts: unknown = list ?? [];
    if (!Array.isArray(texts) || !texts.every((text) => typeof text === 'string')) {
      throw new TypeError(`${name} is a list of strings.`);
    }
  }
  // The commitment is to the URL as it was sent, and no client could know which of its parameters are free.
  if (binding === 'required' && freeParameters.length > 0) {
    throw new TypeError('A required binding binds the whole URL: freeParameters must be empty.');
  }
}

function checkQuote({ quoteMs, price }: RouteSettings & { readonly price: unknown }): void {
  if (quoteMs === undefined) return;
  if (typeof price !== 'function') throw new TypeError('quoteMs is for prices that are functions.');
  const { least, most } = quoteRangeMs;
  if (!Number.isInteger(quoteMs) || quoteMs < least || quoteMs > most) {
    throw new TypeError(`quoteMs must be a whole number from ${least} to ${most}.`);
  }
}
