/**
 * Asks the chain about one record whose money is in doubt, and writes down what it proves: for whoever waits for it,
 * and for a pass over all of them. It re-sends nothing.
 */
import type { ClaimRecord, ClaimStore, Finality } from '../claim/index.ts';
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

/**
 * Looks one record up and records what is proven. The record given must have been read just now. The chain is asked as
 * deep as the record demands: its assurance, else the newest block.
 */
export async function resolveRecord(
  store: ClaimStore,
  chains: Chains,
  record: ClaimRecord,
): Promise<Resolution> {
  const chain = chains(record.network);
  if (chain === undefined) return unchanged(store, record, { kind: 'no_chain' });
  const fate = await askFate(chain, record, record.assurance ?? 'latest');
  const fact = factOfFate(fate, record);
  if (fact === undefined) return unchanged(store, record, fate);
  const told = await store.recordMoney(record.key, fact);
  return { record: told.record ?? record, fate, changed: told.changed, nowMs: told.nowMs };
}

/** A reader that throws has told nothing; it must not end a pass over other records. */
export async function askFate(
  chain: ChainReader,
  question: Parameters<ChainReader['fate']>[0],
  finality: Finality,
): Promise<AuthorizationFate> {
  try {
    return await chain.fate(question, finality);
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
