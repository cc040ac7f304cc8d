import assert from 'node:assert/strict';
import { test } from 'node:test';
import { holds } from '../part.ts';
import { type Elsewhere, finding } from './elsewhere.ts';

const good: Elsewhere = { status: 409, code: 'payment_already_used', handlerRuns: 0, unusedStatus: 200 };
const official: Elsewhere = { status: 402, code: undefined, handlerRuns: 0, unusedStatus: 200 };

test('S2: a used payment on another resource holds with a 409 and no run', () => {
  const found = finding(good, official);
  assert.equal(holds(found), true);
  assert.deepEqual(found.official, { status: 200, usedStatus: 402, asKnown: true });
});

test('a used payment that is served, or that runs anything, does not hold', () => {
  for (const change of [{ status: 200 }, { status: 402 }, { handlerRuns: 1 }])
    assert.equal(holds(finding({ ...good, ...change }, official)), false, JSON.stringify(change));
});

test('what an unused payment buys decides nothing yet, and is said', () => {
  const found = finding({ ...good, unusedStatus: 402 }, { ...official, unusedStatus: 402 });
  assert.equal(holds(found), true);
  assert.equal(found.notes?.length, 2);
});
