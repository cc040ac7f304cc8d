import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClaimRecord } from 'counterfoil/claim';
import { nextStep } from './restart.ts';
import { base, hash } from './rig/record.ts';

const nowMs = 100_000;
const alive = { owner: 'a:1', fence: 1, untilMs: nowMs + 1 };
const over = { owner: 'a:1', fence: 1, untilMs: nowMs };
const settled = { state: 'settled', transaction: hash, amount: 10_000n, rank: 'chain' } as const;
const unknown = { state: 'unknown', phase: 'pay', n: 1 } as const;

const says = (change: Partial<ClaimRecord>, pattern: RegExp): void =>
  assert.match(nextStep({ ...base, ...change }, nowMs), pattern);

test('running with a living lease is in progress, whatever the money', () => {
  says(
    { work: { state: 'running' }, lease: alive, attempts: 1 },
    /^In progress: its owner holds the lease until/,
  );
  says(
    { work: { state: 'running' }, lease: alive, money: settled, flow: 'upfront' },
    /^In progress: its owner works/,
  );
  says(
    {
      work: { state: 'done', partial: false },
      lease: alive,
      money: { state: 'sending', phase: 'pay', n: 1 },
    },
    /^In progress: its owner is sending/,
  );
});

test('work whose owner died unpaid starts its next attempt when the payment comes again, until attempts are used up', () => {
  says({ work: { state: 'running' }, lease: over, attempts: 1 }, /Presented again, it starts attempt 2 of 2/);
  says({ work: { state: 'failed' }, attempts: 2 }, /All 2 attempts are used up/);
  says({ work: { state: 'exhausted' }, attempts: 2 }, /^Dead: all attempts failed and nothing was sent/);
});

test('a kept answer that was never sent for is sent only on re-presentation, and is dead after its authorization', () => {
  says(
    { work: { state: 'done', partial: false } },
    /sent for settlement only when the payment is presented again/,
  );
  says({ work: { state: 'done', partial: false }, validBeforeMs: nowMs }, /^Dead: the authorization ended/);
});

test('a send whose lease is over is unknown: the chain is asked, and only identical bytes are sent again', () => {
  const done = { work: { state: 'done', partial: false } } as const;
  says(
    { ...done, money: { state: 'sending', phase: 'pay', n: 1 }, lease: over, sends: 1 },
    /chain is asked.*identical bytes.*sent 1 times/,
  );
  says({ ...done, money: unknown, sends: 2 }, /sent 2 times/);
  says({ ...done, money: unknown, validBeforeMs: nowMs }, /never sent again/);
});

test('what was paid and not delivered is owed; what was delivered can be had again until its time is up', () => {
  says({ flow: 'upfront', money: settled, work: { state: 'idle' } }, /^Owed:.*attempt 1 of 2/);
  says(
    { flow: 'upfront', money: settled, work: { state: 'running' }, lease: over, attempts: 2 },
    /^Owed:.*used up/,
  );
  says({ money: settled, work: { state: 'exhausted' } }, /^Owed:.*by hand/);
  const done = { money: settled, work: { state: 'done', partial: false } } as const;
  says({ ...done, answerBytes: 5 }, /never delivered whole/);
  says({ ...done, answerBytes: 5, keepUntilMs: nowMs + 1 }, /without a charge until/);
  says({ ...done, answerBytes: 5, keepUntilMs: nowMs }, /may be dropped now/);
  says(done, /409/);
});

test('a held deposit is charged, used or given back', () => {
  const money = { state: 'held', transaction: hash, rank: 'chain' } as const;
  says({ money, work: { state: 'done', partial: false } }, /is charged/);
  says({ money, work: { state: 'failed' } }, /given back\./);
  says({ money }, /deposit is held/);
});

test('dead and closed payments say so, and a payment spent elsewhere asks for a look', () => {
  says(
    { money: { state: 'refused', why: 'definite', reason: 'x', rank: 'facilitator' } },
    /^Dead: the settlement was refused \(definite\)/,
  );
  says(
    { money: { state: 'refused', why: 'used_elsewhere', reason: 'x', rank: 'chain' } },
    /Find out by whom/,
  );
  says({ money: { state: 'voided', transaction: hash } }, /^Closed/);
  says({ money: { state: 'reversed', transaction: hash } }, /undid/);
  says({ money: { state: 'refunded', reference: 'r' } }, /paid back/);
  says({ money: settled, closed: { atMs: 1, reference: 'ticket 7' } }, /^Closed by an operator/);
  says({ supersededBy: base.key }, /answered from the older payment/);
});
