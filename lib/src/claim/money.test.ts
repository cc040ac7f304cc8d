import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { blocksNow } from './earlier.ts';
import { examplePurchase, exampleNowMs as now } from './example.ts';
import { recordMoney } from './money.ts';
import type { ClaimRecord, Finality, MoneyAxis, Phase, Rank } from './record.ts';
import { sendLogLimit } from './record.ts';
import { beginSend } from './send.ts';
import type { Step } from './step.ts';
import type { MoneyFact, RecordOutcome } from './store.ts';

const lease = { owner: 'a', fence: 1, untilMs: now + 30_000 };
const hold = { key: examplePurchase(1).key, owner: 'a', fence: 1 };
const sending: MoneyAxis = { state: 'sending', phase: 'pay', n: 1 };
const unknown: MoneyAxis = { state: 'unknown', phase: 'pay', n: 1 };

function record(differing: Partial<ClaimRecord> = {}): ClaimRecord {
  return {
    ...examplePurchase(1),
    work: { state: 'done', partial: false },
    money: sending,
    fence: 1,
    attempts: 1,
    lease,
    sendLog: [{ atMs: now, n: 1, phase: 'pay', said: 'begun', by: 'seller' }],
    sends: 1,
    answerBytes: 3,
    createdAtMs: now,
    updatedAtMs: now,
    ...differing,
  };
}

const settled = (by: Rank, transaction = '0xaa'): MoneyFact => ({
  fact: 'settled',
  transaction,
  amount: 10_000n,
  by,
});
const refusedBy = {
  chain: { fact: 'refused', why: 'expired', reason: 'expired', by: 'chain' } as const,
  facilitator: (n: number): MoneyFact => {
    return { fact: 'refused', why: 'definite', reason: 'insufficient_funds', by: 'facilitator', n };
  },
};
const unknownFact = (n: number): MoneyFact => ({ fact: 'unknown', n, reason: 'timeout' });

function run(start: ClaimRecord, ...facts: readonly MoneyFact[]): ClaimRecord {
  return facts.reduce((at, fact) => after(recordMoney(at, fact, now)), start);
}

function after(step: Step<RecordOutcome>): ClaimRecord {
  assert.ok(step.outcome.record !== undefined);
  return step.outcome.record;
}

test('settled may be recorded by anybody who has it, from sending and from unknown, fence or not', () => {
  for (const money of [sending, unknown]) {
    const next = run(record({ money, lease: undefined }), settled('facilitator'));
    assert.deepEqual(next.money, {
      state: 'settled',
      transaction: '0xaa',
      amount: 10_000n,
      rank: 'facilitator',
    });
  }
});

test('a payment that was never sent does not settle', () => {
  const step = recordMoney(record({ money: { state: 'none' } }), settled('chain'), now);
  assert.equal(step.outcome.changed, false);
});

test('what the chain shows outweighs what a facilitator says, and never the other way round', () => {
  const lied = run(record(), refusedBy.facilitator(1), settled('chain'));
  assert.equal(lied.money.state, 'settled', 'a chain-proven transfer overrides an asserted refusal');
  const bragged = run(record(), settled('facilitator'), refusedBy.chain);
  assert.equal(bragged.money.state, 'refused');
  const proven = run(record(), settled('chain', '0xbb'), settled('facilitator', '0xcc'), refusedBy.chain);
  assert.deepEqual(proven.money, { state: 'settled', transaction: '0xbb', amount: 10_000n, rank: 'chain' });
  const confirmed = run(record(), settled('facilitator', '0xcc'), settled('chain', '0xbb'));
  assert.equal(confirmed.money.state === 'settled' && confirmed.money.transaction, '0xbb');
});

test('of two facts of equal rank the first stays', () => {
  assert.equal(run(record(), settled('facilitator'), refusedBy.facilitator(1)).money.state, 'settled');
  assert.equal(run(record(), refusedBy.facilitator(1), settled('facilitator')).money.state, 'refused');
  assert.equal(run(record(), refusedBy.chain, settled('chain')).money.state, 'refused');
});

test('an answer stays while a refusal is only asserted, and goes when the chain proves it', () => {
  const asserted = recordMoney(record(), refusedBy.facilitator(1), now);
  assert.equal(asserted.change.answer, undefined);
  assert.equal(asserted.outcome.record?.answerBytes, 3);
  const proven = recordMoney(record(), refusedBy.chain, now);
  assert.equal(proven.change.answer, null);
  assert.equal('answerBytes' in (proven.outcome.record ?? {}), false);
});

test('the late refusal of a first send proves nothing while a second one is under way', () => {
  const lost = run(record(), unknownFact(1));
  const resent = beginSend(
    lost,
    { older: [], nowMs: now },
    { owner: 'b', leaseMs: 30_000, maxSends: 3, earlierPayment: 'off' },
  );
  assert.ok(resent.outcome.kind === 'begun');
  const late = run(resent.outcome.record, refusedBy.facilitator(1));
  assert.deepEqual(late.money, { state: 'sending', phase: 'pay', n: 2 });
  const second = run(resent.outcome.record, refusedBy.facilitator(2));
  assert.deepEqual(
    second.money,
    { state: 'sending', phase: 'pay', n: 2 },
    'a refused re-send proves nothing either',
  );
});

