import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StoreError } from './error.ts';

test('a store error tells its code to programs and its sentence to people, and keeps its cause', () => {
  const cause = new Error('disk I/O error');
  const error = new StoreError('store_failed', 'The claim store failed.', { cause });
  assert.ok(error instanceof Error);
  assert.deepEqual(
    [error.name, error.code, error.message],
    ['StoreError', 'store_failed', 'The claim store failed.'],
  );
  assert.equal(error.cause, cause);
});
