import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Json, JsonObject } from '../wire/v2.ts';
import {
  createFacilitator,
  type FacilitatorCall,
  type FacilitatorQuestion,
  type SettleAnswer,
  type TransportResult,
  type VerifyAnswer,
} from './facilitator.ts';

const payer = '0x00000000000000000000000000000000000000aa';
const network = 'eip155:8453';
const transaction = `0x${'5e'.repeat(32)}`;
const question: FacilitatorQuestion = {
  payment: { x402Version: 2, payload: { signature: '0x01' } },
  requirement: { scheme: 'exact', network },
  expected: { network, amount: 10_000n, payer },
  timeoutMs: 30_000,
};
const success: JsonObject = { success: true, network, payer, transaction };

function answered(body: Json | undefined, status: number = 200): TransportResult {
  return { kind: 'answer', status, body };
}

function settle(result: TransportResult): Promise<SettleAnswer> {
  return createFacilitator(async () => result).settle(question);
}

function verify(result: TransportResult): Promise<VerifyAnswer> {
  return createFacilitator(async () => result).verify(question);
}

test('a well formed success is settled for the amount that was signed', async () => {
  for (const more of [{}, { amount: '10000' }, { amount: null }, { amount: '' }, { extensions: {} }]) {
    assert.deepEqual(await settle(answered({ ...success, ...more })), {
      kind: 'settled',
      transaction,
      amount: 10_000n,
    });
  }
});

test('the payer may be left out or spelled in another case, and the hash is kept in lower case', async () => {
  const loud = {
    ...success,
    payer: payer.toUpperCase().replace('0X', '0x'),
    transaction: `0x${'5E'.repeat(32)}`,
  };
  assert.deepEqual(await settle(answered(loud)), { kind: 'settled', transaction, amount: 10_000n });
  const { payer: _payer, ...bare } = success;
  for (const silent of [bare, { ...bare, payer: null }, { ...bare, payer: '' }]) {
    assert.equal((await settle(answered(silent))).kind, 'settled');
  }
});

const contradictions: readonly (readonly [string, JsonObject])[] = [
  ['another network', { ...success, network: 'eip155:1' }],
  ['the network in another spelling', { ...success, network: 'EIP155:8453' }],
  ['no network', { success: true, payer, transaction }],
  ['another payer', { ...success, payer: `0x${'0'.repeat(36)}dead` }],
  ['a payer that is no text', { ...success, payer: [payer] }],
  ['an empty transaction', { ...success, transaction: '' }],
  ['no transaction', { success: true, network, payer }],
  ['a transaction that is null', { ...success, transaction: null }],
  ['a transaction of 31 octets', { ...success, transaction: `0x${'5e'.repeat(31)}` }],
  ['a transaction of 33 octets', { ...success, transaction: `0x${'5e'.repeat(33)}` }],
  ['a transaction without 0x', { ...success, transaction: '5e'.repeat(32) }],
  ['a transaction in words', { ...success, transaction: `0x${'zz'.repeat(32)}` }],
  ['a transaction of zeros', { ...success, transaction: `0x${'0'.repeat(64)}` }],
  ['a transaction with a line behind it', { ...success, transaction: `${transaction}\n` }],
  ['a transaction that is a list', { ...success, transaction: [transaction] }],
  ['a smaller amount', { ...success, amount: '9999' }],
  ['a larger amount', { ...success, amount: '10001' }],
  ['an amount that is a number', { ...success, amount: 10_000 }],
  ['an amount with a leading zero', { ...success, amount: '010000' }],
];
for (const [name, body] of contradictions) {
  test(`F02: a success with ${name} is not known to have settled`, async () => {
    assert.equal((await settle(answered(body))).kind, 'lost');
  });
}

const almostTrue: readonly Json[] = ['true', 'TRUE', 1, '1', null, [], [true], {}, 'yes', 0, ''];
test('F03: only the boolean true is a success, and only the boolean false a refusal', async () => {
  for (const word of almostTrue) {
    const said = JSON.stringify(word);
    assert.equal((await settle(answered({ ...success, success: word }))).kind, 'lost', said);
    assert.equal((await verify(answered({ isValid: word, payer }))).kind, 'unavailable', said);
  }
  const { success: _success, ...missing } = success;
  assert.equal((await settle(answered(missing))).kind, 'lost');
  assert.equal((await verify(answered({ payer }))).kind, 'unavailable');
});