test('unknown is said of the send that is under way, never over a fact', () => {
  const lost = run(record(), unknownFact(1));
  assert.deepEqual(lost.money, unknown);
  assert.equal('lease' in lost, false, 'anybody may resolve it from here');
  assert.equal(lost.abandoned, true);
  assert.equal(run(record({ money: { ...sending, n: 2 } }), unknownFact(1)).money.state, 'sending');
  assert.equal(run(record(), settled('facilitator'), unknownFact(1)).money.state, 'settled');
  assert.equal(run(record(), refusedBy.facilitator(1), unknownFact(1)).money.state, 'refused');
});

test('the hash of a pending transaction is kept when a later look finds none', () => {
  const pending = run(
    record(),
    { fact: 'unknown', n: 1, reason: 'pending', transaction: '0xdd' },
    unknownFact(1),
  );
  assert.equal(pending.money.state === 'unknown' && pending.money.transaction, '0xdd');
});

test('a send of which no byte left never happened, if its own sender says so in time', () => {
  const unsent: MoneyFact = { fact: 'unsent', n: 1, hold };
  const back = run(record(), unsent);
  assert.deepEqual(back.money, { state: 'none' });
  assert.equal(back.sends, 0);
  assert.equal('lease' in back, false);
  const stranger: MoneyFact = { fact: 'unsent', n: 1, hold: { ...hold, owner: 'b' } };
  assert.equal(run(record(), stranger).money.state, 'sending');
  const tooLate = after(recordMoney(record(), unsent, lease.untilMs));
  assert.equal(tooLate.money.state, 'sending', 'others may have read it as unknown by now');
  assert.equal(run(record({ sends: 2 }), unsent).money.state, 'unknown', 'an earlier send may still land');
});

test('a stranger who says unsent does not make a later refusal count', () => {
  const stranger: MoneyFact = { fact: 'unsent', n: 1, hold: { ...hold, owner: 'b' } };
  const two = run(record({ money: { ...sending, n: 2 }, sends: 2 }), stranger, refusedBy.facilitator(2));
  assert.equal(two.money.state, 'sending');
});

test('a facilitator that cannot be reached for long does not turn a payment that never left into an unknown one', () => {
  let at = record();
  for (let n = 1; n <= 60; n += 1) {
    at = run(at, { fact: 'unsent', n, hold: { ...hold, owner: at.lease?.owner ?? '', fence: at.fence } });
    assert.equal(at.money.state, 'none', `after ${n} sends that did not leave`);
    const step = beginSend(
      at,
      { older: [], nowMs: now },
      { owner: 'b', leaseMs: 30_000, maxSends: 3, earlierPayment: 'off' },
    );
    assert.ok(step.outcome.kind === 'begun');
    at = step.outcome.record;
  }
  assert.equal(at.sendLog.length, sendLogLimit);
  const refused = run(at, refusedBy.facilitator(61));
  assert.equal(refused.money.state, 'refused', 'and its first real send is judged as the first');
});

test('the refusal of a charge or of a return leaves the deposit where it was', () => {
  for (const phase of ['charge', 'void'] satisfies Phase[]) {
    const held = run(record({ money: { state: 'sending', phase: 'deposit', n: 1 } }), {
      fact: 'held',
      transaction: '0xee',
      by: 'chain',
    });
    const charging = { ...held, money: { state: 'sending', phase, n: 2 } as const, sends: 2 };
    const back = run(charging, refusedBy.facilitator(2));
    assert.equal(back.money.state === 'held' && back.money.transaction, '0xee');
  }
});

test('the payload for identical re-sends is kept exactly as long as money may still move', () => {
  const gone = (start: MoneyAxis, fact: MoneyFact): boolean =>
    recordMoney(record({ money: start }), fact, now).change.payload === null;
  assert.equal(gone(sending, unknownFact(1)), false);
  assert.equal(gone(sending, { fact: 'unsent', n: 1, hold }), false);
  assert.equal(gone(sending, settled('facilitator')), true);
  assert.equal(gone(sending, refusedBy.facilitator(1)), true);
  assert.equal(gone(unknown, refusedBy.chain), true);
});

test('every fact is in the send log, also one that changes nothing, and the log is bounded', () => {
  let at = record();
  for (let i = 0; i < 100; i += 1) at = run(at, settled('facilitator', `0x${i}`));
  assert.equal(at.sendLog.length, sendLogLimit);
  assert.equal(at.sendLog[0]?.said, 'begun');
  assert.equal(at.sendLog.at(-1)?.transaction, '0x99');
});

