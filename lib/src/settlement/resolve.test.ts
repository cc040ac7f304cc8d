import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asserted, openBooks, settled, transaction } from '../../test/books.ts';
import { resolveRecord } from './resolve.ts';

test('S07: what a facilitator asserted is raised to the chain’s rank by the chain, and is overruled by it loudly', async () => {
  const books = openBooks();
  for (const n of [1, 2, 3]) await books.tell(n, asserted);
  books.fates.set(1, settled).set(3, { kind: 'expired', block: 101 });
  const resolve = async (n: number) => resolveRecord(books.store, books.chains, await books.record(n));
  const [proven, unproven, overruled] = [await resolve(1), await resolve(2), await resolve(3)];
  const money = { state: 'settled', transaction, amount: 10_000n } as const;
  assert.deepEqual(proven.record.money, { ...money, rank: 'chain', block: 101, finality: 'latest' });
  assert.equal(proven.changed, true);
  // "Not used yet" contradicts nothing: the transaction may still come. The record goes on to say who asserted it.
  assert.deepEqual(unproven.record.money, { ...money, rank: 'facilitator' });
  assert.deepEqual([unproven.changed, unproven.fate.kind], [false, 'unused']);
  assert.ok(overruled.record.money.state === 'refused');
  assert.deepEqual([overruled.changed, overruled.record.money.why], [true, 'expired']);
});

test('a network that the seller does not read is told, and nothing is written', async () => {
  const books = openBooks();
  await books.lose(1, { network: 'eip155:1' });
  const record = await books.record(1);
  const resolution = await resolveRecord(books.store, books.chains, record);
  assert.deepEqual([resolution.fate.kind, resolution.changed], ['no_chain', false]);
  assert.deepEqual(resolution.record, record);
});

test('S05: a payment is believed as deep as its own assurance asks, whoever looks it up', async () => {
  const books = openBooks();
  await books.lose(1, { assurance: 3 });
  books.fates.set(1, { kind: 'shallow', as: 'settled', transaction, block: 101, confirmations: 2 });
  const early = await resolveRecord(books.store, books.chains, await books.record(1));
  assert.deepEqual(early.record.money, { state: 'unknown', phase: 'pay', n: 1, transaction });
  assert.deepEqual(books.depths, [3]);
  // A reader of somebody else's make that does not heed the depth moves nothing either.
  books.fates.set(1, settled);
  const shallow = await resolveRecord(books.store, books.chains, await books.record(1));
  assert.deepEqual([shallow.changed, shallow.record.money.state], [false, 'unknown']);
  books.fates.set(1, { ...settled, finality: 3 });
  const deep = await resolveRecord(books.store, books.chains, await books.record(1));
  assert.ok(deep.record.money.state === 'settled' && deep.record.money.finality === 3);
});
