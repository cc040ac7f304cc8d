import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClaimRecord, ClaimStore, ListQuery } from 'counterfoil/claim';
import { auditBooks } from './books.ts';

const served = { money: { state: 'settled' }, work: { state: 'done' } };

function books(entries: readonly object[], due: readonly string[] = []): Pick<ClaimStore, 'list' | 'due'> {
  const records = entries.map((entry, at) => ({ key: String(at + 10_000), ...entry }) as ClaimRecord);
  return {
    list: async ({ after = '', limit }: ListQuery) =>
      records.filter(({ key }) => key > after).slice(0, limit),
    due: async () => due.map((key) => ({ key }) as ClaimRecord),
  };
}

test('books of served payments have one settled record for each, over as many pages as it takes', async () => {
  for (const count of [0, 1, 500, 1_201])
    assert.deepEqual(await auditBooks(books(Array(count).fill(served)), count), []);
});

test('a record too few or too many, one that is open and one that is due are named', async () => {
  assert.deepEqual(await auditBooks(books([served]), 2), ['S4: 1 records of 2 payments']);
  const open = { money: { state: 'unknown' }, work: { state: 'done' } };
  assert.match((await auditBooks(books([served, open]), 2)).join(), /10001 is unknown and its work done/);
  const idle = { money: { state: 'settled' }, work: { state: 'idle' } };
  assert.match((await auditBooks(books([idle], ['10000']), 1)).join(), /work idle.*10000 is on the list/);
});
