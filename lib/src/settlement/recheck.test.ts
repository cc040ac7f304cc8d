import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asserted, type Books, network, openBooks, settled, transaction } from '../../test/books.ts';
import { exampleHex } from '../claim/example.ts';
import type { MoneyFact } from '../claim/index.ts';
import type { AuthorizationFate } from './chain.ts';
import { type Recheck, recheckRecord } from './recheck.ts';

const shown: MoneyFact = { ...asserted, by: 'chain', block: 101, finality: 'latest' };
const other = `0x${'0e'.repeat(32)}`;

/** A settled payment, and a look at it when that is worth something. */
async function open(fact: MoneyFact, fate: AuthorizationFate): Promise<{ books: Books; look: Recheck }> {
  const books = openBooks();
  await books.tell(1, fact);
  books.advance(60_000);
  books.fates.set(1, fate);
  return { books, look: await again(books) };
}

async function again(books: Books): Promise<Recheck> {
  const look = await recheckRecord(books.store, books.chains, { key: exampleHex(1) });
  assert.ok(look);
  return look;
}

test('S05: what is seen at a final block is settled for good and is never looked at again', async () => {
  for (const fact of [asserted, shown]) {
    const { books, look } = await open(fact, { ...settled, finality: 'finalized' });
    assert.deepEqual([look.standing, look.changed, books.depths], ['final', true, ['finalized']]);
    assert.ok(look.record.money.state === 'settled');
    assert.deepEqual([look.record.money.rank, look.record.money.finality], ['chain', 'finalized']);
    books.advance(3_600_000);
    assert.deepEqual(await books.store.unproven(10), []);
  }
});

test('F01: what a facilitator asserted and the chain shows, though not finally, rests on the chain from then on', async () => {
  const fate = { kind: 'shallow', as: 'settled', transaction, block: 101, confirmations: 4 } as const;
  const { books, look } = await open(asserted, fate);
  assert.deepEqual([look.standing, look.changed], ['there', true]);
  const money = { state: 'settled', transaction, amount: 10_000n, rank: 'chain', block: 101, finality: 4 };
  assert.deepEqual(look.record.money, money);
  assert.deepEqual(await books.store.unproven(10), [], 'looked at again at once');
  books.advance(60_000);
  const logged = (await books.record(1)).sendLog.length;
  assert.deepEqual([(await again(books)).changed, (await books.record(1)).sendLog.length], [false, logged]);
});

test('S05: a settlement that is gone for good is reversed; one that only a facilitator asserted never was', async () => {
  const gone: readonly AuthorizationFate[] = [
    { kind: 'expired', block: 150 },
    { kind: 'canceled', transaction: other, block: 150 },
    { kind: 'used_elsewhere', transaction: other, block: 150 },
  ];
  for (const fate of gone) {
    const { look } = await open(shown, fate);
    assert.deepEqual([look.standing, look.record.money], ['undone', { state: 'reversed', transaction }]);
    const lie = await open(asserted, fate);
    assert.ok(lie.look.standing === 'undone' && lie.look.record.money.state === 'refused');
    assert.deepEqual(
      [lie.look.record.money.why, await lie.books.store.readAnswer(exampleHex(1))],
      [fate.kind, undefined],
    );
  }
});

test('S05: a settlement that is gone and may come back is missing, stays settled and is watched', async () => {
  const away: readonly AuthorizationFate[] = [
    { kind: 'unused', block: 150 },
    { kind: 'shallow', as: 'canceled', transaction: other, block: 190, confirmations: 1 },
  ];
  for (const fate of away) {
    for (const fact of [asserted, shown]) {
      const { books, look } = await open(fact, fate);
      assert.deepEqual([look.standing, look.changed, look.record.money.state], ['missing', false, 'settled']);
      assert.deepEqual(await books.store.unproven(10), []);
      books.advance(600_000);
      assert.equal((await books.store.unproven(10)).length, 1);
    }
  }
});

test('S05: a settlement that lands again, in another transaction, is settled by that one once it is final', async () => {
  const { books, look } = await open(shown, { kind: 'unused', block: 150 });
  assert.equal(look.standing, 'missing');
  books.fates.set(1, { kind: 'settled', transaction: other, block: 99, finality: 'finalized' });
  const { record } = await again(books);
  assert.ok(record.money.state === 'settled');
  assert.deepEqual([record.money.transaction, record.money.block], [other, 99]);
});

