import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exampleHex, exampleNowMs, examplePurchase, exampleTake } from '../claim/example.ts';
import type { ClaimRecord, ClaimStore, Hold } from '../claim/index.ts';
import { createMemoryStore } from '../stores/memory.ts';
import type { AuthorizationFate, ChainReader } from './chain.ts';
import { type Chains, type Resolution, reconcile, resolveRecord } from './reconcile.ts';

const transaction = `0x${'5e'.repeat(32)}`;

type Books = {
  readonly store: ClaimStore;
  readonly advance: (ms: number) => void;
  readonly chains: Chains;
  /** What the chain says of a payment by its number; `unused` unless said otherwise. */
  readonly fates: Map<number, AuthorizationFate>;
  readonly asked: number[];
  readonly throwsAt: (n: number) => void;
  readonly record: (n: number) => Promise<ClaimRecord>;
};

function openBooks(): Books {
  let now = exampleNowMs;
  const store = createMemoryStore({ world: { nowMs: () => now } });
  const fates = new Map<number, AuthorizationFate>();
  const asked: number[] = [];
  let thrower = 0;
  const chain: ChainReader = {
    blockNumber: async () => 100,
    head: async () => undefined,
    hasCode: async () => false,
    fate: async ({ nonce }) => {
      const n = Number.parseInt(nonce, 16);
      asked.push(n);
      if (n === thrower) throw new Error('a reader of somebody else');
      return fates.get(n) ?? { kind: 'unused', block: 101 };
    },
  };
  return {
    store,
    advance: (ms) => {
      now += ms;
    },
    chains: (network) => (network === 'eip155:8453' ? chain : undefined),
    fates,
    asked,
    throwsAt: (n) => {
      thrower = n;
    },
    record: async (n) => {
      const { record } = await store.find(exampleHex(n));
      assert.ok(record);
      return record;
    },
  };
}

/** Takes payment `n` for a request of its own and begins its send. */
async function send(store: ClaimStore, n: number, network: string = 'eip155:8453'): Promise<Hold> {
  const purchase = examplePurchase(n, { fingerprint: exampleHex(n), network });
  const taken = await store.take(exampleTake(purchase));
  assert.ok(taken.kind === 'taken');
  const bytes = new Uint8Array([1]);
  await store.keepAndBeginSend(taken.hold, { answer: bytes, payload: bytes, phase: 'pay', leaseMs: 30_000 });
  return taken.hold;
}

/** … and loses its answer. */
async function lose(store: ClaimStore, n: number, network?: string): Promise<void> {
  await send(store, n, network);
  await store.recordMoney(exampleHex(n), { fact: 'unknown', n: 1, reason: 'timeout' });
}

const settled: AuthorizationFate = { kind: 'settled', transaction, block: 101 };

test('S04: of 250 payments in doubt, each is asked about once, over pages, and written down as the chain proves', async () => {
  const books = openBooks();
  for (let n = 1; n <= 250; n += 1) {
    await lose(books.store, n);
    if (n % 2 === 0) books.fates.set(n, settled);
  }
  const seen: Resolution[] = [];
  const summary = await reconcile(books.store, books.chains, (resolution) => seen.push(resolution));
  assert.deepEqual(summary, { looked: 250, settled: 125, refused: 0, stillUnknown: 125, unreadable: 0 });
  assert.equal(new Set(books.asked).size, 250);
  assert.equal(books.asked.length, 250);
  assert.equal(seen.filter(({ changed }) => changed).length, 125);
  assert.equal(seen.length, 250);
  const { money } = await books.record(2);
  assert.deepEqual(money, { state: 'settled', transaction, amount: 10_000n, rank: 'chain' });
});

test('a send whose lease is over is in doubt and is looked up; one that is under way is left alone', async () => {
  const books = openBooks();
  await send(books.store, 1);
  books.advance(29_999);
  await send(books.store, 2);
  assert.equal((await reconcile(books.store, books.chains)).looked, 0);
  books.advance(1);
  books.fates.set(1, settled).set(2, settled);
  assert.deepEqual(await reconcile(books.store, books.chains), {
    looked: 1,
    settled: 1,
    refused: 0,
    stillUnknown: 0,
    unreadable: 0,
  });
  assert.equal((await books.record(2)).money.state, 'sending');
});

