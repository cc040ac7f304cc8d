import assert from 'node:assert/strict';
import { test } from 'node:test';
import { holds } from '../part.ts';
import { finding, type Twins } from './twins.ts';

const good: Twins = {
  transfers: 20,
  deliveries: 20,
  handlerRuns: 20,
  transactions: 20,
  statuses: '20 x 200',
};

test('S3: honest twins hold when each is charged, run and delivered once', () => {
  assert.equal(holds(finding(good)), true);
});

test('a twin that got the answer of another, or none, or for nothing, does not hold', () => {
  for (const change of [{ transfers: 19 }, { deliveries: 19 }, { handlerRuns: 19 }, { transactions: 19 }])
    assert.equal(holds(finding({ ...good, ...change })), false, JSON.stringify(change));
});