test('F10: an endpoint that is behind the block of the settlement misses nothing and re-opens nothing', async () => {
  const books = openBooks();
  await books.tell(1, shown);
  books.advance(60_000);
  for (const newest of [100, undefined]) {
    books.mood.newest = newest;
    const look = await again(books);
    assert.deepEqual([look.standing, look.changed], ['early', false]);
  }
  books.mood.newest = 101;
  assert.equal((await again(books)).standing, 'missing');
});

test('a transaction that was named a moment ago is not missing yet', async () => {
  const books = openBooks();
  await books.tell(1, asserted);
  books.advance(29_999);
  assert.equal((await again(books)).standing, 'early');
  books.advance(1);
  assert.equal((await again(books)).standing, 'missing');
});

test('S05: heights that a reorganisation moved do not make a stranger’s of what the chain showed as ours', async () => {
  const books = openBooks();
  await books.tell(1, shown);
  const starts: (number | undefined)[] = [];
  const chain = {
    ...books.chain,
    fate: async ({ startBlock }: { readonly startBlock?: number | undefined }) => {
      starts.push(startBlock);
      return { kind: 'used_elsewhere', transaction, block: 99 } as const;
    },
  };
  const look = await recheckRecord(books.store, () => chain, { key: exampleHex(1) });
  assert.deepEqual([look?.standing, look?.record.money.state, starts], ['there', 'settled', [0]]);
});

test('what cannot be read now is read later, and the record stays as it is', async () => {
  const books = openBooks();
  await books.tell(1, asserted);
  books.mood.throwsAt = 1;
  assert.deepEqual([(await again(books)).standing, await books.store.unproven(10)], ['unread', []]);
  const blind = await recheckRecord(books.store, () => undefined, { key: exampleHex(1) });
  assert.deepEqual([blind?.standing, blind?.before.network], ['no_chain', network]);
  assert.equal((await books.record(1)).money.state, 'settled');
});

test('a record that says something else by now, or is gone, is left alone', async () => {
  const books = openBooks();
  await books.tell(1, asserted);
  await books.store.recordMoney(exampleHex(1), { fact: 'refunded', reference: 'ticket 7' });
  assert.equal((await again(books)).standing, 'moved_on');
  assert.equal(await recheckRecord(books.store, books.chains, { key: exampleHex(9) }), undefined);
  assert.deepEqual(books.asked, []);
});

const word: MoneyFact = {
  fact: 'refused',
  why: 'definite',
  reason: 'insufficient_funds',
  by: 'facilitator',
  n: 1,
};

test('F01: what a facilitator refused and the chain shows all the same is paid, and the work is owed', async () => {
  const { books, look } = await open(word, settled);
  assert.deepEqual([look.standing, look.changed, look.record.money.state], ['landed', true, 'settled']);
  assert.deepEqual(
    (await books.store.due(10)).map(({ key }) => key),
    [exampleHex(1)],
  );
});

test('F01: a refusal that the chain shows nothing of is looked at until its authorization is over, and then believed', async () => {
  const { books, look } = await open(word, { kind: 'unused', block: 150 });
  assert.deepEqual([look.standing, look.changed, look.record.money.state], ['early', false, 'refused']);
  assert.deepEqual(await books.store.unproven(10), []);
  books.advance(600_000);
  assert.equal((await books.store.unproven(10)).length, 1);
  books.fates.set(1, { kind: 'expired', block: 151 });
  const dead = await again(books);
  assert.ok(dead.standing === 'dead' && dead.record.money.state === 'refused');
  assert.deepEqual([dead.record.money.rank, dead.record.money.why], ['chain', 'expired']);
  books.advance(600_000);
  assert.deepEqual(await books.store.unproven(10), []);
});

test('S05: a look that could ask nobody leaves the record as it is, where it is not to be postponed', async () => {
  for (const fact of [asserted, word]) {
    const books = openBooks();
    await books.tell(1, fact);
    books.advance(60_000);
    const before = await books.record(1);
    const which = { key: exampleHex(1), whenUnread: 'leave' } as const;
    const blind = await recheckRecord(books.store, () => undefined, which);
    books.mood.throwsAt = 1;
    const unread = await recheckRecord(books.store, books.chains, which);
    assert.deepEqual([blind?.standing, unread?.standing], ['no_chain', 'unread']);
    assert.deepEqual(await books.record(1), before);
    assert.equal((await books.store.unproven(10)).length, 1);
  }
});
