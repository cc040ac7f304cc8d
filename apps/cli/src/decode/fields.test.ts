import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeHeader, encodeBase64Text } from 'counterfoil/wire';
import { fullFields } from './fields.ts';

const signature = `0x${'ab'.repeat(65)}`;
const message = {
  payload: { signature, authorization: { nonce: '0x01' }, list: [], none: null, deep: [{ a: 1 }] },
};

test('in full means the signature in full, and otherwise the same rows as in short', () => {
  const value = encodeBase64Text(JSON.stringify(message));
  const full = fullFields(value);
  const short = describeHeader(value).fields;
  assert.deepEqual(
    full.map(({ path }) => path),
    short.map(({ path }) => path),
  );
  assert.deepEqual(full[0], { path: 'payload.signature', value: signature });
  assert.notEqual(short[0]?.value, signature);
});

test('JSON is read as it is, and what cannot be opened has no rows', () => {
  assert.deepEqual(fullFields('["a"]'), [{ path: 'message[0]', value: 'a' }]);
  for (const text of ['!!', '{"a":', encodeBase64Text('{"a":1,"a":2}'), 'A'.repeat(70_000)])
    assert.deepEqual(fullFields(text), [], text.slice(0, 10));
});

test('P06: in full is still escaped, names and values', () => {
  const [field] = fullFields(JSON.stringify({ '\u001b[2J': '\u001b]0;owned\u0007\u202e' }));
  assert.deepEqual(field, { path: '\\u{1b}[2J', value: '\\u{1b}]0;owned\\u{7}\\u{202e}' });
});

test('P04: a message of a million members prints two thousand', () => {
  assert.equal(fullFields(JSON.stringify(Array.from({ length: 20_000 }, () => 1))).length, 2_000);
});
