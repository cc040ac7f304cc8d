import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StoreError } from '../error.ts';
import { asStoreError, isBusy } from './failure.ts';

const sqlite = (errcode: number): Error => Object.assign(new Error('from sqlite'), { errcode });

test('a result code of SQLite becomes what an operator can act on, also in its extended forms', () => {
  const codes: readonly [unknown, string][] = [
    [sqlite(5), 'store_busy'],
    [sqlite(5 | (1 << 8)), 'store_busy'],
    [sqlite(6), 'store_busy'],
    [sqlite(11), 'store_corrupt'],
    [sqlite(26), 'store_corrupt'],
    [sqlite(14), 'store_unreadable'],
    [sqlite(8), 'store_unreadable'],
    [sqlite(13), 'store_failed'],
    [sqlite(10), 'store_failed'],
    [new SyntaxError('not a record'), 'store_corrupt'],
    [new RangeError('a bug'), 'store_failed'],
    ['thrown text', 'store_failed'],
  ];
  for (const [cause, code] of codes) assert.equal(asStoreError(cause).code, code, String(cause));
});

test('a store error stays itself, any other keeps its cause and names the file', () => {
  const own = new StoreError('store_newer', 'newer');
  assert.equal(asStoreError(own), own);
  const wrapped = asStoreError(sqlite(10), '/data/claims.sqlite');
  assert.match(wrapped.message, /\/data\/claims\.sqlite failed: from sqlite/);
  assert.ok(wrapped.cause instanceof Error);
  assert.deepEqual([isBusy(sqlite(5)), isBusy(sqlite(10)), isBusy(own)], [true, false, false]);
});
