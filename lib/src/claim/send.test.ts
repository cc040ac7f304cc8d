import assert from 'node:assert/strict';
import { test } from 'node:test';
import { examplePurchase, exampleNowMs as now } from './example.ts';
import type { ClaimRecord } from './record.ts';
import { type BeginRequest, beginSend } from './send.ts';
import type { BeginOutcome } from './store.ts';

const send: BeginRequest = {
  owner: 'b',
  leaseMs: 30_000,
  startBlock: 9,
  maxSends: 3,
  earlierPayment: 'serve',
};

function record(differing: Partial<ClaimRecord> = {}): ClaimRecord {
  return {
    ...examplePurchase(1),
    work: { state: 'done', partial: false },
    money: { state: 'unknown', phase: 'pay', n: 1 },
    fence: 1,
    attempts: 1,
    sendLog: [{ atMs: now, n: 1, phase: 'pay', said: 'begun', by: 'seller' }],
    sends: 1,
    createdAtMs: now,
    updatedAtMs: now,
    ...differing,
  };
}

const kept = record({ money: { state: 'none' }, sends: 0, sendLog: [] });
const run = (
  at: ClaimRecord | undefined,
  older: readonly ClaimRecord[] = [],
  more: Partial<BeginRequest> = {},
): BeginOutcome => beginSend(at, { older, nowMs: now }, { ...send, ...more }).outcome;

test('an unknown payment is sent again by one new owner under the next fence and number', () => {
  const outcome = run(record({ startBlock: 5 }));
  assert.equal(outcome.kind, 'begun');
  assert.deepEqual(outcome.hold, { key: record().key, owner: 'b', fence: 2 });
  assert.deepEqual(outcome.record.money, { state: 'sending', phase: 'pay', n: 2 });
  assert.equal(outcome.record.sends, 2);
  assert.equal(outcome.record.startBlock, 5, 'a look-up still searches from the first send');
  assert.equal(run(outcome.record).kind, 'known', 'the second caller is too late');
});

test('an answer that was kept but never sent for is sent for on re-presentation', () => {
  const outcome = run(kept);
  assert.equal(outcome.kind, 'begun');
  assert.deepEqual(outcome.record.money, { state: 'sending', phase: 'pay', n: 1 });
  assert.equal(outcome.record.startBlock, 9);
});

test('a send is not begun while another owner may act, nor for money that is decided, nor for work that is not done', () => {
  const lease = { owner: 'a', fence: 1, untilMs: now + 1 };
  const settled = { state: 'settled', transaction: '0x1', amount: 1n, rank: 'chain' } as const;
  const cases: readonly (ClaimRecord | undefined)[] = [
    undefined,
    record({ money: { state: 'sending', phase: 'pay', n: 1 }, lease }),
    record({ lease }),
    record({ money: settled }),
    record({ money: { state: 'refused', why: 'expired', reason: 'expired', rank: 'chain' } }),
    { ...kept, lease },
    { ...kept, work: { state: 'failed' } },
    { ...kept, supersededBy: examplePurchase(2).key },
  ];
  for (const at of cases) assert.equal(run(at).kind, 'known');
});

test('identical re-sends are bounded by how many may have left', () => {
  assert.equal(run(record({ sends: 2 })).kind, 'begun');
  assert.equal(run(record({ sends: 3 })).kind, 'known');
});

test('the first send of a kept answer looks for an earlier payment again', () => {
  const older = record({ ...examplePurchase(2) });
  assert.equal(run(kept, [older]).kind, 'earlier_unknown');
  assert.equal(run(kept, [older], { earlierPayment: 'off' }).kind, 'begun');
  assert.equal(
    run(record(), [older]).kind,
    'begun',
    'a payment that may have moved already is only repeated',
  );
});

test('a kept answer whose buyer paid before for the same request is dropped for the earlier one', () => {
  const older = record({
    ...examplePurchase(2),
    money: { state: 'settled', transaction: '0x1', amount: 1n, rank: 'chain' },
  });
  const step = beginSend({ ...kept, answerBytes: 3 }, { older: [older], nowMs: now }, send);
  assert.equal(step.outcome.kind, 'superseded');
  assert.equal(step.change.answer, null);
  assert.equal(step.change.payload, null);
  assert.equal(step.change.record?.answerBytes, undefined);
  assert.equal(step.change.other?.servedTo, kept.key);
});

test('S3: a send that noted no block leaves the search open, since a block that a re-send notes may lie behind its transfer', () => {
  const outcome = run(record());
  assert.equal(outcome.kind, 'begun');
  assert.equal(outcome.record.startBlock, undefined);
});
