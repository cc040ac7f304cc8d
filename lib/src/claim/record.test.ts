import assert from 'node:assert/strict';
import { test } from 'node:test';
import { examplePurchase, exampleNowMs as now } from './example.ts';
import {
  appendLog,
  atLeast,
  type ClaimRecord,
  deeper,
  everSent,
  leaseAlive,
  type MoneyAxis,
  moneyDead,
  moneyMoved,
  moneyNow,
  type SendEntry,
  sendLogLimit,
} from './record.ts';

function record(differing: Partial<ClaimRecord> = {}): ClaimRecord {
  return {
    ...examplePurchase(1),
    work: { state: 'done', partial: false },
    money: { state: 'none' },
    fence: 1,
    attempts: 1,
    sendLog: [],
    sends: 0,
    createdAtMs: now,
    updatedAtMs: now,
    ...differing,
  };
}

const states: readonly MoneyAxis[] = [
  { state: 'none' },
  { state: 'sending', phase: 'pay', n: 1 },
  { state: 'unknown', phase: 'pay', n: 1 },
  { state: 'held', transaction: '0x1', rank: 'chain' },
  { state: 'settled', transaction: '0x1', amount: 1n, rank: 'facilitator' },
  { state: 'refused', why: 'expired', reason: 'expired', rank: 'chain' },
  { state: 'voided', transaction: '0x1' },
  { state: 'reversed', transaction: '0x1' },
  { state: 'refunded', reference: 'r' },
];

test('a lease ends at its millisecond, not one later', () => {
  const held = record({ lease: { owner: 'a', fence: 1, untilMs: now + 10 } });
  assert.equal(leaseAlive(held, now + 9), true);
  assert.equal(leaseAlive(held, now + 10), false);
  assert.equal(leaseAlive(record(), now), false);
});

test('a send whose lease is over reads as unknown, in every store and for every reader', () => {
  const sending = record({
    money: { state: 'sending', phase: 'pay', n: 3 },
    lease: { owner: 'a', fence: 1, untilMs: now + 10 },
  });
  assert.equal(moneyNow(sending, now).state, 'sending');
  assert.deepEqual(moneyNow(sending, now + 10), { state: 'unknown', phase: 'pay', n: 3 });
  assert.deepEqual(moneyNow(record({ money: { state: 'sending', phase: 'void', n: 1 } }), now), {
    state: 'unknown',
    phase: 'void',
    n: 1,
  });
});

test('money is moved, dead or still open, and never two of these', () => {
  const moved = states.filter((money) => moneyMoved(money)).map((money) => money.state);
  const dead = states.filter((money) => moneyDead(money)).map((money) => money.state);
  assert.deepEqual(moved, ['held', 'settled']);
  assert.deepEqual(dead, ['refused', 'voided', 'reversed', 'refunded']);
});

test('a payment counts as sent while a send of it is counted, whatever its money says', () => {
  assert.deepEqual(
    [0, 1, 2].map((sends) => everSent(record({ sends }))),
    [false, true, true],
  );
  const retired = { state: 'refused', why: 'expired', reason: 'x', rank: 'facilitator' } as const;
  assert.equal(everSent(record({ money: retired, sends: 0 })), false);
});

test('the send log keeps its first entry and the newest ones', () => {
  const entry = (n: number): SendEntry => ({ atMs: now, n, phase: 'pay', said: 'begun', by: 'seller' });
  let log: readonly SendEntry[] = [];
  for (let n = 1; n <= 100; n += 1) log = appendLog(log, entry(n));
  assert.equal(log.length, sendLogLimit);
  assert.deepEqual(
    log.map(({ n }) => n),
    [1, ...Array.from({ length: sendLogLimit - 1 }, (_, i) => 101 - (sendLogLimit - 1) + i)],
  );
});

test('confirmations are less than what a node calls safe, and that is less than final', () => {
  const depths = ['latest', 2, 1_000, 'safe', 'finalized'] as const;
  for (const [place, finality] of depths.entries()) {
    assert.deepEqual(
      depths.map((asked) => atLeast(finality, asked)),
      depths.map((_, other) => other <= place),
    );
  }
  assert.equal(atLeast(1, 'latest'), true);
  assert.equal(atLeast(undefined, 'latest'), false, 'nothing was seen');
  assert.equal(deeper('latest', undefined), false, 'what says no depth was seen at the newest block');
});
