/** PAYMENT-RESPONSE on the wire. */

import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { test } from 'node:test';
import { sealHeader } from './header.ts';
import { decodePaymentResponse, encodePaymentResponse, readSettlementResponse } from './response.ts';
import type { Json, JsonObject } from './v2.ts';

const message = {
  success: true,
  payer: '0x742d35cc6634c0532925a3b844bc454e4438f44e',
  transaction: `0x${'11'.repeat(32)}`,
  network: 'eip155:84532',
} satisfies JsonObject;

function detailOf(json: Json): string {
  const outcome = readSettlementResponse(json);
  assert.ok(!outcome.ok, 'the response is accepted');
  return outcome.refusal.detail ?? '';
}

test('a settlement makes the round trip in the order of the reference types', () => {
  const full = {
    ...message,
    success: false,
    errorReason: 'settlement_pending',
    amount: '10000',
    extensions: { 'offer-receipt': { info: {} } },
    extra: { channel: '0x01' },
  };
  const outcome = decodePaymentResponse(sealHeader(full));
  assert.ok(outcome.ok);
  assert.equal(outcome.value.amount, 10000n);
  const written = JSON.parse(Buffer.from(encodePaymentResponse(outcome.value), 'base64').toString());
  assert.deepEqual(written, full);
  assert.deepEqual(Object.keys(written), [
    'success',
    'errorReason',
    'payer',
    'transaction',
    'network',
    'amount',
    'extensions',
    'extra',
  ]);
});

test('P08, BUG-007: a settlement whose optional members are null is a settlement without them', () => {
  const outcome = readSettlementResponse({
    ...message,
    payer: null,
    extra: null,
    errorReason: null,
    amount: null,
    extensions: null,
  });
  assert.ok(outcome.ok);
  assert.deepEqual(Object.keys(outcome.value), ['success', 'transaction', 'network']);
});

test('BUG-041: success is true or false and nothing like it', () => {
  for (const success of ['true', 1, 'false', {}, []]) {
    assert.match(detailOf({ ...message, success }), /^success: expected true or false/);
  }
  assert.match(detailOf({}), /^success: expected true or false, got nothing/);
  assert.match(detailOf({ success: false }), /^transaction: expected a string/);
});

test('nothing broadcast is an empty transaction, which must be said', () => {
  assert.ok(readSettlementResponse({ ...message, success: false, transaction: '' }).ok);
  assert.match(detailOf({ ...message, transaction: null }), /^transaction: /);
  assert.match(detailOf({ ...message, transaction: '0x12 34' }), /^transaction: expected a transaction id/);
  assert.match(detailOf({ ...message, transaction: 7 }), /^transaction: expected a string, got a number/);
});

test('P05, P07: members of the wrong form are named', () => {
  assert.match(detailOf({ ...message, amount: 10000 }), /^amount: expected atomic units/);
  assert.match(detailOf({ ...message, amount: '0x10' }), /^amount: expected atomic units/);
  assert.match(detailOf({ ...message, payer: ['0x1'] }), /^payer: expected a string, got an array/);
  assert.match(detailOf({ ...message, network: 'eip155:08453' }), /^network: expected a canonical CAIP-2/);
  assert.match(detailOf({ ...message, extensions: 'x' }), /^extensions: expected an object/);
});

test('a settlement has no version, so a stray one does not hide what is wrong', () => {
  const outcome = readSettlementResponse({ ...message, x402Version: 3, success: 'true' });
  assert.ok(!outcome.ok);
  assert.equal(outcome.refusal.code, 'payment_malformed');
  assert.ok(readSettlementResponse({ ...message, x402Version: 3 }).ok);
});

test('a message of version 1 or of M2MCent is refused as another dialect', () => {
  for (const json of [
    { ...message, network: 'base-sepolia' },
    { x402Version: 2, status: 'settled', network: 'eip155:8453', txHash: '0x4a' },
  ]) {
    const outcome = readSettlementResponse(json);
    assert.ok(!outcome.ok);
    assert.equal(outcome.refusal.code, 'payment_version_unsupported');
  }
});
