import assert from 'node:assert/strict';
import { test } from 'node:test';
import { holds } from '../part.ts';
import { finding, type Presented, type Required } from './required.ts';

const refused: Presented = { status: 402, code: 'request_commitment_mismatch', handlerRuns: 0 };
const good: Required = {
  ownClient: { status: 200, code: undefined, handlerRuns: 1 },
  otherBody: refused,
  noSalt: { ...refused, code: 'request_commitment_missing' },
  otherMethod: refused,
  otherHost: { status: 421, code: 'foreign_host', handlerRuns: 0 },
  transfers: 1,
};

test('S2: a committed payment holds when it buys its own request and no other body, method or host', () => {
  const found = finding(good);
  assert.equal(holds(found), true);
  assert.deepEqual(found.figures, { otherBody: 402, otherMethod: 402, otherHost: 421, ownClient: 200 });
  assert.equal(holds(finding({ ...good, otherHost: refused })), true);
});

test('a committed payment that buys another request, runs it, is charged for it, or does not buy its own, does not hold', () => {
  const served = { status: 200, code: undefined, handlerRuns: 1 };
  const wrong: Partial<Required>[] = [
    { otherBody: served },
    { noSalt: served },
    { otherMethod: served },
    { otherHost: served },
    { otherBody: { ...refused, handlerRuns: 1 } },
    { noSalt: { ...refused, handlerRuns: 1 } },
    { otherMethod: { ...refused, handlerRuns: 1 } },
    { otherHost: { ...refused, handlerRuns: 1 } },
    { otherHost: { ...refused, status: 404 } },
    { ownClient: refused },
    { ownClient: { ...served, handlerRuns: 2 } },
    { transfers: 0 },
    { transfers: 2 },
  ];
  for (const change of wrong)
    assert.equal(holds(finding({ ...good, ...change })), false, JSON.stringify(change));
});

test('the official seller has nothing to show beside it', () => {
  assert.deepEqual(new Set(finding(good).checks.map(({ stock }) => stock)), new Set(['n/a']));
});
