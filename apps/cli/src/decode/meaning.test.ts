import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  describeHeader,
  encodePaymentRequired,
  encodePaymentResponse,
  encodePaymentSignature,
  type PaymentRequirements,
} from 'counterfoil/wire';
import { meaningOf } from './meaning.ts';

const payTo = '0x742d35Cc6634C0532925a3b844Bc454e4438f44e';
const accepted: PaymentRequirements = {
  scheme: 'exact',
  network: 'eip155:84532',
  asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
  amount: 10_000n,
  payTo,
  maxTimeoutSeconds: 300,
  extra: {},
};
const transaction = `0x${'12'.repeat(32)}`;

const meaning = (value: string, nowMs = 0): readonly string[] =>
  meaningOf(describeHeader(value), value, nowMs);

test('a seller asks an amount of a known dollar, or atomic units of a token that nobody knows', () => {
  const stranger = { ...accepted, network: 'eip155:31337' };
  const value = encodePaymentRequired({
    x402Version: 2,
    resource: { url: 'https://api.example.com/' },
    accepts: [accepted, stranger],
  });
  assert.deepEqual(meaning(value), [
    `Asks 0.01 USDC on eip155:84532, to ${payTo}, authorized for 300 s.`,
    `Asks 10000 atomic units of ${accepted.asset} on eip155:31337, to ${payTo}, authorized for 300 s.`,
  ]);
});

test('a payment says who pays, and whether its authorization still lives', () => {
  const authorization = { from: payTo, validBefore: '1000' };
  const value = encodePaymentSignature({ x402Version: 2, accepted, payload: { authorization } });
  const first = `${payTo} pays 0.01 USDC on eip155:84532 to ${payTo}.`;
  assert.deepEqual(meaning(value, 940_000), [
    first,
    'The authorization ends in 1 min, at 1970-01-01T00:16:40Z.',
  ]);
  assert.deepEqual(meaning(value, 1_005_000), [
    first,
    'The authorization ended 5 s ago, at 1970-01-01T00:16:40Z.',
  ]);
  const other = encodePaymentSignature({
    x402Version: 2,
    accepted,
    payload: { authorization: { validBefore: 'x' } },
  });
  assert.equal(meaning(other).length, 1);
});

test('a response says what became of the money', () => {
  const network = 'eip155:84532';
  const settled = encodePaymentResponse({ success: true, transaction, network });
  assert.deepEqual(meaning(settled), [`Settled in transaction ${transaction} on ${network}.`]);
  const failed = encodePaymentResponse({
    success: false,
    errorReason: 'insufficient_funds',
    transaction: '',
    network,
  });
  assert.deepEqual(meaning(failed), ['Not settled: insufficient_funds; no transaction is named.']);
  const pending = encodePaymentResponse({ success: false, transaction, network });
  assert.match(meaning(pending).join(), /no reason given; transaction 0x12/);
});

test('nothing is said about a message that is not sound version 2', () => {
  for (const text of ['!!', '{"x402Version":1,"accepts":[]}', '{"accepted":{},"payload":{}}', '{}'])
    assert.deepEqual(meaning(text), [], text);
});
