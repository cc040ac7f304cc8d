/** What a person is told of a header. */

import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { test } from 'node:test';
import fc from 'fast-check';
import { describeHeader } from './describe.ts';
import { sealHeader } from './header.ts';

const signature = `0x${'ab'.repeat(65)}`;
const nonce = `0x${'cd'.repeat(32)}`;
const accepted = {
  scheme: 'exact',
  network: 'eip155:84532',
  asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
  amount: '10000',
  payTo: '0x742d35Cc6634C0532925a3b844Bc454e4438f44e',
  maxTimeoutSeconds: 300,
};
const payment = { x402Version: 2, accepted, payload: { signature, authorization: { nonce } } };

function field(description: ReturnType<typeof describeHeader>, path: string): string | undefined {
  return description.fields.find((entry) => entry.path === path)?.value;
}

test('a good header is described without problems, from its value, its line or its name', () => {
  const value = sealHeader(payment);
  for (const seen of [
    describeHeader(value),
    describeHeader(`PAYMENT-SIGNATURE: ${value}\r\n`),
    describeHeader(value, { name: 'payment-signature' }),
  ]) {
    assert.deepEqual(
      [seen.dialect, seen.kind, seen.encoding, seen.problems, seen.advice],
      ['v2', 'signature', 'base64', [], []],
    );
    assert.equal(seen.length, value.length);
    assert.equal(field(seen, 'accepted.amount'), '10000');
    assert.equal(field(seen, 'payload.authorization.nonce'), nonce);
  }
});

test('a signature is never printed in full', () => {
  const text = JSON.stringify(describeHeader(sealHeader(payment)));
  assert.ok(!text.includes(signature));
  assert.match(text, /0xabababab…abab \(132 characters\)/);
});

test('all problems are listed, each with its path', () => {
  const seen = describeHeader(
    sealHeader({ ...payment, accepted: { ...accepted, amount: 1, network: 'base' }, payload: [] }),
  );
  assert.equal(seen.problems.length, 3);
  assert.match(seen.problems.join('\n'), /accepted\.network.*\naccepted\.amount.*\npayload/);
});

test('foreign dialects are named with their advice and without our own complaints', () => {
  const v1 = describeHeader(
    JSON.stringify({ x402Version: 1, accepts: [{ network: 'base', maxAmountRequired: '1' }] }),
  );
  assert.deepEqual([v1.dialect, v1.kind, v1.encoding, v1.problems.length], ['v1', 'required', 'json', 1]);
  assert.match(v1.advice.join(' '), /Rename maxAmountRequired.*eip155:8453/);
  const m2m = describeHeader(
    sealHeader({ x402Version: 2, selectedNetwork: 'eip155:8453', scheme: 'exact', authorization: { v: 27 } }),
  );
  assert.deepEqual([m2m.dialect, m2m.kind], ['m2mcent', 'signature']);
  assert.match(m2m.problems.join(' '), /M2MCent/);
});

test('what cannot be opened says why', () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ['', /empty/],
    ['!!', /outside the base64 alphabets/],
    ['e30=, e30=', /joined/],
    [Buffer.from('{"a":1,"a":2}').toString('base64'), /stands twice/],
    ['{"a":1', /ends too early/],
    ['A'.repeat(70_000), /longer than/],
    [sealHeader({}), /Nothing in it belongs/],
    ['"x"', /expected an object, got a string/],
  ];
  for (const [text, problem] of cases)
    assert.match(describeHeader(text).problems.join(' '), problem, text.slice(0, 20));
});

test('a message in the wrong header is told', () => {
  const value = sealHeader(payment);
  assert.match(
    describeHeader(`PAYMENT-RESPONSE: ${value}`).problems.join(' '),
    /carries another message \(response\) than this one \(signature\)/,
  );
  assert.match(describeHeader(`X-PAYMENT: ${value}`).problems.join(' '), /Version 2 does not travel/);
  assert.match(describeHeader(`X-Payment-Amount: 0.01`).problems.join(' '), /No published version/);
  assert.match(describeHeader(`X-Other: ${value}`).problems.join(' '), /no header of this name/);
});

test('a header over the limit is described and told to be too long', () => {
  const seen = describeHeader(sealHeader({ ...payment, extensions: { x: 'y'.repeat(12_000) } }));
  assert.equal(seen.dialect, 'v2');
  assert.match(seen.problems.join(' '), /longer than 12288/);
});

test('P06: nothing of a message reaches the terminal unescaped or at length', () => {
  const hostile = {
    ...payment,
    extensions: { '\u001b[2J\u202e': '\u001b]0;owned\u0007'.repeat(500), list: [], none: {}, zero: null },
  };
  const seen = describeHeader(sealHeader(hostile), { name: '\u001b[31m' });
  for (const text of [
    seen.name ?? '',
    ...seen.problems,
    ...seen.fields.flatMap((entry) => [entry.path, entry.value]),
  ]) {
    assert.match(text, /^[^\p{C}]*$/u);
    assert.ok(text.length < 2500);
  }
  assert.equal(field(seen, 'extensions.list'), '[]');
  assert.equal(field(seen, 'extensions.none'), '{}');
});

test('P04: a message of ten thousand members prints two hundred', () => {
  assert.equal(describeHeader(JSON.stringify(Array.from({ length: 10_000 }, () => 1))).fields.length, 200);
});

test('P07: any text is described without an exception', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.json(), fc.base64String()), (text) => {
      assert.ok(Array.isArray(describeHeader(text).problems));
    }),
    { numRuns: 2000 },
  );
});

test('an unknown option is a mistake of the programmer', () => {
  assert.throws(() => describeHeader('e30=', { name: 'x', nmae: 'x' } as { name: string }), TypeError);
});