test('F03: success:false in an answer of status 200 is never settled, whatever else it claims', async () => {
  const refused = await settle(answered({ ...success, success: false }));
  assert.equal(refused.kind, 'look_up');
  const definite = { success: false, errorReason: 'insufficient_funds', transaction: '', network };
  assert.deepEqual(await settle(answered(definite)), { kind: 'refused', reason: 'insufficient_funds' });
});

test('F03: a success under any status but 200 is not believed', async () => {
  for (const status of [201, 202, 204, 400, 402, 409, 429, 500, 502, 504]) {
    assert.equal((await settle(answered(success, status))).kind, 'lost', String(status));
    assert.equal((await verify(answered({ isValid: true, payer }, status))).kind, 'unavailable');
  }
});

test('S14: an answer of status 429 judges no payment, whatever its body says', async () => {
  const refused = { success: false, errorReason: 'insufficient_funds', transaction: '' };
  assert.deepEqual(await settle(answered(refused, 429)), { kind: 'lost', why: 'status 429' });
  const invalid = { isValid: false, invalidReason: 'insufficient_funds' };
  assert.deepEqual(await verify(answered(invalid, 429)), { kind: 'unavailable', why: 'status 429' });
});

test('a refusal is read under status 4xx as well, since official facilitators answer so, but not under 5xx', async () => {
  const body = { success: false, errorReason: 'invalid_exact_evm_signature', transaction: '', network };
  assert.equal((await settle(answered(body, 400))).kind, 'refused');
  assert.equal((await settle(answered(body, 500))).kind, 'lost');
  const invalid = { isValid: false, invalidReason: 'invalid_exact_evm_signature' };
  assert.deepEqual(await verify(answered(invalid, 400)), {
    kind: 'invalid',
    reason: 'invalid_exact_evm_signature',
  });
  assert.equal((await verify(answered(invalid, 503))).kind, 'unavailable');
});

test('a definite word that names a transaction contradicts itself and proves nothing', async () => {
  const body = { success: false, errorReason: 'insufficient_funds', transaction, network };
  assert.deepEqual(await settle(answered(body)), {
    kind: 'look_up',
    reason: 'insufficient_funds',
    transaction,
  });
  for (const odd of ['0x', 'none', 5, [transaction]]) {
    assert.deepEqual(await settle(answered({ ...body, transaction: odd })), {
      kind: 'look_up',
      reason: 'insufficient_funds',
    });
  }
});

test('a refusal without a transaction member is as definite as one with an empty one', async () => {
  for (const nothing of [{}, { transaction: null }, { transaction: '' }]) {
    const body = { success: false, errorReason: 'insufficient_funds', network, ...nothing };
    assert.equal((await settle(answered(body))).kind, 'refused');
  }
});

test('a pending settlement needs its transaction; without one it is looked up', async () => {
  const body = { success: false, errorReason: 'settlement_pending', transaction, network };
  assert.deepEqual(await settle(answered(body)), { kind: 'pending', transaction });
  for (const odd of ['', `0x${'0'.repeat(64)}`, 'soon']) {
    assert.deepEqual(await settle(answered({ ...body, transaction: odd })), {
      kind: 'look_up',
      reason: 'settlement_pending',
    });
  }
});

test('a failed transaction is looked up under its hash', async () => {
  const body = { success: false, errorReason: 'invalid_exact_evm_transaction_failed', transaction, network };
  assert.deepEqual(await settle(answered(body)), {
    kind: 'look_up',
    reason: 'invalid_exact_evm_transaction_failed',
    transaction,
  });
});

test('a reason that is unknown or no text at all proves nothing, and its words are not passed on', async () => {
  for (const said of [
    'api key sk_live_1 was wrong',
    5,
    null,
    ['insufficient_funds'],
    '__proto__',
    'toString',
  ]) {
    const body = { success: false, errorReason: said, transaction: '', network };
    assert.deepEqual(await settle(answered(body)), { kind: 'look_up', reason: 'unexpected_reason' });
    assert.deepEqual(await verify(answered({ isValid: false, invalidReason: said })), {
      kind: 'invalid',
      reason: 'unexpected_reason',
    });
  }
});

