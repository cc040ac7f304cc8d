/** Everything around the shops of one run: time, chance, chain, facilitator, the watched store, and whoever judges. */
import type { ClaimStore } from '../lib/src/claim/index.ts';
import type { SellerOptions } from '../lib/src/seller/index.ts';
import type { Facilitator } from '../lib/src/settlement/index.ts';
import { createMemoryStore } from '../lib/src/stores/memory.ts';
import { createSystem } from '../lib/src/system.ts';
import type { World } from '../lib/src/world.ts';
import { createLuck, type Luck } from '../lib/test/luck.ts';
import { dollar, network, payTo } from '../lib/test/rig.ts';
import type { Relation } from '../model/transitions.ts';
import { type Chain, createChain } from './chain.ts';
import { type Clock, createClock } from './clock.ts';
import { createMarketFacilitator } from './facilitator.ts';
import { judgeLaws } from './laws.ts';
import type { Purchase } from './purchase.ts';
import { drawScenario, type Scenario } from './scenario.ts';
import { lease, type Run } from './shop.ts';
import { pictureAt } from './sight.ts';
import { judgeChange } from './specification.ts';
import { createTrace, type Trace } from './trace.ts';
import { type Change, type Watched, watch } from './watch.ts';

export type Settings = {
  readonly seed: number;
  readonly relation: Relation;
  /** Whether somebody reads the trace. */
  readonly traced?: boolean;
  /** In place of what the seed draws. */
  readonly scenario?: Partial<Scenario>;
  /** Breaks something on purpose, to see that it is noticed. */
  readonly mutate?: Mutation;
};

/** A store, or a facilitator, with a fault of its own. */
export type Mutation = {
  readonly store?: (store: ClaimStore, view: MutantView) => ClaimStore;
  readonly facilitator?: (facilitator: Facilitator) => Facilitator;
};

export type MutantView = {
  /** The record as it is, in the same turn. */
  readonly peek: Watched['peek'];
  /** Runs a call with the store's clock set off by so much. */
  readonly shifted: <T>(offsetMs: number, call: () => T) => T;
};

export type Tally = {
  asked: number;
  ran: number;
  served: number;
  died: number;
  operations: number;
  changes: number;
  /** Answers by code; `ok` is the goods. */
  readonly answers: Map<string, number>;
  /** Transitions of the model that were played. */
  readonly played: Set<string>;
  /** Changes that only the table of exceptions allows, by name. */
  readonly exceptions: Map<string, number>;
};

export type Stage = {
  readonly scenario: Scenario;
  readonly luck: Luck;
  readonly clock: Clock;
  readonly world: World;
  readonly trace: Trace;
  readonly chain: Chain;
  readonly market: { readonly facilitator: Facilitator; readonly calm: () => void };
  readonly watched: Watched;
  readonly options: Omit<SellerOptions, 'store' | 'facilitator'>;
  readonly purchases: Map<string, Purchase>;
  readonly tally: Tally;
  readonly faults: string[];
  readonly fault: (words: string) => void;
  readonly noteRun: (at: {
    readonly idempotencyKey: string;
    readonly nonce: string;
    readonly run: Run;
  }) => void;
  /** A short name for a payment, for readers. */
  readonly nameOf: (nonce: string) => string;
  /** True while the shops open, and again at the end: nothing fails then. */
  readonly calm: () => boolean;
  readonly begin: () => void;
  readonly calmDown: () => void;
  readonly storeDownUntilMs: () => number;
  readonly storeDown: (ms: number) => void;
  readonly elapsedMs: () => number;
};

const system = await createSystem();
const storeKey = new Uint8Array(32).fill(7);

/** Sets the stage of one run. */
export function createStage(settings: Settings): Stage {
  const luck = createLuck(settings.seed);
  const scenario = { ...drawScenario(luck), ...settings.scenario };
  const clock = createClock(luck);
  const startMs = clock.nowMs();
  const elapsedMs = (): number => clock.nowMs() - startMs;
  const trace = createTrace(settings.traced === true, elapsedMs);
  const world = worldOf(clock, luck);
  const faults: string[] = [];
  const purchases = new Map<string, Purchase>();
  const tally = newTally();
  let calm = true;
  let downUntilMs = 0;
  const fault = (words: string): void => {
    faults.push(words);
    trace.say(() => `VIOLATED  ${words}`);
  };
  const chain = createChain({
    clock,
    luck,
    onLanded: (bill) => {
      const purchase = purchases.get(bill.nonce);
      if (purchase?.buried === true && !bill.lied && !bill.outside)
        fault(`I3: ${bill.name} landed after an invitation to pay anew`);
    },
  });
  const market = createMarketFacilitator({ clock, luck, chain, lies: scenario.lies, say: trace.say, fault });
  const stage: Stage = {
    scenario,
    luck,
    clock,
    world,
    trace,
    chain,
    market: {
      ...market,
      facilitator: settings.mutate?.facilitator?.(market.facilitator) ?? market.facilitator,
    },
    watched: watchStore(settings, clock, (changes) => {
      for (const change of changes) judge(stage, settings.relation, change);
    }),
    options: sellerOptions(scenario, world),
    purchases,
    tally,
    faults,
    fault,
    noteRun: createRunBook(() => stage),
    nameOf: (nonce) => chain.bills.get(nonce)?.name ?? nonce,
    calm: () => calm,
    begin: () => {
      calm = false;
    },
    calmDown: () => {
      calm = true;
      downUntilMs = 0;
      chain.calm();
      market.calm();
    },
    storeDownUntilMs: () => downUntilMs,
    storeDown: (ms) => {
      downUntilMs = clock.nowMs() + ms;
    },
    elapsedMs,
  };
  return stage;
}

