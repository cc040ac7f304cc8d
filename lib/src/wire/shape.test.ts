/** The inspection of a message finds everything at once and lets nothing out that has a fault. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  amount,
  boolean,
  conclude,
  inspect,
  nested,
  nestedList,
  optionalNested,
  positiveInteger,
  present,
  schemeText,
  text,
} from './shape.ts';
import type { JsonObject } from './v2.ts';

test('every fault of a message is found in one look', () => {
  const shape = inspect({ a: { scheme: 1 }, b: [{}, 7], d: 'x' });
  text(nested(shape, 'a'), 'scheme', schemeText);
  for (const entry of nestedList(shape, 'b')) amount(entry, 'amount');
  boolean(shape, 'c');
  positiveInteger(shape, 'd');
  assert.deepEqual(shape.findings, [
    'a.scheme: expected a string, got a number',
    'b[1]: expected an object, got a number',
    'b[0].amount: expected atomic units as a decimal string, got nothing',
    'c: expected true or false, got nothing',
    'd: expected a whole number of at least 1, got a string',
  ]);
});

test('a missing object is one fault and not one for each member', () => {
  const shape = inspect({});
  const inner = nested(nested(shape, 'accepted'), 'extra');
  text(inner, 'scheme', schemeText);
  assert.deepEqual(shape.findings, ['accepted: expected an object, got nothing']);
  assert.equal(optionalNested(shape, 'resource'), undefined);
});

test('no value leaves while there is a fault, and the first fault is the reason', () => {
  const shape = inspect({});
  const value = { scheme: text(shape, 'scheme', schemeText), amount: amount(shape, 'amount') };
  assert.deepEqual(conclude(shape, value), {
    ok: false,
    refusal: { code: 'payment_malformed', detail: 'scheme: expected a string, got nothing' },
  });
  assert.deepEqual(conclude(inspect({}), 1), { ok: true, value: 1 });
});

test('P04: a message of a thousand faults is told of the first twenty', () => {
  const shape = inspect({ list: Array.from({ length: 1000 }, () => 7) });
  nestedList(shape, 'list');
  assert.equal(shape.findings.length, 20);
});

test('undefined members are absent in what is built', () => {
  const built = present<JsonObject>({ a: 1, b: undefined });
  assert.deepEqual(Object.keys(built), ['a']);
  assert.ok(Object.isFrozen(built));
});
