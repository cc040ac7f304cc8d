/** Hex has one spelling after it was read. */

import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { test } from 'node:test';
import fc from 'fast-check';
import { decodeHex, encodeHex, parseAddress, parseBytes32, parseHex } from './hex.ts';

const address = '0x742d35cc6634c0532925a3b844bc454e4438f44e';
const nonce = `0x${'0f'.repeat(32)}`;

test('C05: any case of digits after 0x is the same address, nonce and bytes', () => {
  fc.assert(
    fc.property(fc.array(fc.boolean(), { minLength: 64, maxLength: 64 }), (upper) => {
      const respell = (text: string) =>
        `0x${[...text.slice(2)].map((digit, at) => (upper[at] ? digit.toUpperCase() : digit)).join('')}`;
      assert.equal(parseAddress(respell(address)), address);
      assert.equal(parseBytes32(respell(nonce)), nonce);
      assert.equal(parseHex(respell(nonce), 32), nonce);
      assert.deepEqual(decodeHex(respell(nonce)), decodeHex(nonce));
    }),
  );
});

test('C05: 0X, white space, other lengths and other digits are refused', () => {
  const bend: readonly ((text: string) => string)[] = [
    (text) => text.replace('0x', '0X'),
    (text) => text.slice(2),
    (text) => ` ${text}`,
    (text) => `${text}\n`,
    (text) => `${text}0`,
    (text) => text.slice(0, -1),
    (text) => text.replace('f', 'g'),
    (text) => text.replace('f', '\uff46'),
    () => '',
    () => '0x',
  ];
  for (const change of bend) {
    assert.equal(parseAddress(change(address)), undefined);
    assert.equal(parseBytes32(change(nonce)), undefined);
    assert.equal(parseHex(change(nonce), 32), undefined);
  }
  assert.equal(parseHex('0x'), '0x');
  assert.equal(parseHex('0x123'), undefined);
  assert.equal(decodeHex('0X12'), undefined);
});

test('bytes survive the way to hex and back', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
      const hex = encodeHex(bytes);
      assert.equal(hex, `0x${Buffer.from(bytes).toString('hex')}`);
      assert.deepEqual(decodeHex(hex), bytes);
      assert.deepEqual(decodeHex(`0x${hex.slice(2).toUpperCase()}`), bytes);
    }),
  );
});
