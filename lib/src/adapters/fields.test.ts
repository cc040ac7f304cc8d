import assert from 'node:assert/strict';
import { test } from 'node:test';
import { foreignFields, isFieldValue, without } from './fields.ts';

test('H11: a value that would end its line, or that is no octets, cannot be sent', () => {
  for (const value of ['', 'plain', 'tab\there', 'Jos\xe9', '~!"#']) assert.ok(isFieldValue(value), value);
  for (const value of ['a\rb', 'a\nb', 'a\0b', 'a\x7fb', 'a\x01b', 'caf\u2014', '\u0141'])
    assert.ok(!isFieldValue(value), JSON.stringify(value));
});

test('what stood there before the handler is no part of its answer, unless it was changed', () => {
  const before = [
    ['x-id', '7'],
    ['vary', 'origin'],
  ] as const;
  assert.deepEqual(
    without(before, [
      ['x-id', '7'],
      ['vary', 'origin, accept'],
      ['x-own', '1'],
    ]),
    [
      ['vary', 'origin, accept'],
      ['x-own', '1'],
    ],
  );
  assert.deepEqual(without([], [['x-id', '7']]), [['x-id', '7']]);
});

test('H06: no field that a cache could act on survives from before the gate', () => {
  for (const name of ['cache-control', 'expires', 'x-accel-expires', 'etag', 'last-modified'])
    assert.ok(foreignFields.includes(name), name);
});
