import assert from 'node:assert/strict';
import { test } from 'node:test';
import { holds } from '../part.ts';
import { type Echoed, finding } from './echoed.ts';

const good: Echoed = { status: 402, code: 'resource_mismatch', handlerRuns: 0, ownStatus: 200 };
const official: Echoed = { status: 200, code: undefined, handlerRuns: 1, ownStatus: 402 };

test('S2: a payment for another URL holds when it is refused without a run, and still buys its own', () => {
  const found = finding(good, official);
  assert.equal(holds(found), true);
  assert.deepEqual(found.figures, { status: 402, handlerRuns: 0 });
  assert.deepEqual(found.official, { status: 200, handlerRuns: 1, asKnown: true });
});

test('a payment that buys another URL, or that is lost by trying, does not hold', () => {
  for (const change of [{ status: 200 }, { status: 409 }, { handlerRuns: 1 }, { ownStatus: 402 }])
    assert.equal(holds(finding({ ...good, ...change }, official)), false, JSON.stringify(change));
});

test('an official seller that refuses it is told as a surprise, and changes no verdict', () => {
  const found = finding(good, { ...official, status: 402, handlerRuns: 0 });
  assert.equal(holds(found), true);
  assert.deepEqual([found.official?.asKnown, found.notes?.length], [false, 1]);
});