/** The real world's arithmetic, with time and chance of the run. */
function worldOf({ nowMs, after }: Clock, luck: Luck): World {
  return { ...system, nowMs, monotonicMs: nowMs, after, random: luck.bytes };
}

function newTally(): Tally {
  const counts = { asked: 0, ran: 0, served: 0, died: 0, operations: 0, changes: 0 };
  return { ...counts, answers: new Map(), exceptions: new Map(), played: new Set() };
}

function watchStore(
  settings: Settings,
  clock: Clock,
  onChanges: (changes: readonly Change[]) => void,
): Watched {
  let offsetMs = 0;
  const nowMs = (): number => clock.nowMs() + offsetMs;
  const store = createMemoryStore({ world: { nowMs } });
  const view: MutantView = {
    peek: (key) => watched.peek(key),
    shifted: (ms, call) => {
      offsetMs = ms;
      try {
        return call();
      } finally {
        offsetMs = 0;
      }
    },
  };
  const watched = watch(settings.mutate?.store?.(store, view) ?? store, clock.nowMs, (_operation, changes) =>
    onChanges(changes),
  );
  return watched;
}

function sellerOptions(scenario: Scenario, world: World): Stage['options'] {
  const { assurance, reconcile, breaker, unpaidRuns } = scenario;
  return {
    world,
    origin: 'https://api.example.com',
    accepts: [{ network, payTo }],
    assets: [dollar],
    storeKey,
    assurance: assurance === 'said' ? 'facilitator' : { chain: assurance },
    reconcile: reconcile === 'off' ? 'off' : { resend: reconcile, everyMs: 25_000 },
    ...(breaker ? {} : { breaker: 'off' as const }),
    ...(unpaidRuns ? {} : { unpaidRuns: 'off' as const }),
    // The same few buyers lose a payment far more often here than anywhere else.
    limits: { refused: 'off' },
  };
}

/** Every change of a record: against the laws, and against the model. */
function judge(stage: Stage, relation: Relation, change: Change): void {
  const { tally, trace, fault, chain } = stage;
  const record = change.after ?? change.before;
  const bill = chain.bills.get(record?.nonce ?? '');
  tally.changes += 1;
  trace.say(() => lineOf(change, bill?.name ?? change.key));
  const delivered = stage.purchases.get(record?.nonce ?? '')?.deliveredMs !== undefined;
  for (const words of judgeLaws(change, { bill, delivered, graceMs: lease.graceMs }))
    fault(`${words}: ${bill?.name ?? change.key}`);
  const verdict = judgeChange(relation, change, lease.graceMs);
  if (verdict.kind === 'unknown') fault(`${verdict.words}: ${bill?.name ?? change.key}`);
  if (verdict.kind === 'known') tally.played.add(verdict.transition);
  if (verdict.kind === 'exception')
    tally.exceptions.set(verdict.name, (tally.exceptions.get(verdict.name) ?? 0) + 1);
}

function lineOf(change: Change, name: string): string {
  const { by, operation, before, after, nowMs, asked } = change;
  const graceMs = lease.graceMs;
  const was = pictureAt(before, { nowMs, graceMs, begun: change.begunBefore });
  const is = pictureAt(after, { nowMs, graceMs, begun: change.begunAfter });
  const fact: unknown = asked[1];
  const what = operation === 'recordMoney' ? ` ${factWords(fact)}` : '';
  return `${by}  ${operation}${what} ${name}: ${was === is ? `${is}, as before` : `${was} -> ${is}`}`;
}

function factWords(fact: unknown): string {
  if (typeof fact !== 'object' || fact === null) return '';
  return ['fact', 'why', 'n', 'by']
    .map((member) => Reflect.get(fact, member))
    .filter((value) => value !== undefined)
    .join(' ');
}

/** S1, I1: one key of a run starts once, and never beside another that may still count; I2: upfront never unpaid. */
function createRunBook(stageOf: () => Stage): Stage['noteRun'] {
  const runs = new Map<string, Run>();
  return ({ idempotencyKey, nonce, run }) => {
    const { fault, tally, chain, watched } = stageOf();
    tally.ran += 1;
    const key = idempotencyKey.slice(0, idempotencyKey.lastIndexOf('#'));
    if (runs.has(idempotencyKey)) fault(`S1: ${idempotencyKey} ran twice`);
    if (Number(idempotencyKey.slice(key.length + 1)) > 2)
      fault(`S1: ${idempotencyKey} is one attempt too many`);
    for (const [other, beside] of runs) {
      const counts = !beside.over && !beside.signal.aborted && beside.shop.state() === 'up';
      if (other.startsWith(`${key}#`) && counts) fault(`I1: ${idempotencyKey} started while ${other} ran`);
    }
    runs.set(idempotencyKey, run);
    const bill = chain.bills.get(nonce);
    const upfront = watched.peek(key)?.flow === 'upfront';
    if (upfront && bill?.landings.length === 0 && !bill.lied) fault(`I2: ${bill.name} ran unpaid`);
  };
}
