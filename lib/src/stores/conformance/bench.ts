/**
 * What every case of the conformance suite works with: a store whose clock the suite sets, and the steps that
 * bring a payment to where a case begins.
 */
import assert from 'node:assert/strict';
import { exampleNowMs, examplePurchase, exampleTake } from '../../claim/example.ts';
import type {
  ClaimRecord,
  ClaimStore,
  Hold,
  HoldOutcome,
  MoneyFact,
  Purchase,
  TakeOutcome,
  TakeRequest,
} from '../../claim/index.ts';

/** What a store's own tests bring along. */
export type StoreUnderTest = {
  readonly store: ClaimStore;
  /** Sets the store's clock, in Unix milliseconds; it stands still in between. */
  readonly setClock: (nowMs: number) => void | Promise<void>;
  /** The same data as another process would see it; absent where the data lives in one process. */
  readonly another?: () => Promise<ClaimStore>;
  /** Closes the store and removes its data; stores from `another` are closed by the suite. */
  readonly close: () => Promise<void>;
};

export type StoreLimits = { readonly capacity?: number; readonly capacityBytes?: number };
export type OpenStore = (limits: StoreLimits) => Promise<StoreUnderTest>;

/** One sentence about the contract, and the steps that show it. */
export type StoreCase = {
  readonly name: string;
  readonly limits?: StoreLimits;
  readonly run: (bench: Bench) => Promise<void>;
};

export type Bench = {
  readonly store: ClaimStore;
  /** Another way to the same data, or the same store where there is none. */
  readonly another: () => Promise<ClaimStore>;
  readonly clock: { readonly nowMs: () => number; readonly pass: (ms: number) => Promise<void> };
};

/** Runs one case against a fresh store, and closes whatever it opened. */
export async function runCase(one: StoreCase, open: OpenStore): Promise<void> {
  const subject = await open(one.limits ?? {});
  let nowMs = exampleNowMs;
  await subject.setClock(nowMs);
  const rivals: ClaimStore[] = [];
  const another = async (): Promise<ClaimStore> => {
    const rival = await subject.another?.();
    if (rival !== undefined) rivals.push(rival);
    return rival ?? subject.store;
  };
  const pass = async (ms: number): Promise<void> => {
    nowMs += ms;
    await subject.setClock(nowMs);
  };
  try {
    await one.run({ store: subject.store, another, clock: { nowMs: () => nowMs, pass } });
  } finally {
    for (const rival of rivals) await rival.close();
    await subject.close();
  }
}

export type Taken = TakeOutcome & { readonly kind: 'taken' };

export const leaseMs = 30_000;
export const graceMs = 5_000;
export const keepMs = 600_000;
export const answer: Uint8Array = new TextEncoder().encode('{"sky":"clear"}');
export const payload: Uint8Array = new TextEncoder().encode('sealed payload');
export const sendNow: Parameters<ClaimStore['keepAndBeginSend']>[1] = {
  answer,
  payload,
  phase: 'pay',
  leaseMs,
};
export const resendNow: Parameters<ClaimStore['beginSend']>[1] = {
  owner: 'second sender',
  leaseMs,
  maxSends: 3,
  earlierPayment: 'serve',
};
export const beginNow: Required<Pick<TakeRequest, 'begin'>> = { begin: { payload, phase: 'pay' } };

/** Takes and expects to win. */
export async function win(
  store: ClaimStore,
  purchase: Purchase,
  differing: Partial<TakeRequest> = {},
): Promise<Taken> {
  const outcome = await store.take(exampleTake(purchase, differing));
  assert.equal(outcome.kind, 'taken');
  return outcome;
}

/** The record of a step that its owner was allowed to take. */
export async function done(step: Promise<HoldOutcome>): Promise<ClaimRecord> {
  const outcome = await step;
  assert.equal(outcome.kind, 'held');
  return outcome.record;
}

/** Work done and send begun, in the authorization flow. */
export async function sent(store: ClaimStore, purchase: Purchase): Promise<Hold> {
  const { hold } = await win(store, purchase, { earlierPayment: 'off' });
  await done(store.keepAndBeginSend(hold, sendNow));
  return hold;
}

/** As {@link sent}, and a facilitator says settled; the owner still holds the record. */
export async function settled(store: ClaimStore, purchase: Purchase): Promise<Hold> {
  const hold = await sent(store, purchase);
  await store.recordMoney(purchase.key, settledFact());
  return hold;
}

/** As {@link sent}, and the answer to the send is lost. */
export async function lost(store: ClaimStore, purchase: Purchase): Promise<void> {
  await sent(store, purchase);
  await store.recordMoney(purchase.key, { fact: 'unknown', n: 1, reason: 'timeout' });
}

/** A payment that settled first and whose work then runs, in the upfront flow. */
export async function paidAndRunning(store: ClaimStore, purchase: Purchase): Promise<Hold> {
  const { hold } = await win(store, purchase, beginNow);
  await store.recordMoney(purchase.key, settledFact());
  await done(store.startWork(hold, leaseMs));
  return hold;
}

export function settledFact(by: 'chain' | 'facilitator' = 'facilitator', transaction = '0xaa'): MoneyFact {
  return { fact: 'settled', transaction, amount: 10_000n, by };
}

/** A facilitator's definite refusal of send `n`. */
export function refusedAt(n: number): MoneyFact {
  return { fact: 'refused', why: 'definite', reason: 'insufficient_funds', by: 'facilitator', n };
}

/** The record as it is kept now. */
export async function read(store: ClaimStore, key: string): Promise<ClaimRecord> {
  const { record } = await store.find(key);
  assert.ok(record !== undefined, 'the record is gone');
  return record;
}

/** A purchase in the upfront flow. */
export function upfront(n: number, differing: Partial<Purchase> = {}): Purchase {
  return examplePurchase(n, { flow: 'upfront', ...differing });
}

/** How many of these outcomes are of a kind. */
export function count(outcomes: readonly { readonly kind: string }[], kind: string): number {
  return outcomes.filter((outcome) => outcome.kind === kind).length;
}
