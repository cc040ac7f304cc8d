import assert from 'node:assert/strict';
import { test } from 'node:test';
import { examplePurchase, exampleTake, exampleNowMs as now } from './example.ts';
import type { ClaimRecord, MoneyAxis } from './record.ts';
import type { Step } from './step.ts';
import type { HoldOutcome } from './store.ts';
import { take } from './take.ts';
import { deliver, fail, finish, heartbeat, keepAndBeginSend, release, startWork } from './work.ts';

const settled: MoneyAxis = { state: 'settled', transaction: '0x1', amount: 10_000n, rank: 'facilitator' };
const answer = new Uint8Array([1, 2, 3]);
const send = { answer, payload: new Uint8Array([4]), phase: 'pay', leaseMs: 30_000, startBlock: 7 } as const;
const result = { answer, partial: false, leaseMs: 30_000 };

function begin(): {
  readonly running: ClaimRecord;
  readonly hold: { key: string; owner: string; fence: number };
} {
  const step = take({ older: [], full: false, nowMs: now }, exampleTake(examplePurchase(1)));
  assert.ok(step.outcome.kind === 'taken');
  return { running: step.outcome.record, hold: step.outcome.hold };
}

const { running, hold } = begin();
const paidRunning: ClaimRecord = { ...running, flow: 'upfront', money: settled };
const stale = { ...hold, fence: 0 };

function held(step: Step<HoldOutcome>): ClaimRecord {
  assert.equal(step.outcome.kind, 'held');
  return step.outcome.record;
}

test('C10: whoever lost the record changes nothing, whatever it computed', () => {
  const newer: ClaimRecord = { ...running, fence: 2, lease: { owner: 'b', fence: 2, untilMs: now + 60_000 } };
  const steps = [
    heartbeat(newer, hold, { leaseMs: 30_000, nowMs: now }),
    keepAndBeginSend(newer, hold, { ...send, nowMs: now }),
    startWork({ ...newer, money: settled, work: { state: 'idle' } }, hold, { leaseMs: 30_000, nowMs: now }),
    finish({ ...newer, money: settled }, hold, { ...result, nowMs: now }),
    fail(newer, hold, now),
    release(newer, hold, now),
    heartbeat(undefined, hold, { leaseMs: 30_000, nowMs: now }),
    release(running, stale, now),
  ];
  for (const step of steps) {
    assert.equal(step.outcome.kind, 'lost');
    assert.deepEqual(step.change, {});
  }
});

test('a heartbeat extends a lease in milliseconds, and never revives one that is over', () => {
  assert.equal(
    held(heartbeat(running, hold, { leaseMs: 30_000, nowMs: now + 10_000 })).lease?.untilMs,
    now + 40_000,
  );
  assert.equal(heartbeat(running, hold, { leaseMs: 30_000, nowMs: now + 30_000 }).outcome.kind, 'lost');
});

test('I7: the answer and the payload become durable in the step that begins the send', () => {
  const step = keepAndBeginSend(running, hold, { ...send, nowMs: now });
  const record = held(step);
  assert.deepEqual(record.money, { state: 'sending', phase: 'pay', n: 1 });
  assert.deepEqual(record.work, { state: 'done', partial: false });
  assert.equal(record.answerBytes, 3);
  assert.equal(record.sends, 1);
  assert.equal(record.startBlock, 7);
  assert.deepEqual([step.change.answer, step.change.payload], [answer, send.payload]);
  assert.equal(
    keepAndBeginSend(record, hold, { ...send, nowMs: now }).outcome.kind,
    'lost',
    'a second send of the same work',
  );
});

test('an owner whose lease is over may still send, as long as nobody else has taken the record', () => {
  assert.equal(keepAndBeginSend(running, hold, { ...send, nowMs: now + 60_000 }).outcome.kind, 'held');
  const exhausted: ClaimRecord = { ...running, work: { state: 'exhausted' }, lease: undefined };
  assert.equal(keepAndBeginSend(exhausted, hold, { ...send, nowMs: now }).outcome.kind, 'lost');
});

test('an upfront work starts only after the money moved, and counts its attempt then', () => {
  const idle: ClaimRecord = { ...paidRunning, work: { state: 'idle' }, attempts: 0 };
  const started = held(startWork(idle, hold, { leaseMs: 30_000, nowMs: now }));
  assert.deepEqual([started.work.state, started.attempts], ['running', 1]);
  const unpaid: ClaimRecord = { ...idle, money: { state: 'sending', phase: 'pay', n: 1 } };
  assert.equal(startWork(unpaid, hold, { leaseMs: 30_000, nowMs: now }).outcome.kind, 'lost');
  assert.equal(
    startWork(started, hold, { leaseMs: 30_000, nowMs: now }).outcome.kind,
    'lost',
    'it runs already',
  );
  const used: ClaimRecord = { ...idle, work: { state: 'failed' }, attempts: 2 };
  assert.equal(
    startWork(used, hold, { leaseMs: 30_000, nowMs: now }).outcome.kind,
    'lost',
    'no attempts are left',
  );
});

