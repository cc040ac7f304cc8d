import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asserted, openBooks, settled, transaction } from '../../test/books.ts';
import { exampleHex } from '../claim/example.ts';
import type { ClaimStore } from '../claim/index.ts';
import type { AuthorizationFate } from './chain.ts';
import { type ReconcileSummary, reconcile } from './reconcile.ts';
import type { Resolution } from './resolve.ts';

const nothing: ReconcileSummary = {
  looked: 0,
  settled: 0,
  refused: 0,
  stillUnknown: 0,
  unreadable: 0,
  rechecked: 0,
  final: 0,
  missing: 0,
  undone: 0,
  owed: 0,
  unreadableNetworks: [],
  failed: 0,
  complete: true,
};

test('S04: of 250 payments in doubt, each is asked about once and written down as the chain proves', async () => {
  const books = openBooks();
  for (let n = 1; n <= 250; n += 1) {
    await books.lose(n);
    if (n % 2 === 0) books.fates.set(n, { ...settled, finality: 'finalized' });
  }
  const seen: Resolution[] = [];
  const onResolution = (resolution: Resolution): void => {
    seen.push(resolution);
  };
  const summary = await reconcile(books.store, books.chains, { onResolution });
  assert.deepEqual(summary, { ...nothing, looked: 250, settled: 125, stillUnknown: 125, owed: 125 });
  assert.equal(new Set(books.asked).size, 250);
  assert.equal(books.asked.length, 250);
  assert.deepEqual([seen.length, seen.filter(({ changed }) => changed).length], [250, 125]);
  const { money } = await books.record(2);
  const chainSays = { rank: 'chain', block: 101, finality: 'finalized' } as const;
  assert.deepEqual(money, { state: 'settled', transaction, amount: 10_000n, ...chainSays });
});

