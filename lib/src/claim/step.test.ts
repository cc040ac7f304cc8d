import assert from 'node:assert/strict';
import { test } from 'node:test';
import { examplePurchase, exampleNowMs as now } from './example.ts';
import { appendLog, type ClaimRecord } from './record.ts';
import { holds, nextSend, patched } from './step.ts';

const record: ClaimRecord = {
  ...examplePurchase(1),
  work: { state: 'running' },
  money: { state: 'none' },
  fence: 3,
  attempts: 1,
  lease: { owner: 'a', fence: 3, untilMs: now + 30_000 },
  sendLog: [],
  sends: 0,
  createdAtMs: now,
  updatedAtMs: now,
};

test('C10: only the owner token and the newest fence together hold a record', () => {
  const key = record.key;
  assert.equal(holds(record, { key, owner: 'a', fence: 3 }), true);
  assert.equal(holds(record, { key, owner: 'b', fence: 3 }), false, 'another owner');
  assert.equal(holds(record, { key, owner: 'a', fence: 2 }), false, 'an older right of the same owner');
  assert.equal(holds({ ...record, fence: 4 }, { key, owner: 'a', fence: 3 }), false, 'a newer owner since');
  assert.equal(holds({ ...record, lease: undefined }, { key, owner: 'a', fence: 3 }), false, 'let go');
  assert.equal(holds(undefined, { key, owner: 'a', fence: 3 }), false, 'no record');
});

test('a record is never changed in place', () => {
  const frozen = Object.freeze({ ...record });
  const next = patched(frozen, { attempts: 2 }, now + 5);
  assert.equal(frozen.attempts, 1);
  assert.equal(next.attempts, 2);
  assert.equal(next.updatedAtMs, now + 5);
});

test('the number of a send is never used twice, even when the log forgot the send', () => {
  assert.equal(nextSend(record), 1);
  let sendLog = record.sendLog;
  for (let n = 0; n < 100; n += 1) {
    sendLog = appendLog(sendLog, { atMs: now, n: 1, phase: 'pay', said: 'unknown', by: 'seller' });
  }
  const second = { ...record, sendLog, money: { state: 'unknown', phase: 'pay', n: 2 } } as const;
  assert.equal(nextSend(second), 3);
});

test('a member that is gone leaves nothing behind, so that every store gives the same record', () => {
  const next = patched(record, { lease: undefined, abandoned: undefined }, now);
  assert.equal('lease' in next, false);
  assert.equal('abandoned' in next, false);
});
