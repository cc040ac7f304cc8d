import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decodeOctets, decodeUnits } from './octets.ts';

test('well encoded text decodes as everywhere, but for its separators', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      assert.equal(decodeOctets(encodeURIComponent(text)), text.replace(/[/\\]/g, encodeURIComponent));
    }),
    { seed: 5, numRuns: 500 },
  );
});

test('H04: separators stay encoded, as where a router splits first', () => {
  assert.equal(decodeOctets('/%69tem/a%2fb%5Cc%3f'), '/item/a%2fb%5Cc?');
  assert.equal(decodeOctets('/%2569tem%252f'), '/%69tem%2f');
});

test('H04: overlong forms of UTF-8 and raw octets are read as careless decoders read them', () => {
  for (const slash of ['%c0%af', '%e0%80%af', '%f0%80%80%af', '\u00c0\u00af', '%c0\u00af']) {
    assert.equal(decodeOctets(`a${slash}b`), 'a%2Fb', JSON.stringify(slash));
  }
  assert.equal(decodeOctets('%c1%a1'), 'a');
  assert.equal(decodeOctets('\u00c3\u00a9'), '\u00e9');
});

test('octets that are no UTF-8 take no text with them', () => {
  assert.equal(decodeOctets('a%ffb'), 'a\ufffdb');
  assert.equal(decodeOctets('a%e2%82b'), 'a\ufffd\ufffdb');
  assert.equal(decodeOctets('%f7%bf%bf%bf'), '\ufffd\ufffd\ufffd\ufffd');
  assert.equal(decodeOctets('%c0%2f'), '\ufffd%2F');
});

test('broken escapes stay and the others are decoded', () => {
  assert.equal(decodeOctets('%zz%%2%61%2f'), '%zz%%2a%2F');
});

test('the escapes of code units are decoded where somebody does', () => {
  assert.equal(decodeUnits('%u002f%U0061%61%u00'), '/a%61%u00');
});