test('finishing keeps the answer only where the money moved first', () => {
  const step = finish(paidRunning, hold, { ...result, partial: true, nowMs: now });
  assert.deepEqual(held(step).work, { state: 'done', partial: true });
  assert.deepEqual(step.change.answer, answer);
  assert.equal(finish(running, hold, { ...result, nowMs: now }).outcome.kind, 'lost');
});

test('C11: a failed run may be tried again as long as attempts are left, and then never', () => {
  const once = held(fail(running, hold, now));
  assert.equal(once.work.state, 'failed');
  assert.equal('lease' in once, false);
  const twice = held(fail({ ...running, attempts: 2 }, hold, now));
  assert.equal(twice.work.state, 'exhausted');
});

test('C07: a claim whose work never started leaves nothing behind when it is given back', () => {
  const step = release(running, hold, now);
  assert.deepEqual(step.change, { record: null, answer: null, payload: null });
});

test('C07: one hundred claims that are given back leave the payment as good as new', () => {
  for (let i = 0; i < 100; i += 1) {
    const step = take({ older: [], full: false, nowMs: now + i }, exampleTake(examplePurchase(1)));
    assert.ok(step.outcome.kind === 'taken');
    assert.equal(step.outcome.record.attempts, 1);
    assert.equal(release(step.outcome.record, step.outcome.hold, now + i).change.record, null);
  }
});

test('giving back a second attempt keeps the first one on record', () => {
  const second: ClaimRecord = { ...running, attempts: 2 };
  const record = held(release(second, hold, now));
  assert.deepEqual([record.work.state, record.attempts], ['failed', 1]);
});

test('nothing that was sent is ever given back', () => {
  const sent = held(keepAndBeginSend(running, hold, { ...send, nowMs: now }));
  assert.equal(release(sent, hold, now).outcome.kind, 'lost');
  assert.equal(release(paidRunning, hold, now).outcome.kind, 'lost');
  const unsentBefore: ClaimRecord = {
    ...running,
    sendLog: [{ atMs: now, n: 1, phase: 'pay', said: 'unsent', by: 'seller' }],
  };
  assert.equal(held(release(unsentBefore, hold, now)).work.state, 'idle', 'its send log stays');
});

test('the first complete write is the delivery; later ones do not keep the answer longer', () => {
  const done: ClaimRecord = { ...running, work: { state: 'done', partial: false }, money: settled };
  const first = deliver(done, { kind: 'complete', keepMs: 600_000 }, now);
  assert.equal(first.outcome.record?.deliveredAtMs, now);
  assert.equal(first.outcome.record?.keepUntilMs, now + 600_000);
  assert.equal(first.outcome.record?.lease, undefined);
  const again = deliver(first.outcome.record, { kind: 'complete', keepMs: 600_000 }, now + 5_000);
  assert.equal(again.outcome.changed, false);
});

test('nothing is delivered that was not paid or not done (I2)', () => {
  const cases: readonly ClaimRecord[] = [
    running,
    { ...running, work: { state: 'done', partial: false }, money: { state: 'sending', phase: 'pay', n: 1 } },
    { ...running, work: { state: 'done', partial: false }, money: { state: 'unknown', phase: 'pay', n: 1 } },
    { ...running, money: settled, work: { state: 'failed' } },
  ];
  for (const record of cases) {
    assert.equal(deliver(record, { kind: 'complete', keepMs: 1 }, now).outcome.changed, false);
  }
});

test('a client that leaves never stops the work or the send', () => {
  const gone = deliver(running, { kind: 'abandoned' }, now).outcome.record;
  assert.equal(gone?.lease?.owner, hold.owner);
  assert.equal(gone?.abandoned, true);
  const sent = held(keepAndBeginSend(running, hold, { ...send, nowMs: now }));
  assert.equal(deliver(sent, { kind: 'abandoned' }, now).outcome.record?.lease?.owner, hold.owner);
  const done: ClaimRecord = { ...sent, money: settled };
  assert.equal(
    deliver(done, { kind: 'abandoned' }, now).outcome.record?.lease,
    undefined,
    'but frees what rests',
  );
});

test('a person closes only what was sent and what nobody holds, once', () => {
  const closing = { kind: 'closed', reference: 'ticket 7' } as const;
  const owed: ClaimRecord = { ...running, money: settled, work: { state: 'exhausted' }, lease: undefined };
  const closed = deliver(owed, closing, now);
  assert.deepEqual(closed.outcome.record?.closed, { atMs: now, reference: 'ticket 7' });
  assert.equal(closed.outcome.changed, true);
  for (const refused of [
    { ...owed, lease: running.lease },
    { ...owed, money: { state: 'none' } as const },
    { ...owed, closed: { atMs: now, reference: 'before' } },
  ]) {
    const outcome = deliver(refused, closing, now);
    assert.equal(outcome.outcome.changed, false);
    assert.deepEqual(outcome.change, {});
  }
});
