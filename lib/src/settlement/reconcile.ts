/**
 * One pass over a store: payments whose money is unknown are looked up, and settlements that were not seen at a final
 * block are looked at again (design section 3; attacks S04, S05, F01). It re-sends nothing. A reader or a store that
 * fails is counted, and the pass goes on with the next payment.
 */
import {
  atLeast,
  type ClaimRecord,
  type ClaimStore,
  type Finality,
  moneyMoved,
  moneyNow,
  proofFromMs,
} from '../claim/index.ts';
import { type Recheck, recheckRecord } from './recheck.ts';
import { type Chains, type Resolution, resolveRecord } from './resolve.ts';

export type ReconcileOptions = {
  /** How deep a settlement in doubt must lie to be believed; default `latest`. A record's own assurance may ask for more. */
  readonly finality?: Finality;
  /** Look-ups in doubt, and again so many second looks, in this pass; default {@link mostLookups}. */
  readonly limit?: number;
  /** Look-ups under way at once; default 4. */
  readonly concurrency?: number;
  /** Ends the pass between two payments. */
  readonly signal?: AbortSignal;
  /**
   * Which settlements, and refusals that only a facilitator asserted, are looked at again: those whose next look is due,
   * or any that is not final, as a person expects who asks by hand; default `now`. With `any`, a look that could ask
   * nobody postpones none.
   */
  readonly due?: 'now' | 'any';
  /** Left out of this pass, as what was looked at a moment ago. */
  readonly skip?: (record: ClaimRecord) => boolean;
  /** Looks a payment in doubt up; a seller shares this with its visits. `late`: it did not answer in time. */
  readonly lookUp?: (record: ClaimRecord) => Promise<Resolution | 'late'>;
  readonly onResolution?: (resolution: Resolution, before: ClaimRecord) => void | Promise<void>;
  readonly onRecheck?: (recheck: Recheck) => void | Promise<void>;
};

export type ReconcileSummary = {
  /** Payments whose money was unknown. */
  readonly looked: number;
  readonly settled: number;
  readonly refused: number;
  readonly stillUnknown: number;
  /** Of `looked`: no reader, or one that could not tell. */
  readonly unreadable: number;
  /** Second looks at settlements that were not final. */
  readonly rechecked: number;
  /** Of `rechecked`: at a final block now. */
  readonly final: number;
  /** Of `rechecked`: not on the chain at the moment; somebody should know. */
  readonly missing: number;
  /** Of `rechecked`: gone for good; reversed, or refused where only a facilitator had asserted it. */
  readonly undone: number;
  /** Payments that moved, after this pass, for an answer that nobody got; of the 1,000 that are due longest. */
  readonly owed: number;
  /** Networks whose state could not be read, by their CAIP-2 names. */
  readonly unreadableNetworks: readonly string[];
  /** Steps that a store or a reader did not survive. */
  readonly failed: number;
  /** False where a limit, failures or the signal ended the pass first. */
  readonly complete: boolean;
};

/** A pass by hand over a store in deep trouble takes minutes; more is what the next pass is for. */
export const mostLookups = 100_000;
/** Public endpoints allow a few questions at once, and a look-up asks them one after the other. */
const defaultConcurrency = 4;
/** What is due is read in one page; a longer tail is listed. */
const pageSize = 1_000;
/** A store that fails so often is down, and every further call would wait for its limit. */
const mostFailures = 16;

type Pass = {
  readonly store: ClaimStore;
  readonly chains: Chains;
  readonly options: ReconcileOptions;
  readonly tally: {
    -readonly [name in Exclude<keyof ReconcileSummary, 'unreadableNetworks'>]: ReconcileSummary[name];
  };
  readonly unreadable: Set<string>;
};

/** One pass; resolves with what it found and never rejects for what a store or a reader did. */
export async function reconcile(
  store: ClaimStore,
  chains: Chains,
  options: ReconcileOptions = {},
): Promise<ReconcileSummary> {
  const pass: Pass = { store, chains, options, tally: emptyTally(), unreadable: new Set() };
  const { limit = mostLookups } = options;
  const due = (await survive(pass, () => inDoubt(pass))) ?? [];
  const doubts = due.slice(0, limit);
  await each(pass, doubts, (record) => lookUpOne(pass, record));
  await recheckAll(pass, limit);
  if (due.length > doubts.length) pass.tally.complete = false;
  pass.tally.owed = (await survive(pass, () => countOwed(store))) ?? 0;
  return { ...pass.tally, unreadableNetworks: [...pass.unreadable].sort() };
}

function emptyTally(): Pass['tally'] {
  const doubts = { looked: 0, settled: 0, refused: 0, stillUnknown: 0, unreadable: 0 };
  return { ...doubts, rechecked: 0, final: 0, missing: 0, undone: 0, owed: 0, failed: 0, complete: true };
}

/** Payments whose money is unknown, oldest first. */
async function inDoubt({ store, options }: Pass): Promise<readonly ClaimRecord[]> {
  const { skip = () => false, limit = mostLookups } = options;
  const due = await store.due(pageSize);
  if (due.length < pageSize) return due.filter((record) => !moneyMoved(record.money) && !skip(record));
  // Payments that are owed stay due until an operator closes them, and must not hide the doubts behind them.
  const all: ClaimRecord[] = [];
  for await (const record of unknownOnes(store)) {
    if (!skip(record)) all.push(record);
    if (all.length > limit) break;
  }
  return all.sort((a, b) => a.createdAtMs - b.createdAtMs);
}

