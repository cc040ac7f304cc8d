import assert from 'node:assert/strict';
import { test } from 'node:test';
import { holds } from '../part.ts';
import { type First, finding } from './first.ts';

const good: First = { unpaidStatus: 402, status: 200, transaction: '0x12', transfers: 1, tookMs: 40 };

test('S6: a first payment holds with a 200, a transaction and its one transfer', () => {
  assert.equal(holds(finding(good)), true);
  assert.deepEqual(finding(good).figures, { status: 200, transaction: '0x12', transfers: 1, tookMs: 40 });
});

test('a first payment that is free, unserved, unproven or not on the chain does not hold', () => {
  const wrong: Partial<First>[] = [
    { unpaidStatus: 200 },
    { status: 402 },
    { transaction: undefined },
    { transfers: 0 },
    { transfers: 2 },
  ];
  for (const change of wrong)
    assert.equal(holds(finding({ ...good, ...change })), false, JSON.stringify(change));
});
