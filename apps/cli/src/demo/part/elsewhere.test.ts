import assert from 'node:assert/strict';
import { test } from 'node:test';
import { holds } from '../part.ts';
import { type Elsewhere, finding } from './elsewhere.ts';

const good: Elsewhere = {
  status: 409,
  code: 'payment_already_used',
  handlerRuns: 0,
  unusedStatus: 402,
  unusedRuns: 0,
};
const official: Elsewhere = {
  status: 402,
  code: undefined,
  handlerRuns: 0,
  unusedStatus: 200,
  unusedRuns: 1,
};

test('S2: a used payment on another resource holds with a 409 and no run, an unused one with a 402 and no run', () => {
  const found = finding(good, official);
  assert.equal(holds(found), true);
  assert.deepEqual(found.official, { status: 200, usedStatus: 402, asKnown: true });
});

test('a payment that is served elsewhere, or that runs anything there, does not hold', () => {
  const wrong: Partial<Elsewhere>[] = [
    { status: 200 },
    { status: 402 },
    { handlerRuns: 1 },
    { unusedStatus: 200 },
    { unusedStatus: 409 },
    { unusedRuns: 1 },
  ];
  for (const change of wrong)
    assert.equal(holds(finding({ ...good, ...change }, official)), false, JSON.stringify(change));
});

test('an official seller that refuses an unused payment is told as a surprise, and changes no verdict', () => {
  const found = finding(good, { ...official, unusedStatus: 402, unusedRuns: 0 });
  assert.equal(holds(found), true);
  assert.deepEqual([found.official?.asKnown, found.notes?.length], [false, 1]);
});