async function countOwed(store: ClaimStore): Promise<number> {
  const due = await store.due(pageSize);
  return due.filter(({ money }) => moneyMoved(money)).length;
}

async function* unknownOnes(store: ClaimStore): AsyncGenerator<ClaimRecord> {
  let after: string | undefined;
  for (;;) {
    const page = await store.list({
      limit: pageSize,
      money: 'unknown',
      ...(after === undefined ? {} : { after }),
    });
    yield* page;
    after = page.at(-1)?.key;
    if (page.length < pageSize) return;
  }
}

/** Every look moves the next one on, so that the next page holds others. */
async function recheckAll(pass: Pass, limit: number): Promise<void> {
  if (pass.options.due === 'any') return recheckAny(pass, limit);
  for (let left = limit; left > 0; left -= pageSize) {
    const size = Math.min(left, pageSize);
    const page = (await survive(pass, () => pass.store.unproven(size))) ?? [];
    await each(pass, page, (record) => recheckOne(pass, record));
    if (page.length < size || !pass.tally.complete) return;
  }
}

/** In the order of their keys, whenever they were looked at last: what is missing is missing each time it is asked for. */
async function recheckAny(pass: Pass, limit: number): Promise<void> {
  let left = limit;
  for (const money of ['settled', 'refused'] as const) {
    let after: string | undefined;
    for (let more = true; more && pass.tally.complete; ) {
      const query = { limit: pageSize, money, ...(after === undefined ? {} : { after }) };
      const page = (await survive(pass, () => pass.store.list(query))) ?? [];
      const open = page.filter((record) => proofFromMs(record) !== undefined);
      await each(pass, open.slice(0, left), (record) => recheckOne(pass, record));
      if (open.length > left) pass.tally.complete = false;
      left -= Math.min(left, open.length);
      after = page.at(-1)?.key;
      more = page.length === pageSize;
    }
  }
}

/** Runs the steps, a few at once; a fault of one is its own. */
async function each(
  pass: Pass,
  records: readonly ClaimRecord[],
  step: (record: ClaimRecord) => Promise<void>,
): Promise<void> {
  const { options, tally } = pass;
  const queue = records[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (let next = queue.next(); next.done !== true; next = queue.next()) {
      const { value } = next;
      if (options.signal?.aborted === true || tally.failed >= mostFailures) {
        tally.complete = false;
        return;
      }
      await survive(pass, () => step(value));
    }
  };
  await Promise.all(Array.from({ length: options.concurrency ?? defaultConcurrency }, worker));
}

async function survive<T>(pass: Pass, step: () => Promise<T>): Promise<T | undefined> {
  try {
    return await step();
  } catch {
    pass.tally.failed += 1;
    return undefined;
  }
}

async function lookUpOne(pass: Pass, listed: ClaimRecord): Promise<void> {
  const { store, chains, options, tally, unreadable } = pass;
  // The pass is long, and others write meanwhile.
  const { record, nowMs } = await store.find(listed.key);
  if (record === undefined || moneyNow(record, nowMs).state !== 'unknown') return;
  const { finality = 'latest' } = options;
  const { lookUp = (one: ClaimRecord) => resolveRecord(store, chains, atDepth(one, finality)) } = options;
  tally.looked += 1;
  const resolution = await lookUp(record);
  const fate = resolution === 'late' ? 'unread' : resolution.fate.kind;
  const money = resolution === 'late' ? 'unknown' : moneyNow(resolution.record, resolution.nowMs).state;
  if (money === 'settled') tally.settled += 1;
  else if (money === 'refused') tally.refused += 1;
  else if (fate !== 'no_chain' && fate !== 'unread') tally.stillUnknown += 1;
  else {
    tally.unreadable += 1;
    unreadable.add(record.network);
  }
  if (resolution !== 'late') await options.onResolution?.(resolution, record);
}

/** As it is asked about in a pass that wants more depth than the payment itself does; nothing of this is stored. */
function atDepth(record: ClaimRecord, finality: Finality): ClaimRecord {
  const own = record.assurance ?? 'latest';
  return atLeast(own, finality) ? record : { ...record, assurance: finality };
}

async function recheckOne(pass: Pass, listed: ClaimRecord): Promise<void> {
  const { store, chains, options, tally, unreadable } = pass;
  // By hand the same question has the same answer, and nobody's next look waits for one that asked nobody.
  const whenUnread = options.due === 'any' ? 'leave' : 'postpone';
  const recheck = await recheckRecord(store, chains, { key: listed.key, whenUnread });
  if (recheck === undefined || recheck.standing === 'moved_on') return;
  tally.rechecked += 1;
  const { standing } = recheck;
  if (standing === 'final' || standing === 'missing' || standing === 'undone') tally[standing] += 1;
  if (standing === 'unread' || standing === 'no_chain') unreadable.add(recheck.before.network);
  await options.onRecheck?.(recheck);
}
