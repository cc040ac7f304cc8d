/** Strict UTF-8. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decodeUtf8, encodeUtf8, utf8FaultAt } from './utf8.ts';

test('P06: text survives the way to bytes and back, byte order mark included', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      assert.equal(decodeUtf8(encodeUtf8(`\ufeff${text}`)), `\ufeff${text}`);
    }),
  );
});

test('P06: invalid bytes are refused and their place is named', () => {
  const cases: readonly (readonly [number, readonly number[]])[] = [
    [0, [0xff]],
    [1, [0x61, 0x80]],
    [2, [0x61, 0xc3, 0x28]],
    [2, [0x61, 0xc3]],
    [1, [0xe2, 0x28, 0xa1]],
  ];
  for (const [at, bytes] of cases) {
    assert.equal(decodeUtf8(Uint8Array.from(bytes)), undefined);
    assert.equal(utf8FaultAt(Uint8Array.from(bytes)), at);
  }
});

test('P06: a lone surrogate has no bytes', () => {
  assert.throws(() => encodeUtf8('\ud800'), TypeError);
});
