/** Base64 of formats section 12.1: two alphabets read, one spelling of the bits. */

import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Base64Fault } from './base64.ts';
import { decodeBase64, encodeBase64, encodeBase64Text } from './base64.ts';

function faultOf(text: string): Base64Fault {
  const result = decodeBase64(text);
  assert.ok(!result.ok, `${text} is accepted`);
  return result.fault;
}

function bytesOf(text: string): Uint8Array {
  const result = decodeBase64(text);
  assert.ok(result.ok, `${text} is refused`);
  return result.value;
}

test('P01: the standard and the URL-safe alphabet are read, padded or not', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      const standard = Buffer.from(bytes).toString('base64');
      const urlSafe = standard.replaceAll('+', '-').replaceAll('/', '_');
      assert.equal(encodeBase64(bytes), standard);
      for (const text of [standard, urlSafe]) {
        assert.deepEqual(bytesOf(text), bytes);
        assert.deepEqual(bytesOf(text.replace(/=+$/, '')), bytes);
      }
    }),
    { numRuns: 500 },
  );
});

test('P01: each byte string has one spelling in each alphabet and padding', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'AQRgw+/-_= \n'), maxLength: 12 }), (text) => {
      const result = decodeBase64(text);
      if (!result.ok) return;
      const standard = text.replaceAll('-', '+').replaceAll('_', '/');
      assert.equal(encodeBase64(result.value).replace(/=+$/, ''), standard.replace(/=+$/, ''));
    }),
    { numRuns: 3000 },
  );
});

test('P01: other characters, white space, mixed alphabets, wrong padding and loose bits are refused by name', () => {
  const cases: readonly (readonly [Base64Fault, readonly string[]])[] = [
    [
      'character',
      [
        'QU JD',
        'QUJD\n',
        ' QUJD',
        'QUJD\r\n',
        'QUJ!',
        'QUJ\u0130',
        'QUJ\uff21',
        '====',
        'QQ=Q',
        'Q===',
        'QUJD,QUJD',
      ],
    ],
    ['mixed_alphabets', ['+A-A', '_A/A', 'AAA+AAA-', '-/A=']],
    ['padding', ['QUJD=', 'QUJD==', 'QQ=', 'QUI==']],
    ['length', ['Q', 'QUJDQ']],
    ['trailing_bits', ['QR==', 'QR', 'QS==', 'QU==', 'QY==', 'QUG=', 'QUF=', 'QUF', 'Q_==']],
  ];
  for (const [fault, texts] of cases)
    for (const text of texts) assert.equal(faultOf(text), fault, JSON.stringify(text));
});

test('a fault names the position of the character', () => {
  assert.deepEqual(decodeBase64('QUJDQ?JD'), { ok: false, fault: 'character', at: 5 });
  assert.deepEqual(decodeBase64('QUJD+UJ-'), { ok: false, fault: 'mixed_alphabets', at: 7 });
});

test('nothing is the base64 of no bytes', () => {
  assert.deepEqual(bytesOf(''), new Uint8Array());
  assert.equal(encodeBase64(new Uint8Array()), '');
});

test('BUG-001: text of any script is encoded as its UTF-8 bytes', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      assert.equal(encodeBase64Text(text), Buffer.from(text).toString('base64'));
    }),
  );
  assert.equal(
    encodeBase64Text('Informe diario — 5 €'),
    Buffer.from('Informe diario — 5 €').toString('base64'),
  );
  assert.equal(
    encodeBase64Text('\u0000\u001f\u007f\u0080\u00ff'),
    Buffer.from('\u0000\u001f\u007f\u0080\u00ff').toString('base64'),
  );
});
