import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClaimRecord, ListQuery } from 'counterfoil/claim';
import { base, hash, nonce } from './rig/record.ts';
import { findByText, scan, search, shortKey, transactionOf } from './scan.ts';

/** A store of so many payments, in the order of their keys; counts the pages that were read. */
function storeOf(records: readonly ClaimRecord[]) {
  const seen = { pages: 0 };
  return {
    seen,
    find: async (key: string) => {
      const record = records.find((one) => one.key === key);
      return record === undefined ? { nowMs: 0 } : { record, nowMs: 0 };
    },
    list: async ({ after, limit }: ListQuery) => {
      seen.pages += 1;
      const start = after === undefined ? 0 : records.findIndex((one) => one.key === after) + 1;
      return records.slice(start, start + limit);
    },
  };
}

function numbered(count: number): readonly ClaimRecord[] {
  return Array.from({ length: count }, (_, index) => {
    const own = `0x${index.toString(16).padStart(64, '0')}`;
    return { ...base, nonce: own, key: `eip155:1/${own}` };
  });
}

test('every payment of a store is read once, page by page', async () => {
  const store = storeOf(numbered(1_203));
  const keys: string[] = [];
  for await (const record of scan(store)) keys.push(record.key);
  assert.equal(new Set(keys).size, 1_203);
  assert.equal(store.seen.pages, 3);
});

test('a payment is found by its key, and by the beginning of key, nonce or transaction in any letter case', async () => {
  const money = { state: 'settled', transaction: hash, amount: 1n, rank: 'chain' } as const;
  const store = storeOf([...numbered(3), { ...base, money }]);
  for (const text of [
    base.key,
    base.key.slice(0, 40),
    nonce.slice(0, 10),
    nonce.slice(2, 10),
    '0XCDCD',
    'CDCD',
  ])
    assert.deepEqual((await findByText(store, text)).map(shortKey), [nonce.slice(0, 12)], text);
  assert.deepEqual(await findByText(store, 'ffff'), []);
});

test('a beginning of several gives several, and not a thousand', async () => {
  assert.equal((await findByText(storeOf(numbered(1_000)), '0x00')).length, 5);
});

test('only money that names a transaction has one', () => {
  assert.equal(transactionOf(base), undefined);
  assert.equal(transactionOf({ ...base, money: { state: 'unknown', phase: 'pay', n: 1 } }), undefined);
  assert.equal(
    transactionOf({ ...base, money: { state: 'unknown', phase: 'pay', n: 1, transaction: hash } }),
    hash,
  );
});

test('a search of a store that is too large says where it stopped, and goes on from there', async () => {
  let pages = 0;
  const endless = {
    list: async ({ after, limit }: ListQuery) => {
      pages += 1;
      const start = after === undefined ? 0 : Number(after) + 1;
      return Array.from({ length: limit }, (_, index) => ({
        ...base,
        key: String(start + index).padStart(9, '0'),
      }));
    },
  };
  let last: unknown;
  for await (const scanned of search(endless)) last = scanned;
  assert.deepEqual([last, pages], [{ stoppedAt: '000199999' }, 400]);
  const next = await search(endless, {}, '000199999').next();
  assert.ok(next.done !== true && 'key' in next.value && next.value.key === '000200000');
});
