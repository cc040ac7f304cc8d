import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { examplePurchase, exampleNowMs as now } from './example.ts';
import type { ClaimRecord, MoneyAxis } from './record.ts';
import {
  answerForgetAtMs,
  answerForgettable,
  dueFromMs,
  forgetAnswer,
  forgettable,
  needsAttention,
  needsProof,
  proofFromMs,
  reorgWindowMs,
  retainMs,
  skewMs,
} from './retention.ts';

const settled: MoneyAxis = { state: 'settled', transaction: '0x1', amount: 1n, rank: 'facilitator' };
const refused: MoneyAxis = { state: 'refused', why: 'definite', reason: 'funds', rank: 'facilitator' };
const unknown: MoneyAxis = { state: 'unknown', phase: 'pay', n: 1 };
const sending: MoneyAxis = { state: 'sending', phase: 'pay', n: 1 };
const year = 31_536_000_000;

function record(differing: Partial<ClaimRecord> = {}): ClaimRecord {
  return {
    ...examplePurchase(1),
    work: { state: 'done', partial: false },
    money: settled,
    fence: 1,
    attempts: 1,
    sendLog: [],
    sends: 1,
    answerBytes: 3,
    createdAtMs: now,
    updatedAtMs: now,
    ...differing,
  };
}

const end = record().validBeforeMs + retainMs;
const delivered = { deliveredAtMs: now, keepUntilMs: now + 600_000 };

test('C09: a key is remembered beyond its authorization by the clock skew and the reorganisation window', () => {
  assert.equal(retainMs, skewMs + reorgWindowMs);
  for (const money of [{ state: 'none' }, refused, settled] satisfies MoneyAxis[]) {
    const one = record({ money, ...delivered });
    assert.equal(forgettable(one, end), false, money.state);
    assert.equal(forgettable(one, end + 1), true, money.state);
  }
});

test('C09: a key of a long authorization is remembered as long as that lives', () => {
  const long = record({ ...delivered, validBeforeMs: now + year });
  assert.equal(forgettable(long, now + year), false);
  assert.equal(forgettable(long, now + year + retainMs + 1), true);
});

test('unknown money, and money that moved for an answer nobody got, are never forgotten', () => {
  for (const money of [unknown, sending, settled]) {
    assert.equal(forgettable(record({ money }), now + 100 * year), false, money.state);
  }
});

test('a record is not forgotten while its owner may act or its answer is kept', () => {
  const lease = { owner: 'a', fence: 1, untilMs: end + 60_000 };
  assert.equal(forgettable(record({ money: { state: 'none' }, lease }), end + 1), false);
  assert.equal(forgettable(record({ ...delivered, keepUntilMs: end + 60_000 }), end + 1), false);
});

test('a kept answer outlives its first complete write by the time that was promised', () => {
  const one = record(delivered);
  assert.equal(answerForgettable(one, delivered.keepUntilMs), false);
  assert.equal(answerForgettable(one, delivered.keepUntilMs + 1), true);
  assert.equal(answerForgettable(record(), now + 100 * year), false, 'never written out');
  assert.equal(answerForgettable(record({ money: unknown }), now + 100 * year), false);
});

test('the answer of a refused payment goes with its key', () => {
  const one = record({ money: refused });
  assert.equal(answerForgettable(one, end), false, 'a chain may still prove the refusal wrong');
  assert.equal(answerForgettable(one, end + 1), true);
});

test('dropping an answer leaves the record, without its length', () => {
  const change = forgetAnswer(record(delivered), now + 1);
  assert.equal(change.answer, null);
  assert.equal(
    change.record !== null && change.record !== undefined && 'answerBytes' in change.record,
    false,
  );
  assert.equal(answerForgetAtMs(record({ answerBytes: undefined, ...delivered })), undefined);
});

test('somebody must look at unknown money and at paid work that nobody holds', () => {
  const lease = { owner: 'a', fence: 1, untilMs: now + 30_000 };
  assert.equal(needsAttention(record({ money: unknown, lease }), now), true);
  assert.equal(needsAttention(record({ money: sending, lease }), now), false);
  assert.equal(needsAttention(record({ money: sending, lease }), now + 30_000), true);
  assert.equal(needsAttention(record({ lease }), now), false, 'its owner is answering');
  assert.equal(needsAttention(record({ lease }), now + 30_000), true);
  assert.equal(needsAttention(record(delivered), now + year), false);
  assert.equal(needsAttention(record({ money: refused }), now + year), false);
  assert.equal(needsAttention(record({ money: { state: 'none' } }), now + year), false);
});

const axis = fc.constantFrom<MoneyAxis>({ state: 'none' }, sending, unknown, settled, refused);
const moment = fc.option(fc.integer({ min: now, max: now + year }), { nil: undefined });

test('what must be looked at is never forgettable, at any time', () => {
  fc.assert(
    fc.property(
      axis,
      moment,
      moment,
      fc.integer({ min: now, max: now + 2 * year }),
      (money, leaseMs, keepMs, atMs) => {
        const one = record({
          money,
          ...(leaseMs === undefined ? {} : { lease: { owner: 'a', fence: 1, untilMs: leaseMs } }),
          ...(keepMs === undefined ? {} : { deliveredAtMs: now, keepUntilMs: keepMs }),
        });
        assert.equal(needsAttention(one, atMs) && forgettable(one, atMs), false);
        assert.equal(dueFromMs(one) === undefined || !forgettable(one, now + 100 * year), true);
      },
    ),
    { seed: 9, numRuns: 1_000 },
  );
});

test('S05, F01: what a facilitator alone concluded, or no final block shows yet, is looked at again', () => {
  const asserted = record({ money: settled });
  assert.equal(proofFromMs(asserted), 0);
  assert.equal(needsProof({ ...asserted, proveAtMs: now + 1 }, now), false);
  assert.equal(needsProof({ ...asserted, proveAtMs: now + 1 }, now + 1), true);
  const final = { ...settled, rank: 'chain', finality: 'finalized' } as const;
  assert.equal(proofFromMs(record({ money: final })), undefined);
  assert.equal(proofFromMs(record({ money: unknown })), undefined, 'that is due, not unproven');
  const refusedByWord = { state: 'refused', why: 'definite', reason: 'x', rank: 'facilitator' } as const;
  assert.equal(
    proofFromMs(record({ money: refusedByWord })),
    0,
    'F01: what was refused may land all the same',
  );
  assert.equal(
    proofFromMs(record({ money: { ...refusedByWord, why: 'expired' } })),
    undefined,
    'it was never sent',
  );
  assert.equal(proofFromMs(record({ money: { ...refusedByWord, rank: 'chain' } })), undefined);
  const closed = { closed: { atMs: now, reference: 'x' } };
  assert.equal(proofFromMs({ ...asserted, ...closed }), undefined);
  assert.equal(dueFromMs({ ...asserted, ...closed }), undefined);
  assert.equal(dueFromMs({ ...record({ money: unknown }), ...closed }), undefined);
  assert.equal(forgettable({ ...record({ money: unknown }), ...closed }, now + year), true);
});
