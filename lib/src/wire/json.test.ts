/** The strict JSON reader: one text, one meaning, within bounded work. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { JsonFault } from './json.ts';
import { describeJsonFault, isJsonObject, jsonFaults, maxJsonDepth, parseJson } from './json.ts';
import { encodeUtf8 } from './utf8.ts';
import type { Json } from './v2.ts';

function parsed(text: string | Uint8Array): Json {
  const result = parseJson(text);
  assert.ok(result.ok, `${String(text)} is refused`);
  return result.value;
}

function faultOf(text: string | Uint8Array, maxLength?: number): JsonFault {
  const result = maxLength === undefined ? parseJson(text) : parseJson(text, { maxLength });
  assert.ok(!result.ok, `${String(text).slice(0, 80)} is accepted`);
  return result.fault;
}

test('a text that JSON.parse reads without surprise gives the same value', () => {
  const texts = [
    '{}',
    '[]',
    ' [1, 2.5,\n-3e2 ,true,false,null,"x"]\t',
    '"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9"',
    '{"a":{"b":[{}]}}',
  ];
  for (const text of texts) assert.equal(JSON.stringify(parsed(text)), JSON.stringify(JSON.parse(text)));
});

test('any JSON value within the rules is read as JSON.parse reads it, from text and from bytes', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), fc.constantFrom(undefined, 1, '\t'), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      const result = parseJson(text, { maxLength: 1e6 });
      if (!result.ok)
        return ['forbidden_key', 'number_out_of_range', 'lone_surrogate'].includes(result.fault);
      assert.equal(JSON.stringify(result.value), JSON.stringify(JSON.parse(text)));
      assert.deepEqual(parseJson(encodeUtf8(text), { maxLength: 1e6 }), result);
      return true;
    }),
    { numRuns: 1000 },
  );
});

test('whatever is accepted, JSON.parse accepts with an equal value', () => {
  const alphabet = fc.constantFrom(...'{}[]:,"\\ue019.-+Etruefalsn \n\ud83d\u00e9');
  fc.assert(
    fc.property(fc.array(alphabet, { maxLength: 30 }), (characters) => {
      const text = characters.join('');
      const result = parseJson(text);
      if (result.ok) assert.equal(JSON.stringify(result.value), JSON.stringify(JSON.parse(text)));
    }),
    { numRuns: 5000 },
  );
});

test('P02, BUG-067: a key that stands twice is refused at any depth and in any spelling', () => {
  for (const text of [
    '{"x402Version":1,"x402Version":2}',
    '{"a":{"b":[{"amount":"1","amount":"1000000"}]}}',
    '{"amount":"1","\\u0061mount":"2"}',
    '{"":1,"":1}',
  ]) {
    assert.equal(faultOf(text), 'duplicate_key');
  }
  assert.deepEqual(parseJson('{"a":1,"a":2}'), { ok: false, fault: 'duplicate_key', at: 7 });
});

test('P03: names of the prototype are refused and objects have no prototype', () => {
  for (const key of ['__proto__', 'constructor', 'prototype', '\\u005f_proto__']) {
    assert.equal(faultOf(`{"a":{"${key}":{"polluted":true}}}`), 'forbidden_key');
  }
  assert.equal(({} as Record<string, unknown>).polluted, undefined);
  const value = parsed('{"toString":1,"hasOwnProperty":{}}');
  assert.ok(isJsonObject(value));
  assert.equal(Object.getPrototypeOf(value), null);
  assert.equal(value.toString, 1);
});

test('what is parsed cannot be changed afterwards', () => {
  const value = parsed('{"accepts":[{"amount":"1"}]}');
  assert.ok(isJsonObject(value));
  assert.ok(Object.isFrozen(value) && Object.isFrozen(value.accepts));
  assert.throws(() => Object.assign(value, { accepts: [] }), TypeError);
});

test('P04: nesting deeper than 32 is refused at the 33rd bracket, however long the bomb is', () => {
  for (const bomb of ['['.repeat(5000), '{"a":'.repeat(2000), '[{"a":'.repeat(1000)]) {
    const result = parseJson(bomb);
    assert.ok(!result.ok);
    assert.equal(result.fault, 'too_deep');
    assert.ok(result.at <= maxJsonDepth * 5, `stopped at ${result.at}`);
  }
  const deepest = '['.repeat(maxJsonDepth) + ']'.repeat(maxJsonDepth);
  assert.ok(parseJson(deepest).ok);
  assert.equal(faultOf(`[${deepest}]`), 'too_deep');
});

test('P04: a text over the limit is refused before it is looked at', () => {
  assert.deepEqual(parseJson(`"${'x'.repeat(12 * 1024)}"`), { ok: false, fault: 'too_long', at: 12 * 1024 });
  assert.equal(faultOf(new Uint8Array(11), 10), 'too_long');
  assert.ok(parseJson(`"${'x'.repeat(12 * 1024 - 2)}"`).ok);
});

test('P05: numbers that a double would change are refused', () => {
  for (const text of [
    '9007199254740992',
    '9007199254740993',
    '-9007199254740993',
    '1e400',
    '-1e400',
    '1e21',
    '1e-400',
  ]) {
    assert.equal(faultOf(text), 'number_out_of_range', text);
  }
  for (const text of ['0x10', '01', '1.', '.5', '+1', '-', '1e', 'NaN', 'Infinity', '1_000']) {
    assert.ok(['syntax', 'trailing_data', 'unexpected_end'].includes(faultOf(text)), text);
  }
  assert.deepEqual(
    parsed('[9007199254740991,0.1,-0,0e5,1E2]'),
    Object.freeze([9007199254740991, 0.1, 0, 0, 100]),
  );
});

test('P06, BUG-069, BUG-070: half a surrogate pair is refused, escaped or raw', () => {
  for (const text of [
    '{"k":"\\ud800"}',
    '["\\ude00\\ud83d"]',
    '"\\ud83dx"',
    '"\\ud83d\\u0041"',
    '"\ud800"',
    '"\\ud83d\ude00"',
  ]) {
    assert.equal(faultOf(text), 'lone_surrogate', JSON.stringify(text));
  }
  assert.equal(parsed('"\\ud83d\\ude00"'), '\u{1f600}');
  assert.deepEqual(parseJson('["ab\ude00"]'), { ok: false, fault: 'lone_surrogate', at: 4 });
});

test('P06, BUG-070: bytes that are not UTF-8 are refused and never replaced', () => {
  assert.deepEqual(parseJson(Uint8Array.of(0x5b, 0x22, 0xff, 0x22, 0x5d)), {
    ok: false,
    fault: 'not_utf8',
    at: 2,
  });
  assert.equal(faultOf(Uint8Array.of(0x22, 0xed, 0xa0, 0x80, 0x22)), 'not_utf8');
  assert.equal(faultOf(Uint8Array.of(0x22, 0xc0, 0xaf, 0x22)), 'not_utf8');
});

test('a byte order mark, trailing data and a cut text are refused by name', () => {
  assert.equal(faultOf('\ufeff{}'), 'byte_order_mark');
  assert.equal(faultOf(Uint8Array.of(0xef, 0xbb, 0xbf, 0x7b, 0x7d)), 'byte_order_mark');
  assert.equal(faultOf('{} {}'), 'trailing_data');
  assert.equal(faultOf('1 2'), 'trailing_data');
  for (const text of ['', ' ', '{', '{"a"', '{"a":', '{"a":1', '[1,', '"a', '"\\', '"\\u12', 'tru']) {
    assert.ok(['unexpected_end', 'syntax'].includes(faultOf(text)), text);
  }
  for (const text of [
    '{a:1}',
    "{'a':1}",
    '[1,]',
    '{"a":1,}',
    '[1 2]',
    '"\n"',
    '"\\x41"',
    '/*x*/1',
    'undefined',
    '\u00a01',
  ]) {
    assert.equal(faultOf(text), 'syntax', text);
  }
});

test('every prefix of a message is refused', () => {
  const text = '{"a":[1,{"b":"\\u00e9\\ud83d\\ude00"},true],"c":-1.5e3}';
  for (let length = 0; length < text.length; length += 1)
    assert.equal(parseJson(text.slice(0, length)).ok, false);
});

test('a fault is described without a word of what was sent', () => {
  const secret = parseJson('{"secret-key":1,"secret-key":2}');
  assert.ok(!secret.ok);
  assert.equal(describeJsonFault(secret), `JSON: ${jsonFaults.duplicate_key} (position 16)`);
});
