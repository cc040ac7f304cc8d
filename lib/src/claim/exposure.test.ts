import assert from 'node:assert/strict';
import { test } from 'node:test';
import { examplePurchase, exampleTake, exampleNowMs as now } from './example.ts';
import { countExposure, exposedPayer, mustPayFirst, openUntilMs, payerName } from './exposure.ts';
import type { ClaimRecord } from './record.ts';
import { type TakeView, take } from './take.ts';

const limits = { unpaid: 3, open: 5 };
const lease = { owner: 'a', fence: 1, untilMs: now + 30_000 };

function record(differing: Partial<ClaimRecord> = {}): ClaimRecord {
  return {
    ...examplePurchase(1),
    work: { state: 'running' },
    money: { state: 'none' },
    fence: 1,
    attempts: 1,
    lease,
    sendLog: [],
    sends: 0,
    createdAtMs: now,
    updatedAtMs: now,
    ...differing,
  };
}

const unpaid = record({
  work: { state: 'done', partial: false },
  money: { state: 'refused', why: 'canceled', reason: 'canceled', rank: 'chain' },
  lease: undefined,
});

test('S01, S02, S03: work that ran and was then refused its money is a debt, whatever the reason', () => {
  for (const why of ['definite', 'canceled', 'used_elsewhere', 'failed_on_chain'] as const) {
    const burnt = { ...unpaid, money: { state: 'refused', why, reason: why, rank: 'facilitator' } as const };
    assert.equal(exposedPayer(burnt), payerName(burnt));
    assert.equal(openUntilMs(burnt), undefined);
  }
  assert.equal(exposedPayer({ ...unpaid, attempts: 0 }), undefined, 'nothing ran for it');
  assert.equal(exposedPayer({ ...unpaid, flow: 'upfront' }), undefined, 'nothing was lent');
});

test('work that failed, a payment that an older one serves, and one that nobody could settle are no debts', () => {
  assert.equal(exposedPayer(record({ work: { state: 'failed' } })), undefined);
  assert.equal(exposedPayer(record({ work: { state: 'exhausted' } })), undefined);
  const late = { state: 'refused', why: 'expired', reason: 'x', rank: 'chain' } as const;
  assert.equal(exposedPayer({ ...unpaid, money: late }), undefined, 'S08: it was sent into silence');
  assert.equal(exposedPayer({ ...unpaid, closed: { atMs: now, reference: 'x' } }), undefined);
  const superseded = record({ work: { state: 'done', partial: false }, supersededBy: 'older' });
  assert.equal(exposedPayer(superseded), undefined);
});

test('money that is out keeps a loan open, a lease that is over ends it, and what settled is paid', () => {
  const out = record({ money: { state: 'unknown', phase: 'pay', n: 1 }, lease: undefined });
  assert.deepEqual(countExposure([record(), out, unpaid], now), { unpaid: 1, open: 2 });
  assert.deepEqual(countExposure([record(), out, unpaid], now + 60_000), { unpaid: 1, open: 1 });
  assert.equal(countExposure([out], out.validBeforeMs + 30_000).open, 0, 'it cannot come any more');
  const settled = { state: 'settled', transaction: '0xaa', amount: 1n, rank: 'chain' } as const;
  assert.equal(exposedPayer(record({ money: settled })), undefined);
});

test('a payer without debts may have many runs open; one debt makes the open ones count', () => {
  assert.equal(mustPayFirst({ unpaid: 0, open: 4 }, limits), false);
  assert.equal(mustPayFirst({ unpaid: 0, open: 5 }, limits), true);
  assert.equal(mustPayFirst({ unpaid: 1, open: 1 }, limits), false);
  assert.equal(mustPayFirst({ unpaid: 1, open: 2 }, limits), true);
  assert.equal(mustPayFirst({ unpaid: 3, open: 0 }, limits), true);
});

test('an earlier payment and a full store are named before a debt, which asks for a new payment', () => {
  const debtor = { exposure: { unpaid: 3, open: 0 } };
  const request = exampleTake(examplePurchase(2), { exposure: limits });
  const kind = (view: Partial<TakeView>): string =>
    take({ older: [], nowMs: now, full: false, ...debtor, ...view }, request).outcome.kind;
  const doubt = record({ money: { state: 'unknown', phase: 'pay', n: 1 }, lease: undefined });
  assert.equal(kind({}), 'pay_first');
  assert.equal(kind({ older: [doubt] }), 'earlier_unknown');
  assert.equal(kind({ full: true }), 'full');
});