test('a send whose lease is over is in doubt and is looked up; one that is under way is left alone', async () => {
  const books = openBooks();
  await books.send(1);
  books.advance(29_999);
  await books.send(2);
  assert.equal((await reconcile(books.store, books.chains)).looked, 0);
  books.advance(1);
  books.fates.set(1, { ...settled, finality: 'finalized' }).set(2, settled);
  const summary = await reconcile(books.store, books.chains);
  assert.deepEqual([summary.looked, summary.settled], [1, 1]);
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
    await books.lose(1);
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

test('what the chain cannot tell stays in doubt, with its answer and its payload, and its network is named', async () => {
  const books = openBooks();
  for (const n of [1, 2, 4]) await books.lose(n);
  await books.lose(3, { network: 'eip155:1' });
  books.fates.set(1, { kind: 'unread', why: 'receipt' });
  books.mood.throwsAt = 4;
  const before = await books.record(1);
  const summary = await reconcile(books.store, books.chains);
  assert.deepEqual(summary, {
    ...nothing,
    looked: 4,
    stillUnknown: 1,
    unreadable: 3,
    unreadableNetworks: ['eip155:1', 'eip155:8453'],
  });
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
  for (const n of [1, 2, 3]) await books.lose(n);
  books.fates.set(1, { ...settled, finality: 'finalized' });
  books.fates.set(2, { kind: 'canceled', transaction, block: 101 });
  await reconcile(books.store, books.chains);
  const after = await Promise.all([1, 2, 3].map(books.record));
  const again = await reconcile(books.store, books.chains);
  assert.deepEqual(again, { ...nothing, looked: 1, stillUnknown: 1, owed: 1 });
  assert.deepEqual(await Promise.all([1, 2, 3].map(books.record)), after);
});

test('two passes at once agree, and the first word of the chain stays', async () => {
  const books = openBooks();
  for (let n = 1; n <= 20; n += 1) {
    await books.lose(n);
    books.fates.set(n, { ...settled, finality: 'finalized' });
  }
  await Promise.all([reconcile(books.store, books.chains), reconcile(books.store, books.chains)]);
  for (let n = 1; n <= 20; n += 1) {
    const { money } = await books.record(n);
    assert.ok(money.state === 'settled' && money.rank === 'chain');
  }
});

test('the oldest doubts are looked up first, no more at once than asked for, and a limit leaves the rest for later', async () => {
  const books = openBooks();
  for (const n of [5, 3, 4, 1, 2]) {
    await books.lose(n);
    books.advance(1);
  }
  let running = 0;
  let most = 0;
  const lookUp = async (record: Resolution['record']): Promise<'late'> => {
    running += 1;
    most = Math.max(most, running);
    books.asked.push(Number.parseInt(record.nonce, 16));
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
    return 'late';
  };
  const summary = await reconcile(books.store, books.chains, { limit: 3, concurrency: 2, lookUp });
  assert.deepEqual(books.asked, [5, 3, 4]);
  assert.deepEqual([most, summary.unreadable, summary.complete], [2, 3, false]);
  const skip = ({ nonce }: Resolution['record']): boolean => [5, 3, 4].includes(Number.parseInt(nonce, 16));
  assert.equal((await reconcile(books.store, books.chains, { limit: 3, lookUp, skip })).complete, true);
  assert.deepEqual(books.asked.slice(3), [1, 2]);
});

test('payments that are owed do not hide the doubts behind them, however many there are', async () => {
  const books = openBooks();
  for (let n = 1; n <= 1_001; n += 1)
    await books.tell(n, { ...asserted, by: 'chain', block: 101, finality: 'finalized' });
  books.advance(60_000);
  await books.lose(2_000);
  const summary = await reconcile(books.store, books.chains);
  assert.deepEqual([summary.owed, summary.looked, summary.rechecked], [1_000, 1, 0]);
});

test('a pass that is told to stop ends between two payments and says that it is not complete', async () => {
  const books = openBooks();
  for (let n = 1; n <= 20; n += 1) await books.lose(n);
  const stop = new AbortController();
  const onResolution = (): void => stop.abort();
  const options = { signal: stop.signal, concurrency: 1, onResolution };
  const summary = await reconcile(books.store, books.chains, options);
  assert.deepEqual([summary.looked, summary.complete], [1, false]);
});

test('a store that fails for one payment is counted and the others are looked up; one that is down ends the pass', async () => {
  const books = openBooks();
  for (let n = 1; n <= 40; n += 1) await books.lose(n);
  const failing = (fails: (key: string) => boolean): ClaimStore => ({
    ...books.store,
    find: async (key) => {
      if (fails(key)) throw new Error('store');
      return books.store.find(key);
    },
  });
  const once = await reconcile(
    failing((key) => key === exampleHex(7)),
    books.chains,
  );
  assert.deepEqual([once.failed, once.looked, once.complete], [1, 39, true]);
  const down = await reconcile(
    failing(() => true),
    books.chains,
  );
  assert.ok(down.failed >= 16 && down.failed < 40 && !down.complete);
  const list = { ...books.store, due: () => Promise.reject(new Error('store')) };
  assert.equal((await reconcile(list, books.chains)).failed, 2);
});

test('S05, F01: settlements that are not final are looked at again, and each outcome is counted', async () => {
  const books = openBooks();
  for (const n of [1, 2, 3, 4]) await books.tell(n, asserted);
  await books.tell(5, { ...asserted, by: 'chain', block: 101, finality: 'latest' });
  books.advance(60_000);
  books.fates.set(1, { ...settled, finality: 'finalized' });
  books.fates.set(2, { kind: 'shallow', as: 'settled', transaction, block: 101, confirmations: 3 });
  books.fates.set(4, { kind: 'expired', block: 150 });
  books.fates.set(5, { kind: 'expired', block: 150 });
  const summary = await reconcile(books.store, books.chains);
  assert.deepEqual(
    [summary.rechecked, summary.final, summary.missing, summary.undone, summary.looked],
    [5, 1, 1, 2, 0],
  );
  assert.deepEqual(await Promise.all([1, 2, 3, 4, 5].map(async (n) => (await books.record(n)).money.state)), [
    'settled',
    'settled',
    'settled',
    'refused',
    'reversed',
  ]);
  assert.equal((await reconcile(books.store, books.chains)).rechecked, 0, 'looked at again at once');
});

test('a pass by hand may ask for more depth than a payment does, and never for less', async () => {
  const books = openBooks();
  await books.lose(1);
  await books.lose(2, { assurance: 'finalized' });
  await reconcile(books.store, books.chains, { finality: 3, concurrency: 1 });
  assert.deepEqual(books.depths, [3, 'finalized']);
});

test('S05: who asks by hand hears of what is missing each time, whenever it was looked at last', async () => {
  const books = openBooks();
  await books.tell(1, asserted);
  books.advance(60_000);
  books.fates.set(1, { kind: 'unused', block: 150 });
  for (const _ of ['first', 'second']) {
    const summary = await reconcile(books.store, books.chains, { due: 'any' });
    assert.deepEqual([summary.rechecked, summary.missing, summary.complete], [1, 1, true]);
  }
  assert.equal((await reconcile(books.store, books.chains)).rechecked, 0, 'the background waits');
});

test('S05: a pass by hand looks at each settlement that is not final, however often it is asked, and says the same', async () => {
  const books = openBooks();
  const word = { fact: 'refused', why: 'definite', reason: 'no', by: 'facilitator', n: 1 } as const;
  await books.tell(1, asserted);
  await books.tell(2, { ...asserted, by: 'chain', block: 101, finality: 'finalized' });
  await books.tell(3, word);
  books.advance(60_000);
  for (const turn of [1, 2, 3]) {
    const { missing, rechecked } = await reconcile(books.store, books.chains, { due: 'any' });
    assert.deepEqual([missing, rechecked, books.asked], [1, 2, [1, 3]], String(turn));
    books.asked.length = 0;
  }
});

test('S05: a pass by hand that could ask nobody says so each time and postpones no look', async () => {
  const books = openBooks();
  await books.tell(1, asserted);
  books.advance(60_000);
  const before = await books.record(1);
  for (const chains of [() => undefined, books.chains]) {
    books.mood.throwsAt = 1;
    const { rechecked, unreadableNetworks } = await reconcile(books.store, chains, { due: 'any' });
    assert.deepEqual([rechecked, unreadableNetworks], [1, ['eip155:8453']]);
  }
  assert.deepEqual(await books.record(1), before);
  assert.equal((await books.store.unproven(10)).length, 1);
});

test('a pass by hand goes through more settlements than one page holds, and a limit leaves the rest', async () => {
  const books = openBooks();
  for (let n = 1; n <= 1_003; n += 1) await books.tell(n, asserted);
  const whole = await reconcile(books.store, books.chains, { due: 'any' });
  assert.deepEqual([whole.rechecked, whole.complete], [1_003, true]);
  const part = await reconcile(books.store, books.chains, { due: 'any', limit: 1_001 });
  assert.deepEqual([part.rechecked, part.complete], [1_001, false]);
});
