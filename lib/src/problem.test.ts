import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describe, problems, reasons, refuse, succeed } from './problem.ts';

test('a refusal is its row, with what this occurrence knows better laid over it', () => {
  assert.deepEqual(describe({ code: 'work_owed' }), {
    code: 'work_owed',
    title: problems.work_owed.title,
    status: 502,
    money: 'moved',
    retry: 'later',
    reason: 'work_owed',
  });
  const better = describe({ code: 'payment_in_progress', status: 409, money: 'moved', retry: 'later' });
  assert.deepEqual([better.status, better.money, better.retry], [409, 'moved', 'later']);
});

test('the reason is the one that was given, else the specification’s own, else the code', () => {
  assert.equal(
    describe({ code: 'payment_refused', reason: 'insufficient_funds' }).reason,
    'insufficient_funds',
  );
  assert.equal(describe({ code: 'payment_malformed' }).reason, 'invalid_payload');
  assert.equal(describe({ code: 'store_full' }).reason, 'store_full');
  for (const code of Object.keys(reasons)) assert.ok(code in problems, code);
});

test('codes are words in lower case, titles are sentences, and statuses are refusals', () => {
  for (const [code, row] of Object.entries(problems)) {
    assert.match(code, /^[a-z][a-z0-9]*(_[a-z0-9]+)+$/);
    assert.match(row.title, /^[A-Z].*\.$/);
    assert.ok(row.status >= 400 && row.status < 600, code);
  }
});

test('an outcome is a value or a refusal', () => {
  assert.deepEqual(succeed(1), { ok: true, value: 1 });
  assert.deepEqual(refuse('store_full', { retryAfter: 5 }), {
    ok: false,
    refusal: { code: 'store_full', retryAfter: 5 },
  });
});
