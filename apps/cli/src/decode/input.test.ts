import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeBase64Text } from 'counterfoil/wire';
import fc from 'fast-check';
import { splitInput } from './input.ts';

const value = encodeBase64Text('{"x402Version":2}');

test('a value, a line and a whole answer give the same header', () => {
  const named = [{ name: 'PAYMENT-REQUIRED', value }];
  assert.deepEqual(splitInput(value), [{ name: undefined, value }]);
  assert.deepEqual(splitInput(` PAYMENT-REQUIRED: ${value}\r\n`), named);
  assert.deepEqual(
    splitInput(`HTTP/1.1 402 Payment Required\r\nDate: now\r\nPAYMENT-REQUIRED: ${value}\r\n\r\n{"a":1}`),
    named,
  );
  assert.deepEqual(splitInput(`< HTTP/1.1 402\n< PAYMENT-REQUIRED: ${value}\n`), named);
});

test('an answer with two payment headers gives both, in their order', () => {
  const names = splitInput(`PAYMENT-RESPONSE: ${value}\nX-PAYMENT: ${value}`).map(({ name }) => name);
  assert.deepEqual(names, ['PAYMENT-RESPONSE', 'X-PAYMENT']);
});

test('a version 1 seller asks in the body of its 402', () => {
  assert.deepEqual(splitInput('HTTP/1.1 402\r\nserver: x\r\n\r\n{"x402Version":1}'), [
    { name: undefined, value: '{"x402Version":1}' },
  ]);
  assert.deepEqual(splitInput('{"x402Version":1}'), [{ name: undefined, value: '{"x402Version":1}' }]);
});

test('a value that a terminal folded is whole again', () => {
  assert.deepEqual(splitInput(`${value.slice(0, 9)}\n  ${value.slice(9)}`), [{ name: undefined, value }]);
});

test('a header of another name is still looked at', () => {
  assert.deepEqual(splitInput('X-Other: abc'), [{ name: 'X-Other', value: 'abc' }]);
});

test('nothing gives nothing, and any text gives something', () => {
  assert.deepEqual(splitInput(' \r\n '), []);
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      assert.equal(splitInput(text).length > 0, text.trim() !== '');
    }),
  );
});
