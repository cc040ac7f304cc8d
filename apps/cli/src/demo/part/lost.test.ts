import assert from 'node:assert/strict';
import { test } from 'node:test';
import { holds } from '../part.ts';
import { finding, type Lost } from './lost.ts';

const good: Lost = {
  calls: 2,
  transfers: 1,
  deliveries: 1,
  payable402: 0,
  payments: 2,
  outcomes: ['503', '200'],
};
const official: Lost = { ...good, calls: 3, transfers: 3, deliveries: 0, outcomes: ['402', '402', '402'] };

test('S3: a lost settle holds with one transfer, one delivery and no invitation to pay again', () => {
  const found = finding(good, official);
  assert.equal(holds(found), true);
  assert.deepEqual(found.official, { ...official, asKnown: true });
});

test('a lost settle that is paid twice, not delivered, asked for again, or takes a fourth call does not hold', () => {
  for (const change of [
    { transfers: 2 },
    { transfers: 0 },
    { deliveries: 0 },
    { payable402: 1 },
    { calls: 4 },
  ])
    assert.equal(holds(finding({ ...good, ...change }, official)), false, JSON.stringify(change));
});

test('an official seller that delivers is told as a surprise', () => {
  assert.equal(finding(good, good).official?.asKnown, false);
});
