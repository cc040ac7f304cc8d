/** What is asked of the servers, and how often. */
import type { Goods } from '../server/goods.ts';
import type { Variant } from '../server/shop.ts';

export const scenarioNames = ['unpaid', 'unpaid-many', 'paid-local', 'paid-http', 'burst'] as const;
export type ScenarioName = (typeof scenarioNames)[number];

/**
 * Requests of one round, and rounds; every server has its turn in every round. What is measured is a server that has
 * run for a while: the paid path is long, and the engine goes on compiling it for thousands of requests.
 */
export type Sizes = { readonly rounds: number; readonly requests: number; readonly warmUp: number };

export type Scenario = {
  readonly name: ScenarioName;
  /** One line for the reader of the table. */
  readonly title: string;
  readonly goods: Goods;
  /** What each request carries. */
  readonly paid: boolean;
  readonly facilitator: 'local' | 'http';
  /** Whether a server has a part in this scenario. */
  readonly takesPart: (variant: Variant) => boolean;
  readonly full: Sizes;
  readonly quick: Sizes;
};

/** How long the handler of a burst takes: long enough that nobody can take its end for the end of the others. */
export const burstWorkMs = 400;
/** Copies of one payment in a burst. */
export const burstCopies = 50;

const one: Goods = { pattern: '/weather', paths: ['/weather'], workMs: 0 };
/** The framework has one handler for all, so that what differs is the gate's own search among its routes. */
const many: Goods = {
  pattern: '/item/:number',
  paths: Array.from({ length: 1_000 }, (_, at) => `/item/${at}`),
  workMs: 0,
};

const inMemory = (variant: Variant): boolean => variant.store === 'memory';

export const scenarios: readonly Scenario[] = [
  {
    name: 'unpaid',
    title: 'a request without a payment: 402',
    goods: one,
    paid: false,
    facilitator: 'local',
    takesPart: inMemory,
    full: { rounds: 7, requests: 6_000, warmUp: 6_000 },
    quick: { rounds: 2, requests: 60, warmUp: 20 },
  },
  {
    name: 'unpaid-many',
    title: 'the same with 1,000 priced routes, each asked in turn',
    goods: many,
    paid: false,
    facilitator: 'local',
    takesPart: inMemory,
    full: { rounds: 7, requests: 6_000, warmUp: 6_000 },
    quick: { rounds: 2, requests: 60, warmUp: 20 },
  },
  {
    name: 'paid-local',
    title: 'a paid request, the facilitator in the server’s own process',
    goods: one,
    paid: true,
    facilitator: 'local',
    takesPart: () => true,
    full: { rounds: 7, requests: 2_000, warmUp: 5_000 },
    quick: { rounds: 2, requests: 20, warmUp: 10 },
  },
  {
    name: 'paid-http',
    title: 'a paid request, the facilitator over HTTP on the loopback',
    goods: one,
    paid: true,
    facilitator: 'http',
    takesPart: () => true,
    full: { rounds: 7, requests: 1_000, warmUp: 5_000 },
    quick: { rounds: 2, requests: 20, warmUp: 10 },
  },
  {
    name: 'burst',
    title: `${burstCopies} copies of one payment at once, a handler of ${burstWorkMs} ms`,
    goods: { pattern: '/slow', paths: ['/slow'], workMs: burstWorkMs },
    paid: true,
    facilitator: 'local',
    takesPart: () => true,
    full: { rounds: 15, requests: burstCopies, warmUp: 2_000 },
    quick: { rounds: 1, requests: burstCopies, warmUp: 0 },
  },
];