test('F09: an answer that is no JSON object says nothing', async () => {
  for (const body of [undefined, null, [], [success], 'true', 1, true]) {
    assert.equal((await settle(answered(body))).kind, 'lost');
    assert.equal((await verify(answered(body))).kind, 'unavailable');
    assert.equal((await createFacilitator(async () => answered(body)).supported()).kind, 'unavailable');
  }
});

test('what was not sent is told apart from what was lost', async () => {
  assert.deepEqual(await settle({ kind: 'unsent' }), { kind: 'unsent' });
  assert.deepEqual(await settle({ kind: 'failed', why: 'reset' }), { kind: 'lost', why: 'reset' });
  assert.deepEqual(await verify({ kind: 'unsent' }), { kind: 'unavailable', why: 'unreachable' });
  assert.deepEqual(await verify({ kind: 'failed', why: 'timeout' }), { kind: 'unavailable', why: 'timeout' });
});

test('F02: a payment that was verified for another payer is not verified', async () => {
  assert.deepEqual(await verify(answered({ isValid: true, payer })), { kind: 'valid' });
  assert.deepEqual(await verify(answered({ isValid: true })), { kind: 'valid' });
  const other = { isValid: true, payer: `0x${'0'.repeat(36)}dead` };
  assert.equal((await verify(answered(other))).kind, 'unavailable');
});

test('a facilitator is asked as the specification says, within the time that the route gives it', async () => {
  const calls: FacilitatorCall[] = [];
  const facilitator = createFacilitator(async (call) => {
    calls.push(call);
    return { kind: 'unsent' };
  });
  await facilitator.supported();
  await facilitator.verify(question);
  await facilitator.settle(question);
  const body = {
    x402Version: 2,
    paymentPayload: question.payment,
    paymentRequirements: question.requirement,
  };
  assert.deepEqual(calls, [
    { call: 'supported' },
    { call: 'verify', body, timeoutMs: 30_000 },
    { call: 'settle', body, timeoutMs: 30_000 },
  ]);
});

test('the kinds that are well formed are read; a list without end is not', async () => {
  const kind = { x402Version: 2, scheme: 'exact', network };
  const ask = (body: Json, status?: number) =>
    createFacilitator(async () => answered(body, status)).supported();
  const odd = [
    null,
    5,
    {},
    { ...kind, x402Version: '2' },
    { ...kind, network: null },
    { ...kind, extra: {} },
  ];
  assert.deepEqual(await ask({ kinds: odd }), { kind: 'supported', kinds: [kind] });
  assert.deepEqual(await ask({ kinds: [] }), { kind: 'supported', kinds: [] });
  assert.equal((await ask({ kinds: Array.from({ length: 2_001 }, () => kind) })).kind, 'unavailable');
  assert.equal((await ask({ kinds: { 0: kind } })).kind, 'unavailable');
  assert.equal((await ask({ kinds: [kind] }, 308)).kind, 'unavailable');
});

test('F02, F03: of ten thousand answers, only those that say everything right are settled', async () => {
  const pick = <T>(right: T, ...wrong: readonly Json[]) =>
    fc.oneof(
      { weight: 4, arbitrary: fc.constant<T | Json>(right) },
      fc.constantFrom<T | Json>(...wrong),
      fc.jsonValue() as fc.Arbitrary<Json>,
    );
  const bodies = fc.record({
    success: pick(true, false, 'true', 1),
    network: pick(network, 'eip155:1', ''),
    payer: pick(payer, '', null, `0x${'1'.repeat(40)}`),
    transaction: pick(transaction, '', '0x'),
    amount: pick('10000', '1', 10_000, null),
    errorReason: pick('insufficient_funds', 'settlement_pending', 'nonsense'),
  });
  const statuses = fc.oneof({ weight: 4, arbitrary: fc.constant(200) }, fc.integer({ min: 100, max: 599 }));
  await fc.assert(
    fc.asyncProperty(bodies, statuses, async (body, status) => {
      const answer = await settle(answered(body as JsonObject, status));
      const right =
        status === 200 &&
        body.success === true &&
        body.network === network &&
        (body.payer === payer || body.payer === '' || body.payer === null) &&
        body.transaction === transaction &&
        (body.amount === '10000' || body.amount === null || body.amount === '');
      assert.equal(answer.kind === 'settled', right);
      if (answer.kind === 'refused') assert.equal(body.success, false);
    }),
    { numRuns: 10_000 },
  );
});