const refusals: readonly (readonly [AuthorizationFate, string])[] = [
  [{ kind: 'canceled', transaction, block: 101 }, 'canceled'],
  [{ kind: 'expired', block: 101 }, 'expired'],
  [{ kind: 'used_elsewhere', transaction, block: 101 }, 'used_elsewhere'],
];
for (const [fate, why] of refusals) {
  test(`a payment that the chain shows ${why} is refused by the chain's rank, and its kept answer is dropped`, async () => {
    const books = openBooks();
    await lose(books.store, 1);
    books.fates.set(1, fate);
    const summary = await reconcile(books.store, books.chains);
    assert.deepEqual([summary.looked, summary.refused], [1, 1]);
    const { money, sendLog } = await books.record(1);
    assert.ok(money.state === 'refused');
    assert.deepEqual([money.why, money.rank], [why, 'chain']);
    assert.deepEqual(
      sendLog.map(({ said, by }) => `${said} by ${by}`),
      ['begun by seller', 'unknown by seller', 'refused by chain'],
    );
    assert.equal(await books.store.readAnswer(exampleHex(1)), undefined);
    assert.equal(await books.store.readPayload(exampleHex(1)), undefined);
  });
}

test('what the chain cannot tell stays in doubt, with its answer and its payload', async () => {
  const books = openBooks();
  await lose(books.store, 1);
  await lose(books.store, 2);
  await lose(books.store, 3, 'eip155:1');
  await lose(books.store, 4);
  books.fates.set(1, { kind: 'unread', why: 'receipt' });
  books.throwsAt(4);
  const before = await books.record(1);
  const summary = await reconcile(books.store, books.chains);
  assert.deepEqual(summary, { looked: 4, settled: 0, refused: 0, stillUnknown: 1, unreadable: 3 });
  assert.deepEqual(await books.record(1), before);
  for (const n of [1, 2, 3, 4]) {
    assert.equal((await books.record(n)).money.state, 'unknown');
    assert.ok(await books.store.readAnswer(exampleHex(n)));
    assert.ok(await books.store.readPayload(exampleHex(n)));
  }
  assert.deepEqual(books.asked.sort(), [1, 2, 4]);
});

test('a second pass finds nothing to do and changes nothing', async () => {
  const books = openBooks();
  for (const n of [1, 2, 3]) await lose(books.store, n);
  books.fates.set(1, settled).set(2, { kind: 'canceled', transaction, block: 101 });
  await reconcile(books.store, books.chains);
  const after = await Promise.all([1, 2, 3].map(books.record));
  assert.deepEqual(await reconcile(books.store, books.chains), {
    looked: 1,
    settled: 0,
    refused: 0,
    stillUnknown: 1,
    unreadable: 0,
  });
  assert.deepEqual(await Promise.all([1, 2, 3].map(books.record)), after);
});

test('two passes at once agree, and the first word of the chain stays', async () => {
  const books = openBooks();
  for (let n = 1; n <= 20; n += 1) {
    await lose(books.store, n);
    books.fates.set(n, settled);
  }
  await Promise.all([reconcile(books.store, books.chains), reconcile(books.store, books.chains)]);
  for (let n = 1; n <= 20; n += 1) {
    const { money } = await books.record(n);
    assert.deepEqual(money, { state: 'settled', transaction, amount: 10_000n, rank: 'chain' });
  }
});

test('S07: what a facilitator asserted is raised to the chain’s rank by the chain, and is overruled by it loudly', async () => {
  const books = openBooks();
  for (const n of [1, 2, 3]) {
    await send(books.store, n);
    await books.store.recordMoney(exampleHex(n), {
      fact: 'settled',
      transaction,
      amount: 10_000n,
      by: 'facilitator',
    });
  }
  books.fates.set(1, settled).set(3, { kind: 'expired', block: 101 });
  const resolve = async (n: number) => resolveRecord(books.store, books.chains, await books.record(n));
  const [proven, unproven, overruled] = [await resolve(1), await resolve(2), await resolve(3)];
  assert.deepEqual(proven.record.money, { state: 'settled', transaction, amount: 10_000n, rank: 'chain' });
  assert.equal(proven.changed, true);
  // "Not used yet" contradicts nothing: the transaction may still come. The record goes on to say who asserted it.
  assert.deepEqual(unproven.record.money, {
    state: 'settled',
    transaction,
    amount: 10_000n,
    rank: 'facilitator',
  });
  assert.deepEqual([unproven.changed, unproven.fate.kind], [false, 'unused']);
  assert.ok(overruled.record.money.state === 'refused');
  assert.deepEqual([overruled.changed, overruled.record.money.why], [true, 'expired']);
});

test('a network that the seller does not read is told, and nothing is written', async () => {
  const books = openBooks();
  await lose(books.store, 1, 'eip155:1');
  const record = await books.record(1);
  const resolution = await resolveRecord(books.store, books.chains, record);
  assert.deepEqual([resolution.fate.kind, resolution.changed], ['no_chain', false]);
  assert.deepEqual(resolution.record, record);
});
