/** Each law by itself: one change that keeps it, one that breaks it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClaimRecord } from '../lib/src/claim/index.ts';
import { judgeLaws, type Truth } from './laws.ts';
import { exampleRecord } from './rig/record.ts';
import type { Change } from './watch.ts';

const nowMs = 1_790_000_000_000;
const truth: Truth = { bill: undefined, delivered: false, graceMs: 1_000 };

function judge(before: ClaimRecord | undefined, after: ClaimRecord | undefined, more: Partial<Change> = {}) {
  const rest = {
    by: 'shop',
    key: 'k',
    own: true,
    asked: [],
    begunBefore: 0,
    begunAfter: 0,
    answerBytes: undefined,
  };
  return judgeLaws({ operation: 'take', before, after, nowMs, ...rest, ...more }, truth);
}

const lease = { owner: 'a', fence: 1, untilMs: nowMs + 5_000 };
const running: ClaimRecord = { ...exampleRecord, work: { state: 'running' }, attempts: 1, fence: 1, lease };
const sending: ClaimRecord = {
  ...running,
  work: { state: 'done', partial: false },
  money: { state: 'sending', phase: 'pay', n: 1 },
  sends: 1,
  answerBytes: 9,
};
const settled: ClaimRecord = {
  ...sending,
  money: { state: 'settled', transaction: '0x1', amount: 10_000n, rank: 'chain' },
};

const keeping = { operation: 'keepAndBeginSend', asked: [{ key: 'k', owner: 'a', fence: 1 }] } as const;

test('a first take keeps every law', () => {
  assert.deepEqual(judge(undefined, running), []);
});

test('I1: nobody becomes the owner of what somebody else owns', () => {
  const next = { ...running, fence: 2, lease: { ...lease, owner: 'b', fence: 2 } };
  assert.deepEqual(judge(running, next), ['I1: a new owner while the lease of a is alive']);
  const late = { ...running, lease: { ...lease, untilMs: nowMs - 10 } };
  assert.deepEqual(judge(late, next), ['I1: a new owner in the grace of a']);
});

test('I6: who is not the newest owner changes nothing', () => {
  const failed: ClaimRecord = { ...exampleRecord, work: { state: 'failed' }, attempts: 1, fence: 1 };
  const by = (owner: string) => ({ operation: 'fail', asked: [{ key: 'k', owner, fence: 1 }] }) as const;
  assert.deepEqual(judge(running, failed, by('a')), []);
  assert.deepEqual(judge(running, failed, by('b')), ['I6: fail by b, who is not the newest owner']);
});

test('I7: a send without its answer is told', () => {
  assert.deepEqual(judge(running, sending, { ...keeping, answerBytes: 9 }), []);
  const naked = judge(running, { ...sending, answerBytes: undefined }, keeping);
  assert.deepEqual(naked, ['I7: the send began before the answer was kept']);
});

test('I6: nothing that was settled is unknown again', () => {
  const back = { ...settled, money: { state: 'unknown', phase: 'pay', n: 1 } as const };
  assert.deepEqual(judge(settled, back, { operation: 'recordMoney' }), ['I6: money went settled -> unknown']);
});

test('I4, S4: what is paid for keeps its answer and its record', () => {
  const gone = { ...settled, answerBytes: undefined };
  assert.deepEqual(judge(settled, gone, { operation: 'prune' }), [
    'I4: the answer of a paid and undelivered payment is gone',
  ]);
  assert.deepEqual(judge(settled, undefined, { operation: 'prune' }), [
    'S4: a record whose money is settled was forgotten too soon',
  ]);
});

test('I5: what is answered from another payment is never sent', () => {
  const before = {
    ...exampleRecord,
    supersededBy: 'older',
    work: { state: 'done', partial: false } as const,
  };
  const after = { ...sending, supersededBy: 'older' };
  assert.deepEqual(judge(before, after, { operation: 'beginSend', answerBytes: 9 }), [
    'I5: a superseded payment was sent',
  ]);
});
