import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { canonicalJson } from './jcs.ts';

const plain = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constant(null),
    fc.boolean(),
    fc.maxSafeInteger(),
    fc.string({ unit: 'grapheme' }),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(fc.string({ unit: 'grapheme' }), tie('value'), { maxKeys: 5 }),
  ),
})).value;

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, item]) => [key, reversed(item)] as const);
  return Object.fromEntries(entries.reverse());
}

test('the members of RFC 8785 are sorted by UTF-16 units and written without white space', () => {
  const value = { '\u20ac': 1, '\r': 2, '\ufb33': 3, 1: 4, '\ud83d\ude00': 5, '\u0080': 6, '\u00f6': 7 };
  assert.equal(
    canonicalJson(value),
    '{"\\r":2,"1":4,"\u0080":6,"\u00f6":7,"\u20ac":1,"\ud83d\ude00":5,"\ufb33":3}',
  );
  assert.equal(
    canonicalJson([{ b: [true, null], a: '\u000f"\\/' }]),
    '[{"a":"\\u000f\\"\\\\/","b":[true,null]}]',
  );
});

test('the text does not depend on the order of members, and reads back as the same value', () => {
  fc.assert(
    fc.property(plain, (value) => {
      const text = canonicalJson(value);
      assert.ok(text !== undefined);
      assert.equal(canonicalJson(reversed(value)), text);
      assert.equal(canonicalJson(JSON.parse(text)), text);
    }),
    { numRuns: 300 },
  );
});

test('objects without a prototype are taken, as the strict parser makes them', () => {
  assert.equal(canonicalJson(Object.assign(Object.create(null), { b: 1, a: 2 })), '{"a":2,"b":1}');
});

test('what JSON cannot carry to every reader alike has no canonical form', () => {
  const values: readonly unknown[] = [
    undefined,
    1.5,
    2 ** 53,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    1n,
    '\ud800',
    { '\udc00': 1 },
    () => 1,
    Symbol('s'),
    new Date(0),
    new Map(),
    new Uint8Array(1),
    Object('boxed'),
    { toJSON: () => 1 },
    [undefined],
    // biome-ignore lint/suspicious/noSparseArray: a hole is what is tested
    [1, , 2],
    { a: undefined },
  ];
  for (const value of values) {
    assert.equal(canonicalJson(value), undefined);
    assert.equal(canonicalJson({ inside: [value] }), undefined);
  }
});

test('P04: more than 32 levels, or a circle, have no canonical form', () => {
  const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)]);
  assert.equal(typeof canonicalJson(nested(32)), 'string');
  assert.equal(canonicalJson(nested(33)), undefined);
  const circle: unknown[] = [];
  circle.push(circle);
  assert.equal(canonicalJson(circle), undefined);
});
