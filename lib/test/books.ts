/**
 * Payments in a store that only the test writes to, and a chain that says of each what the test wants. No seller and no
 * signatures: for tests of what is made of a chain's word.
 */
import assert from 'node:assert/strict';
import { exampleHex, exampleNowMs, examplePurchase, exampleTake } from '../src/claim/example.ts';
import type { ClaimRecord, ClaimStore, Finality, Hold, MoneyFact, Purchase } from '../src/claim/index.ts';
import type { AuthorizationFate, ChainReader, Chains } from '../src/settlement/index.ts';
import { createMemoryStore } from '../src/stores/memory.ts';

export const transaction: string = `0x${'5e'.repeat(32)}`;
/** The network of the example purchases; the only one that the books read. */
export const network = 'eip155:8453';
export const settled: AuthorizationFate & { readonly kind: 'settled' } = {
  kind: 'settled',
  transaction,
  block: 101,
};
export const asserted: MoneyFact & { readonly fact: 'settled' } = {
  fact: 'settled',
  transaction,
  amount: 10_000n,
  by: 'facilitator',
};

export type Books = {
  readonly store: ClaimStore;
  readonly nowMs: () => number;
  readonly advance: (ms: number) => void;
  readonly chains: Chains;
  readonly chain: ChainReader;
  /** What the chain says of a payment by its number; `unused` unless said otherwise. */
  readonly fates: Map<number, AuthorizationFate>;
  /** The numbers that were asked about, in order, and how deep. */
  readonly asked: number[];
  readonly depths: (Finality | undefined)[];
  /** Changes what the chain does: the payment of which it throws, and its newest block. */
  readonly mood: { throwsAt: number; newest: number | undefined };
  readonly record: (n: number) => Promise<ClaimRecord>;
  /** Takes payment `n` for a request of its own and begins its send. */
  readonly send: (n: number, differing?: Partial<Purchase>) => Promise<Hold>;
  /** … and loses its answer. */
  readonly lose: (n: number, differing?: Partial<Purchase>) => Promise<void>;
  /** … or hears what the fact says. */
  readonly tell: (n: number, fact: MoneyFact) => Promise<void>;
};

/** Opens them at noon of the example day. */
export function openBooks(): Books {
  let now = exampleNowMs;
  const store = createMemoryStore({ world: { nowMs: () => now } });
  const fates = new Map<number, AuthorizationFate>();
  const asked: number[] = [];
  const depths: (Finality | undefined)[] = [];
  const mood: Books['mood'] = { throwsAt: 0, newest: 200 };
  const chain: ChainReader = {
    blockNumber: async () => mood.newest,
    head: async () => undefined,
    hasCode: async () => false,
    fate: async ({ nonce }, finality) => {
      const n = Number.parseInt(nonce, 16);
      asked.push(n);
      depths.push(finality);
      if (n === mood.throwsAt) throw new Error('a reader of somebody else');
      return fates.get(n) ?? { kind: 'unused', block: 101 };
    },
  };
  const send: Books['send'] = async (n, differing = {}) => {
    const purchase = examplePurchase(n, { fingerprint: exampleHex(n), ...differing });
    const taken = await store.take(exampleTake(purchase));
    assert.ok(taken.kind === 'taken');
    const bytes = new Uint8Array([1]);
    const start = { answer: bytes, payload: bytes, phase: 'pay', leaseMs: 30_000, startBlock: 100 } as const;
    await store.keepAndBeginSend(taken.hold, start);
    return taken.hold;
  };
  return {
    store,
    nowMs: () => now,
    advance: (ms) => {
      now += ms;
    },
    chains: (name) => (name === network ? chain : undefined),
    chain,
    fates,
    asked,
    depths,
    mood,
    record: async (n) => {
      const { record } = await store.find(exampleHex(n));
      assert.ok(record);
      return record;
    },
    send,
    lose: async (n, differing) => {
      await send(n, differing);
      await store.recordMoney(exampleHex(n), { fact: 'unknown', n: 1, reason: 'timeout' });
    },
    tell: async (n, fact) => {
      await send(n);
      await store.recordMoney(exampleHex(n), fact);
    },
  };
}
