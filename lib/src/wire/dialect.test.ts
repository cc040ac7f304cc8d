/** Foreign dialects are recognised by name and refused with what to change. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { explain, recognise, recogniseHeaderName } from './dialect.ts';
import { sealHeader } from './header.ts';
import { decodePaymentRequired, readPaymentRequired } from './required.ts';
import { readPaymentPayload } from './signature.ts';
import type { Json, JsonObject } from './v2.ts';

const v1Required = {
  x402Version: 1,
  error: 'X-PAYMENT header is required',
  accepts: [
    {
      scheme: 'exact',
      network: 'base-sepolia',
      maxAmountRequired: '10000',
      resource: 'http://127.0.0.1/a',
      description: '',
      payTo: '0x1',
      maxTimeoutSeconds: 60,
      asset: '0x2',
    },
  ],
} satisfies JsonObject;

const v1Payment = {
  x402Version: 1,
  scheme: 'exact',
  network: 'base-sepolia',
  payload: { signature: '0x', authorization: {} },
} satisfies JsonObject;

const m2mRequired = {
  x402Version: 2,
  scheme: 'exact',
  accepts: [
    {
      network: 'eip155:8453',
      asset: '0x1',
      amount: '10000',
      payTo: '0x2',
      validUntil: 1787400000,
      resource: 'http://127.0.0.1/v1/audit',
      description: 'Audit',
    },
  ],
  extensions: { bazaar: { name: 'Auditor', slaLatencyMs: 150 } },
} satisfies JsonObject;

const m2mPayment = {
  x402Version: 2,
  selectedNetwork: 'eip155:8453',
  scheme: 'exact',
  authorization: {
    from: '0x1',
    to: '0x2',
    value: '10000',
    validAfter: 1,
    validBefore: 2,
    nonce: '0x3',
    v: 27,
    r: '0x4',
    s: '0x5',
  },
} satisfies JsonObject;

const m2mReceipt = {
  x402Version: 2,
  status: 'settled',
  network: 'eip155:8453',
  txHash: '0x4a',
  blockNumber: 1,
  timestamp: 2,
} satisfies JsonObject;

function adviceOf(json: Json): string {
  return recognise(json).advice.join(' ');
}

test('version 1 is recognised in all three messages', () => {
  const response = { success: true, transaction: '0x1', network: 'base-sepolia' };
  assert.deepEqual([recognise(v1Required).dialect, recognise(v1Required).kind], ['v1', 'required']);
  assert.deepEqual([recognise(v1Payment).dialect, recognise(v1Payment).kind], ['v1', 'signature']);
  assert.deepEqual([recognise(response).dialect, recognise(response).kind], ['v1', 'response']);
  assert.match(adviceOf(v1Required), /maxAmountRequired to amount.*eip155:84532/);
  assert.match(adviceOf(v1Payment), /PAYMENT-SIGNATURE instead of X-PAYMENT.*accepted.*eip155:84532/);
  assert.match(adviceOf(response), /PAYMENT-RESPONSE instead of X-PAYMENT-RESPONSE.*eip155:84532/);
});

test('the M2MCent shape is recognised in all three messages although it says version 2', () => {
  assert.deepEqual([recognise(m2mRequired).dialect, recognise(m2mRequired).kind], ['m2mcent', 'required']);
  assert.deepEqual([recognise(m2mPayment).dialect, recognise(m2mPayment).kind], ['m2mcent', 'signature']);
  assert.deepEqual([recognise(m2mReceipt).dialect, recognise(m2mReceipt).kind], ['m2mcent', 'response']);
  assert.match(adviceOf(m2mRequired), /scheme into each entry.*resource object.*maxTimeoutSeconds/);
  assert.match(adviceOf(m2mPayment), /accepted.*payload\.authorization.*65-byte.*decimal strings/);
  assert.match(adviceOf(m2mReceipt), /status by success.*txHash to transaction/);
});

test('advice names only what is really there', () => {
  const { v, r, s, ...unsigned } = m2mPayment.authorization;
  assert.deepEqual([v, r, s], [27, '0x4', '0x5']);
  const text = adviceOf({ ...m2mPayment, authorization: { ...unsigned, validAfter: '1', validBefore: '2' } });
  assert.doesNotMatch(text, /65-byte|decimal strings/);
});

test('a foreign payment is refused as an unsupported dialect, with the advice and nothing of the payment', () => {
  for (const json of [v1Payment, m2mPayment]) {
    const outcome = readPaymentPayload(json);
    assert.ok(!outcome.ok);
    assert.equal(outcome.refusal.code, 'payment_version_unsupported');
    assert.match(outcome.refusal.detail ?? '', /^This is (?:x402 version 1|the M2MCent shape).*accepted/);
  }
  const required = decodePaymentRequired(sealHeader(m2mRequired));
  assert.ok(!required.ok);
  assert.equal(required.refusal.code, 'payment_version_unsupported');
  assert.equal(readPaymentRequired(v1Required).ok, false);
});

test('a foreign challenge that is sent as a payment is malformed, because no advice would make it one', () => {
  const outcome = readPaymentPayload(m2mRequired);
  assert.ok(!outcome.ok);
  assert.equal(outcome.refusal.code, 'payment_malformed');
});

test('a version 2 message with foreign members beside its own stays version 2', () => {
  const accepted = {
    scheme: 'exact',
    network: 'eip155:8453',
    asset: '0x1',
    amount: '1',
    payTo: '0x2',
    maxTimeoutSeconds: 60,
  };
  const payment = {
    x402Version: 2,
    accepted,
    payload: {},
    authorization: {},
    selectedNetwork: 'eip155:8453',
  };
  assert.equal(recognise(payment).dialect, 'v2');
  assert.ok(readPaymentPayload(payment).ok);
  const broken = readPaymentPayload({ ...payment, accepted: { ...accepted, amount: 1 } });
  assert.ok(!broken.ok);
  assert.equal(broken.refusal.code, 'payment_malformed');
  assert.equal(
    recognise({ x402Version: 2, resource: { url: 'a' }, accepts: [], scheme: 'exact' }).dialect,
    'v2',
  );
});

test('what belongs to no dialect is unknown, and its header name tells the kind', () => {
  for (const json of [null, 7, 'x', [], {}, { hello: 1 }]) {
    assert.deepEqual(recognise(json), { dialect: 'unknown', kind: 'unknown', advice: [] });
  }
  assert.equal(recognise({}, 'Payment-Response').kind, 'response');
  assert.equal(recognise({ x402Version: 1 }).dialect, 'v1');
  assert.equal(recognise({ x402Version: 1 }, 'X-PAYMENT').kind, 'signature');
});

test('the five header names are known in any case', () => {
  assert.deepEqual(recogniseHeaderName('PAYMENT-SIGNATURE'), { kind: 'signature', dialect: 'v2' });
  assert.deepEqual(recogniseHeaderName('x-payment'), { kind: 'signature', dialect: 'v1' });
  assert.deepEqual(recogniseHeaderName('X-Payment-Response'), { kind: 'response', dialect: 'v1' });
  assert.equal(recogniseHeaderName('x-payment-address'), undefined);
});

test('a success passes through unexplained', () => {
  assert.deepEqual(explain({ ok: true, value: 1 }, { json: v1Payment, kind: 'signature' }), {
    ok: true,
    value: 1,
  });
});
