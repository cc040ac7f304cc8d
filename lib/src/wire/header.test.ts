/** The envelope that the three headers share. */

import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { test } from 'node:test';
import { maxHeaderLength, openHeader, sealHeader } from './header.ts';

function refusalOf(value: string): { readonly code: string; readonly detail: string } {
  const opened = openHeader(value);
  assert.ok(!opened.ok, 'the header is accepted');
  return { code: opened.refusal.code, detail: opened.refusal.detail ?? '' };
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

test('BUG-008: what is no header is refused at the edge with a stable code and a reason', () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ['', /^header: empty$/],
    [base64('not-json'), /^JSON: not JSON \(position 0\)$/],
    [base64('null'), /^message: expected an object$/],
    [base64('[]'), /^message: expected an object$/],
    [base64('"x"'), /^message: expected an object$/],
    [base64('7'), /^message: expected an object$/],
    [base64('{"a":1,"a":2}'), /^JSON: a key stands twice/],
    ['e30=\n', /^base64: a character outside the base64 alphabets \(position 3\)$/],
    ['e30=, e30=', /two headers may have been joined$/],
    [Buffer.from([0x7b, 0xff, 0x7d]).toString('base64'), /^JSON: not valid UTF-8 \(position 1\)$/],
  ];
  for (const [value, detail] of cases) {
    const refusal = refusalOf(value);
    assert.equal(refusal.code, 'payment_malformed');
    assert.match(refusal.detail, detail);
  }
});

test('P04: a header over 12 KiB is refused before it is decoded', () => {
  assert.equal(refusalOf('A'.repeat(maxHeaderLength + 1)).code, 'header_too_large');
  assert.equal(refusalOf('!'.repeat(maxHeaderLength + 1)).code, 'header_too_large');
  assert.equal(refusalOf('A'.repeat(maxHeaderLength)).code, 'payment_malformed');
});

test('P04: a bomb of brackets in a header is refused for its depth', () => {
  assert.match(refusalOf(base64('['.repeat(5000))).detail, /nested deeper than 32 levels \(position 32\)/);
});

test('a refusal never repeats what was sent', () => {
  const long = 'secret'.repeat(1000);
  for (const value of [
    long,
    base64(long),
    base64(`{"${long}":1,"${long}":2}`),
    base64(JSON.stringify({ a: long }).slice(0, -1)),
  ]) {
    const { detail } = refusalOf(value);
    assert.ok(detail.length < 120 && !detail.includes('secret'), detail);
  }
});

test('BUG-002: a header is ASCII whatever its texts hold', () => {
  for (const text of ['Café — ☕', '日本語', '\u0000\u202e\u2028', '5 €', '\u{1f600}']) {
    const value = sealHeader({ description: text });
    assert.match(value, /^[A-Za-z0-9+/]+={0,2}$/);
    const opened = openHeader(value);
    assert.ok(opened.ok);
    assert.equal(opened.value.description, text);
  }
});

test('BUG-002, P06: half a surrogate pair in a description does not spoil the header', () => {
  const opened = openHeader(sealHeader({ description: 'broken \ud83d emoji', kept: 'a \\ud83d literal' }));
  assert.ok(opened.ok);
  assert.equal(opened.value.description, 'broken \ufffd emoji');
  assert.equal(opened.value.kept, 'a \\ud83d literal');
});
