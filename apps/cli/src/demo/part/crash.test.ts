import assert from 'node:assert/strict';
import { test } from 'node:test';
import { holds } from '../part.ts';
import { type Crash, finding } from './crash.ts';

const good: Crash = {
  firstAnswer: 'cut',
  transfers: 1,
  deliveries: 1,
  handlerRuns: 1,
  settles: 1,
  presentations: 12,
  transaction: '0x12',
};

test('S4: a crash holds with one transfer and one delivery', () => {
  assert.equal(holds(finding(good)), true);
});

test('a crash that was none, that cost twice, delivered nothing or twice, or ran again does not hold', () => {
  const wrong: Partial<Crash>[] = [
    { firstAnswer: '200' },
    { transfers: 2 },
    { transfers: 0 },
    { deliveries: 0 },
    { deliveries: 2 },
    { handlerRuns: 2 },
    { settles: 2 },
    { transaction: undefined },
  ];
  for (const change of wrong)
    assert.equal(holds(finding({ ...good, ...change })), false, JSON.stringify(change));
});
