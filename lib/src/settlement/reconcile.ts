/**
 * Asks the chain about records whose money is unknown, and writes down what it proves. By hand today
 * (`counterfoil reconcile`) and when a payment is presented again; it re-sends nothing.
 */
import { type ClaimRecord, type ClaimStore, moneyNow } from '../claim/index.ts';
import type { AuthorizationFate, ChainReader } from './chain.ts';
import { factOfFate } from './fact.ts';

/** The chain of a CAIP-2 network, if the seller can read it. */
export type Chains = (network: string) => ChainReader | undefined;

export type Resolution = {
  readonly record: ClaimRecord;
  readonly fate: AuthorizationFate | { readonly kind: 'no_chain' };
  /** True when the look-up changed what the record says. */
  readonly changed: boolean;
  readonly nowMs: number;
};

/** Looks one record up and records what is proven. The record given must have been read just now. */
export async function resolveRecord(
  store: ClaimStore,
  chains: Chains,
  record: ClaimRecord,
): Promise<Resolution> {
  const chain = chains(record.network);
  if (chain === undefined) return unchanged(store, record, { kind: 'no_chain' });
  const fate = await fateOf(chain, record);
  const fact = factOfFate(fate, record);
  if (fact === undefined) return unchanged(store, record, fate);
  const told = await store.recordMoney(record.key, fact);
  return { record: told.record ?? record, fate, changed: told.changed, nowMs: told.nowMs };
}

/** A reader that throws has told nothing; it must not end a pass over other records. */
async function fateOf(chain: ChainReader, record: ClaimRecord): Promise<AuthorizationFate> {
  try {
    return await chain.fate(record);
  } catch {
    return { kind: 'unread', why: 'threw' };
  }
}

async function unchanged(
  store: ClaimStore,
  record: ClaimRecord,
  fate: Resolution['fate'],
): Promise<Resolution> {
  const found = await store.find(record.key);
  return { record: found.record ?? record, fate, changed: false, nowMs: found.nowMs };
}

export type ReconcileSummary = {
  readonly looked: number;
  readonly settled: number;
  readonly refused: number;
  readonly stillUnknown: number;
  readonly unreadable: number;
};

/** How many records one page reads from the store. */
const pageSize = 100;

/** One pass over everything whose money may be unknown; `onRecord` sees each resolution as it is made. */
export async function reconcile(
  store: ClaimStore,
  chains: Chains,
  onRecord: (resolution: Resolution) => void = () => {},
): Promise<ReconcileSummary> {
  const tally = { looked: 0, settled: 0, refused: 0, stillUnknown: 0, unreadable: 0 };
  for (const money of ['unknown', 'sending'] as const) {
    for await (const record of pages(store, money)) {
      const found = await store.find(record.key);
      if (found.record === undefined || moneyNow(found.record, found.nowMs).state !== 'unknown') continue;
      const resolution = await resolveRecord(store, chains, found.record);
      tally.looked += 1;
      count(tally, resolution);
      onRecord(resolution);
    }
  }
  return tally;
}

async function* pages(store: ClaimStore, money: 'unknown' | 'sending'): AsyncGenerator<ClaimRecord> {
  let after: string | undefined;
  for (;;) {
    const page = await store.list({ limit: pageSize, money, ...(after === undefined ? {} : { after }) });
    yield* page;
    after = page.at(-1)?.key;
    if (page.length < pageSize) return;
  }
}

function count(
  tally: { settled: number; refused: number; stillUnknown: number; unreadable: number },
  resolution: Resolution,
): void {
  const money = moneyNow(resolution.record, resolution.nowMs);
  if (resolution.fate.kind === 'no_chain' || resolution.fate.kind === 'unread') tally.unreadable += 1;
  else if (money.state === 'settled') tally.settled += 1;
  else if (money.state === 'refused') tally.refused += 1;
  else tally.stillUnknown += 1;
}