const rank = fc.constantFrom<Rank>('chain', 'facilitator');
const fact: fc.Arbitrary<MoneyFact> = fc.oneof(
  rank.map((by) => settled(by)),
  rank.map((by): MoneyFact => ({ fact: 'held', transaction: '0xaa', by })),
  fc.constant<MoneyFact>(refusedBy.chain),
  fc.integer({ min: 1, max: 3 }).map(refusedBy.facilitator),
  fc.integer({ min: 1, max: 3 }).map(unknownFact),
  fc.constant<MoneyFact>({ fact: 'unsent', n: 1, hold }),
  rank.map((by): MoneyFact => ({ fact: 'voided', transaction: '0xaa', by })),
  fc.constant<MoneyFact>({ fact: 'reversed', transaction: '0xaa' }),
  fc.constant<MoneyFact>({ fact: 'refunded', reference: 'r' }),
);

test('I6: in any order of facts nothing that is final changes, and proven facts yield only to a reorganisation', () => {
  fc.assert(
    fc.property(fc.array(fact, { maxLength: 12 }), (facts) => {
      let at = record();
      for (const next of facts) {
        const before = at.money;
        at = run(at, next);
        const allowed = successors(before);
        assert.ok(
          allowed.includes(at.money.state),
          `${before.state} became ${at.money.state} by ${next.fact}`,
        );
      }
    }),
    { seed: 6, numRuns: 2_000 },
  );
});

function successors(money: MoneyAxis): readonly MoneyAxis['state'][] {
  switch (money.state) {
    case 'none':
      return ['none', 'refused'];
    case 'sending':
    case 'unknown':
      return ['none', 'sending', 'unknown', 'held', 'settled', 'refused', 'voided'];
    case 'held':
      return ['held', 'settled', 'voided'];
    case 'settled':
      return money.rank === 'chain'
        ? ['settled', 'reversed', 'refunded']
        : ['settled', 'refused', 'reversed', 'refunded'];
    case 'refused':
      return money.rank === 'chain' ? ['refused'] : ['refused', 'settled'];
    case 'voided':
    case 'reversed':
    case 'refunded':
      return [money.state];
    default:
      return money satisfies never;
  }
}

test('a use that is foreign only because nothing was sent proves nothing about a record that shows a send by now', () => {
  const foreign: MoneyFact = { ...refusedBy.chain, why: 'used_elsewhere', ifNeverSent: true };
  const paid = run(record(), settled('facilitator'));
  for (const start of [record(), record({ money: unknown }), paid]) {
    assert.deepEqual(run(start, foreign).money, start.money);
  }
  assert.equal(run(record({ money: { state: 'none' } }), foreign).money.state, 'refused');
});

test('a send whose lease is over leaves its doubt behind when the chain settles it, whoever runs the work then', () => {
  const lapsed = record({ lease: { ...lease, untilMs: now } });
  const next = run(lapsed, settled('chain'));
  assert.equal(next.doubted, true);
  assert.equal(blocksNow({ ...next, lease: { ...lease, untilMs: now + 30_000 } }, now), true);
  assert.equal(run(record(), settled('facilitator')).doubted, undefined);
});

const seen = (finality: Finality, block = 7): MoneyFact => ({
  fact: 'settled',
  transaction: '0xaa',
  amount: 10_000n,
  by: 'chain',
  block,
  finality,
});

test('S07, F01: under assurance a facilitator’s success is kept in the log and moves nothing', () => {
  for (const assurance of ['latest', 3, 'safe', 'finalized'] as const) {
    const careful = run(record({ assurance }), settled('facilitator'));
    assert.equal(careful.money.state, 'sending');
    assert.equal(careful.sendLog.at(-1)?.said, 'settled');
    assert.equal(run(careful, seen(assurance)).money.state, 'settled');
  }
  assert.equal(run(record({ assurance: 3 }), seen(2)).money.state, 'sending');
  assert.equal(run(record({ assurance: 'safe' }), seen(1_000)).money.state, 'sending');
  assert.equal(run(record({ assurance: 'latest' }), settled('chain')).money.state, 'settled');
});

test('S05: a deeper look takes the place of a shallower one, never the other way, and the next look is due soon', () => {
  let at = run(record(), settled('facilitator'));
  for (const finality of ['latest', 2, 3, 'safe', 'finalized'] as const) {
    at = run({ ...at, proveAtMs: now + 60_000 }, seen(finality));
    assert.ok(at.money.state === 'settled' && at.money.finality === finality);
    assert.equal(at.proveAtMs, finality === 'finalized' ? undefined : now + 15_000);
    assert.deepEqual(run(at, seen('latest', 99)).money, at.money);
  }
});

test('a look in vain is no fact: it waits longer the older the payment is, and fills no log', () => {
  const start = run(record(), settled('facilitator'));
  const waits = [0, 60_000, 86_400_000].map((ageMs) => {
    const next = after(recordMoney(start, { fact: 'unproven' }, now + ageMs));
    assert.equal(next.sendLog.length, start.sendLog.length);
    return (next.proveAtMs ?? 0) - now - ageMs;
  });
  assert.deepEqual(waits, [15_000, 60_000, 600_000]);
  const unsettled = recordMoney(record(), { fact: 'unproven' }, now);
  assert.deepEqual(unsettled.change, {});
});
