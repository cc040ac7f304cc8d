/** PAYMENT-SIGNATURE on the wire. */

import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { test } from 'node:test';
import fc from 'fast-check';
import { sealHeader } from './header.ts';
import {
  decodePaymentSignature,
  encodePaymentSignature,
  readPaymentPayload,
  writePaymentPayload,
} from './signature.ts';
import type { Json, JsonObject, PaymentPayload } from './v2.ts';

const message = {
  x402Version: 2,
  resource: { url: 'http://127.0.0.1/weather' },
  accepted: {
    scheme: 'exact',
    network: 'eip155:84532',
    asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
    amount: '10000',
    payTo: '0x742d35Cc6634C0532925a3b844Bc454e4438f44e',
    maxTimeoutSeconds: 300,
    extra: { name: 'USDC', version: '2' },
  },
  payload: {
    signature: `0x${'ab'.repeat(65)}`,
    authorization: { from: '0x01', value: '10000', nonce: `0x${'cd'.repeat(32)}` },
  },
} satisfies JsonObject;

function decode(header: string): PaymentPayload {
  const outcome = decodePaymentSignature(header);
  assert.ok(outcome.ok, outcome.ok ? '' : outcome.refusal.detail);
  return outcome.value;
}

function codeOf(json: Json): string {
  const outcome = readPaymentPayload(json);
  assert.ok(!outcome.ok, 'the payment is accepted');
  return outcome.refusal.code;
}

function detailOf(json: Json): string {
  const outcome = readPaymentPayload(json);
  assert.ok(!outcome.ok, 'the payment is accepted');
  return outcome.refusal.detail ?? '';
}

test('a stock payment is read, and its scheme payload is kept as it came', () => {
  const payment = decode(sealHeader(message));
  assert.equal(payment.accepted.amount, 10000n);
  assert.equal(JSON.stringify(payment.payload), JSON.stringify(message.payload));
  assert.equal(Buffer.from(encodePaymentSignature(payment), 'base64').toString(), JSON.stringify(message));
});

test('BUG-008: an empty object, null and text that is no JSON are refused by name', () => {
  for (const header of ['bm90LWpzb24=', 'e30=', 'bnVsbA==']) {
    const outcome = decodePaymentSignature(header);
    assert.ok(!outcome.ok);
    assert.equal(outcome.refusal.code, 'payment_malformed');
  }
  assert.equal(detailOf({}), 'x402Version: expected the number 2');
});

test('P07: roots and members of the wrong type are refused and named', () => {
  const cases: readonly (readonly [Json, string])[] = [
    [null, 'message: expected an object, got null'],
    [[message], 'message: expected an object, got an array'],
    [7, 'message: expected an object, got a number'],
    [{ ...message, accepted: [] }, 'accepted: expected an object, got an array'],
    [{ ...message, accepted: null }, 'accepted: expected an object, got nothing'],
    [{ ...message, payload: [] }, 'payload: expected an object, got an array'],
    [{ ...message, payload: '{}' }, 'payload: expected an object, got a string'],
    [{ ...message, resource: [] }, 'resource: expected an object, got an array'],
    [{ ...message, resource: {} }, 'resource.url: expected a string, got nothing'],
    [
      { ...message, accepted: { ...message.accepted, amount: 1 } },
      'accepted.amount: expected atomic units as a decimal string below 2^256, got a number',
    ],
    [{ ...message, x402Version: '2' }, 'x402Version: expected the number 2'],
  ];
  for (const [json, detail] of cases) assert.equal(detailOf(json), detail);
});

test('another version is refused as such, whatever else is in the message', () => {
  for (const x402Version of [0, 1, 3, 99, 2.5])
    assert.equal(codeOf({ ...message, x402Version }), 'payment_version_unsupported');
  for (const x402Version of [null, '2', true, [2]])
    assert.equal(codeOf({ ...message, x402Version }), 'payment_malformed');
});

test('P08, BUG-007: null members count as absent', () => {
  const outcome = readPaymentPayload({
    ...message,
    resource: null,
    extensions: null,
    accepted: { ...message.accepted, extra: null },
  });
  assert.ok(outcome.ok);
  assert.deepEqual(Object.keys(outcome.value), ['x402Version', 'accepted', 'payload']);
  assert.equal(JSON.stringify(writePaymentPayload(outcome.value)).includes('null'), false);
});

/** Shuffles members, adds junk, escapes letters and inserts white space: other bytes of the same message. */
function respell(json: Json, random: () => number): string {
  const space = ['', ' ', '\n', '\t'][Math.floor(random() * 4)];
  if (typeof json === 'string' && json !== '' && random() < 0.3) {
    return `"\\u${json.charCodeAt(0).toString(16).padStart(4, '0')}${JSON.stringify(json.slice(1)).slice(1)}`;
  }
  if (typeof json !== 'object' || json === null) return JSON.stringify(json);
  if (Array.isArray(json)) return `[${json.map((entry) => respell(entry, random)).join(`${space},`)}]`;
  const members = Object.entries(json).map(
    ([key, value]) => `${respell(key, random)}${space}:${respell(value, random)}`,
  );
  members.sort(() => random() - 0.5);
  return `{${space}${members.join(`,${space}`)}}`;
}

test('C05: one thousand spellings of one header are one message', () => {
  const expected = JSON.stringify(writePaymentPayload(decode(sealHeader(message))));
  const unit = fc.integer({ min: 0, max: 999 }).map((value) => value / 1000);
  const seen = new Set<string>();
  const spelling = fc.tuple(fc.infiniteStream(unit), fc.boolean(), fc.boolean(), fc.boolean());
  fc.assert(
    fc.property(spelling, ([stream, junk, urlSafe, padded]) => {
      const random = (): number => stream.next().value;
      const text = respell(junk ? { ...message, junk: [{ resource: 'x' }] } : message, random);
      const header = Buffer.from(text).toString(urlSafe ? 'base64url' : 'base64');
      const sent = padded ? header.padEnd(Math.ceil(header.length / 4) * 4, '=') : header.replace(/=+$/, '');
      seen.add(sent);
      assert.equal(canonical(decode(sent)), canonical(JSON.parse(expected)));
    }),
    { numRuns: 1000 },
  );
  assert.ok(seen.size > 900, `only ${seen.size} spellings`);
});

/** JSON with sorted members, amounts as strings. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, member) => {
    if (typeof member === 'bigint') return member.toString();
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member;
    return Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
