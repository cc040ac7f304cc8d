import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exampleNowMs, examplePurchase } from '../claim/example.ts';
import { type ClaimRecord, type MoneyFact, recordMoney } from '../claim/index.ts';
import type { AuthorizationFate } from './chain.ts';
import type { SettleAnswer } from './facilitator.ts';
import { factOfAnswer, factOfFate } from './fact.ts';

const transaction = `0x${'5e'.repeat(32)}`;
const hold = { key: 'k', owner: 'o', fence: 1 };

const answers: readonly (readonly [SettleAnswer, first: MoneyFact, again: MoneyFact])[] = [
  [
    { kind: 'settled', transaction, amount: 10_000n },
    { fact: 'settled', transaction, amount: 10_000n, by: 'facilitator' },
    { fact: 'settled', transaction, amount: 10_000n, by: 'facilitator' },
  ],
  [
    { kind: 'refused', reason: 'insufficient_funds' },
    { fact: 'refused', why: 'definite', reason: 'insufficient_funds', by: 'facilitator', n: 1 },
    { fact: 'unknown', n: 2, reason: 'insufficient_funds' },
  ],
  [
    { kind: 'look_up', reason: 'invalid_transaction_state' },
    { fact: 'unknown', n: 1, reason: 'invalid_transaction_state' },
    { fact: 'unknown', n: 2, reason: 'invalid_transaction_state' },
  ],
  [
    { kind: 'look_up', reason: 'invalid_exact_evm_transaction_failed', transaction },
    { fact: 'unknown', n: 1, reason: 'invalid_exact_evm_transaction_failed', transaction },
    { fact: 'unknown', n: 2, reason: 'invalid_exact_evm_transaction_failed', transaction },
  ],
  [
    { kind: 'pending', transaction },
    { fact: 'unknown', n: 1, reason: 'settlement_pending', transaction },
    { fact: 'unknown', n: 2, reason: 'settlement_pending', transaction },
  ],
  [{ kind: 'unsent' }, { fact: 'unsent', n: 1, hold }, { fact: 'unsent', n: 2, hold }],
  [
    { kind: 'lost', why: 'timeout' },
    { fact: 'unknown', n: 1, reason: 'timeout' },
    { fact: 'unknown', n: 2, reason: 'timeout' },
  ],
];
for (const [answer, first, again] of answers) {
  test(`a settle that was ${answer.kind} is written down as ${first.fact}, and of a re-send as ${again.fact}`, () => {
    assert.deepEqual(factOfAnswer(answer, { n: 1, sends: 1, hold }), first);
    assert.deepEqual(factOfAnswer(answer, { n: 2, sends: 2, hold }), again);
  });
}

test('a send of which no byte left does not count: a plain no to the next one is the answer to the only send', () => {
  assert.deepEqual(
    factOfAnswer({ kind: 'refused', reason: 'insufficient_funds' }, { n: 2, sends: 1, hold }),
    { fact: 'refused', why: 'definite', reason: 'insufficient_funds', by: 'facilitator', n: 2 },
  );
});

function recordWith(money: ClaimRecord['money']): ClaimRecord {
  return {
    ...examplePurchase(1),
    work: { state: 'done', partial: false },
    money,
    fence: 1,
    attempts: 1,
    sendLog: [],
    sends: 1,
    createdAtMs: exampleNowMs,
    updatedAtMs: exampleNowMs,
  };
}
const sent = recordWith({ state: 'unknown', phase: 'pay', n: 1 });
const unsent = { ...recordWith({ state: 'none' }), sends: 0 };

test('S06: a use with our transfer is a settlement of ours once we have sent it, and of the signed amount', () => {
  const fate: AuthorizationFate = { kind: 'settled', transaction, block: 9 };
  assert.deepEqual(factOfFate(fate, sent), {
    fact: 'settled',
    transaction,
    amount: 10_000n,
    by: 'chain',
    block: 9,
    finality: 'latest',
  });
  assert.deepEqual(factOfFate({ ...fate, finality: 3 }, sent), { ...factOfFate(fate, sent), finality: 3 });
  assert.deepEqual(factOfFate(fate, unsent), {
    fact: 'refused',
    why: 'used_elsewhere',
    reason: 'authorization_used_elsewhere',
    by: 'chain',
    transaction,
    ifNeverSent: true,
  });
});

test('a payment that was retired unsent is not ours because somebody spent it later', () => {
  const why = {
    state: 'refused',
    why: 'expired',
    reason: 'authorization_expired',
    rank: 'facilitator',
  } as const;
  const retired = { ...recordWith(why), sends: 0 };
  const fact = factOfFate({ kind: 'settled', transaction, block: 9 }, retired);
  assert.ok(fact);
  const { outcome } = recordMoney(retired, fact, exampleNowMs);
  assert.deepEqual([outcome.changed, outcome.record?.money.state], [false, 'refused']);
});

test('a use that is not ours, a cancellation and an expiry are refusals that the chain proves', () => {
  const cases: readonly (readonly [AuthorizationFate, string, string])[] = [
    [{ kind: 'used_elsewhere', transaction, block: 9 }, 'used_elsewhere', 'authorization_used_elsewhere'],
    [{ kind: 'canceled', transaction, block: 9 }, 'canceled', 'authorization_canceled'],
    [{ kind: 'expired', block: 9 }, 'expired', 'authorization_expired'],
  ];
  for (const record of [sent, unsent]) {
    for (const [fate, why, reason] of cases) {
      const fact = factOfFate(fate, record);
      assert.ok(fact?.fact === 'refused');
      assert.deepEqual([fact.why, fact.reason, fact.by], [why, reason, 'chain']);
    }
  }
});

test('a transfer that is not deep enough yet names its transaction to who waits for it, once, and settles nothing', () => {
  const fate = { kind: 'shallow', as: 'settled', transaction, block: 9, confirmations: 1 } as const;
  const fact = { fact: 'unknown', n: 1, reason: 'settlement_pending', transaction } as const;
  assert.deepEqual(factOfFate(fate, sent), fact);
  const told = recordWith({ state: 'unknown', phase: 'pay', n: 1, transaction });
  const sending = recordWith({ state: 'sending', phase: 'pay', n: 1 });
  const settled = recordWith({ state: 'settled', transaction, amount: 1n, rank: 'facilitator' });
  for (const record of [told, sending, settled, unsent]) assert.equal(factOfFate(fate, record), undefined);
  for (const as of ['canceled', 'used_elsewhere'] as const)
    assert.equal(factOfFate({ ...fate, as }, sent), undefined);
});

test('an unused authorization and an unread chain prove nothing', () => {
  for (const record of [sent, unsent]) {
    assert.equal(factOfFate({ kind: 'unused', block: 9 }, record), undefined);
    assert.equal(factOfFate({ kind: 'unread', why: 'receipt' }, record), undefined);
  }
});
