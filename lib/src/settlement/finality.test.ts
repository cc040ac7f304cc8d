import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { checkFinality, mostConfirmations, parseFinality } from './finality.ts';

test('a finality is one of three names or a whole number of confirmations, however it is given', () => {
  for (const name of ['latest', 'safe', 'finalized'] as const) {
    assert.equal(parseFinality(name), name);
    assert.equal(checkFinality(name), name);
  }
  for (const confirmations of [1, 12, mostConfirmations]) {
    assert.equal(parseFinality(String(confirmations)), confirmations);
    assert.equal(checkFinality(confirmations), confirmations);
  }
});

test('anything else is none: on a command line it is not read, in a program it is a mistake', () => {
  for (const text of [
    '',
    '0',
    '-1',
    '01',
    '1.5',
    '1e2',
    ' 1',
    '1 ',
    '1001',
    '0x1',
    'Latest',
    'pending',
    '१',
  ]) {
    assert.equal(parseFinality(text), undefined, text);
  }
  for (const value of [
    0,
    -1,
    1.5,
    1001,
    Number.NaN,
    Infinity,
    '12',
    'pending',
    '',
    null,
    undefined,
    5n,
    {},
  ]) {
    assert.throws(() => checkFinality(value), TypeError);
  }
});

test('whatever is read from a text passes the check of a program', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.integer().map(String)), (text) => {
      const read = parseFinality(text);
      return read === undefined || checkFinality(read) === read;
    }),
  );
});
