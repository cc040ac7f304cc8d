import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Refusal } from '../problem.ts';
import { describe } from '../problem.ts';
import type { WindowRule } from './window.ts';
import { checkBudget, checkWindow, defaultBudget, defaultRetentionMs, lastUsableMs } from './window.ts';

const now = 1_780_000_000;
const authorization: WindowRule = {
  flow: 'authorization',
  nowMs: now * 1000,
  maxTimeoutSeconds: 300,
  budget: defaultBudget,
  retentionMs: defaultRetentionMs,
};
const upfront: WindowRule = { ...authorization, flow: 'upfront' };

function judge(
  rule: WindowRule,
  validAfter: number | bigint,
  validBefore: number | bigint,
): Refusal | undefined {
  return checkWindow({ validAfter: BigInt(validAfter), validBefore: BigInt(validBefore) }, rule);
}

function code(rule: WindowRule, validAfter: number | bigint, validBefore: number | bigint): string {
  return judge(rule, validAfter, validBefore)?.code ?? 'usable';
}

test('what the stock client signs is usable in both flows, also when its clock is 30 seconds off', () => {
  for (const rule of [authorization, upfront]) {
    for (const off of [-30, 0, 30])
      assert.equal(code(rule, 0, now + off + 300), 'usable', `${rule.flow} ${off}`);
  }
});

test('T01: expiry, to the second', () => {
  const table: readonly (readonly [WindowRule, number, string])[] = [
    [authorization, -1, 'authorization_expired'],
    [authorization, 0, 'authorization_expired'],
    [authorization, 1, 'authorization_window_too_short'],
    [upfront, -31, 'authorization_expired'],
    [upfront, -30, 'authorization_expired'],
    [upfront, -29, 'usable'],
    [upfront, 0, 'usable'],
  ];
  for (const [rule, offset, expected] of table) {
    assert.equal(code(rule, 0, now + offset), expected, `${rule.flow} ${offset}`);
  }
});

test('T02: the beginning, to the second', () => {
  const table: readonly (readonly [WindowRule, number, string])[] = [
    [authorization, -1, 'usable'],
    [authorization, 0, 'usable'],
    [authorization, 1, 'authorization_not_yet_valid'],
    [upfront, 29, 'usable'],
    [upfront, 30, 'usable'],
    [upfront, 31, 'authorization_not_yet_valid'],
  ];
  for (const [rule, offset, expected] of table) {
    assert.equal(code(rule, now + offset, now + 200), expected, `${rule.flow} ${offset}`);
  }
});

test('T03: an authorization that would expire before the settlement is refused with the seconds it needs', () => {
  assert.equal(code(authorization, 0, now + 119), 'authorization_window_too_short');
  assert.equal(code(authorization, 0, now + 120), 'usable');
  assert.equal(code(authorization, 0, now + 121), 'usable');
  assert.match(judge(authorization, 0, now + 119)?.detail ?? '', /\b120 seconds/);
  const slow = { ...authorization, budget: { ...defaultBudget, workMs: 150_500 } };
  assert.match(judge(slow, 0, now + 210)?.detail ?? '', /\b211 seconds/);
  assert.equal(code(slow, 0, now + 211), 'usable');
});

test('T03: upfront the chain judges before the work, so its length does not matter', () => {
  const slow = { ...upfront, budget: { ...defaultBudget, workMs: 3_600_000 } };
  assert.equal(code(slow, 0, now + 1), 'usable');
});

test('T04: an authorization that lives longer than we ask is refused, to the second', () => {
  for (const rule of [authorization, upfront]) {
    assert.equal(code(rule, 0, now + 329), 'usable');
    assert.equal(code(rule, 0, now + 330), 'usable');
    assert.equal(code(rule, 0, now + 331), 'authorization_window_too_long');
    assert.equal(code(rule, 0, 2n ** 256n - 1n), 'authorization_window_too_long');
  }
});

test('T06: a time in milliseconds is out of range, and the answer says why', () => {
  for (const rule of [authorization, upfront]) {
    const end = judge(rule, 0, 1_787_400_000_000);
    assert.equal(end?.code, 'authorization_window_too_long');
    assert.match(end?.detail ?? '', /not milliseconds/);
    const start = judge(rule, 1_780_000_000_000, now + 200);
    assert.equal(start?.code, 'authorization_not_yet_valid');
    assert.match(start?.detail ?? '', /not milliseconds/);
  }
});

test('a payment that expired longer ago than records are kept is called unknown, not unmoved', () => {
  const rule = { ...authorization, retentionMs: 60_000 };
  const within = judge(rule, 0, now - 60);
  assert.ok(within);
  assert.deepEqual([describe(within).money, describe(within).retry], ['unmoved', 'new_payment']);
  const beyond = judge(rule, 0, now - 61);
  assert.deepEqual(beyond, { code: 'authorization_expired', money: 'unknown', retry: 'later' });
});

test('a refusal says until when the bytes could still move money', () => {
  assert.equal(judge(authorization, 0, now + 100)?.liveUntil, now + 100);
  assert.equal(judge(authorization, now + 1, now + 200)?.liveUntil, now + 200);
  assert.equal(judge(authorization, 0, now + 400)?.liveUntil, now + 400);
  assert.equal(judge(authorization, 0, now - 1)?.liveUntil, undefined);
  assert.equal(judge(authorization, 0, 2n ** 256n - 1n)?.liveUntil, undefined);
});

test('the defaults are those of the design, and leave the buyer a minute', () => {
  assert.deepEqual(defaultBudget, { skewMs: 30_000, workMs: 60_000, settleMs: 30_000, slackMs: 60_000 });
  checkBudget({ flow: 'authorization', maxTimeoutSeconds: 300, budget: defaultBudget });
});

test('a route whose authorizations would expire during its own work does not start', () => {
  const start = (maxTimeoutSeconds: number, flow: 'authorization' | 'upfront'): void =>
    checkBudget({ flow, maxTimeoutSeconds, budget: defaultBudget });
  start(180, 'authorization');
  assert.throws(() => start(179, 'authorization'), { name: 'TypeError', message: /need 180/ });
  start(120, 'upfront');
  assert.throws(() => start(119, 'upfront'), { name: 'TypeError', message: /need 120/ });
  for (const workMs of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY]) {
    const budget = { ...defaultBudget, workMs };
    assert.throws(() => checkBudget({ flow: 'authorization', maxTimeoutSeconds: 300, budget }), /workMs/);
  }
  const misspelled = { ...defaultBudget, workSeconds: 60 };
  assert.throws(
    () => checkBudget({ flow: 'authorization', maxTimeoutSeconds: 300, budget: misspelled }),
    /no member "workSeconds"/,
  );
});

test('the last usable moment is the one after which the window is refused, in both flows', () => {
  for (const rule of [authorization, upfront]) {
    const lastMs = lastUsableMs({ validBefore: BigInt(now + 200) }, rule);
    assert.equal(code({ ...rule, nowMs: lastMs }, 0, now + 200), 'usable');
    assert.notEqual(code({ ...rule, nowMs: lastMs + 1 }, 0, now + 200), 'usable');
  }
});
