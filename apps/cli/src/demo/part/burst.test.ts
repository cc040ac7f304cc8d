import assert from 'node:assert/strict';
import { test } from 'node:test';
import { holds } from '../part.ts';
import { type Burst, finding, summarize } from './burst.ts';

const good: Burst = {
  n: 50,
  handlerRuns: 1,
  settles: 1,
  ok: 1,
  statuses: '1 x 200, 49 x 402',
  losersBeforeEnd: 49,
  losersP99Ms: 30,
  winnerMs: 2_050,
};
const official: Burst = { ...good, handlerRuns: 50, settles: 50, losersBeforeEnd: 0 };

test('S1: a burst holds with one run, one settle, one 200 and everybody else told before the end', () => {
  const found = finding(good, official);
  assert.equal(holds(found), true);
  assert.deepEqual(found.official, { ...official, asKnown: true });
});

test('a burst with a second run, a second settle, a second or no 200, or a loser that waited does not hold', () => {
  const wrong: Partial<Burst>[] = [
    { handlerRuns: 2 },
    { handlerRuns: 0 },
    { settles: 2 },
    { ok: 2 },
    { ok: 0, winnerMs: null },
    { losersBeforeEnd: 48 },
  ];
  for (const change of wrong)
    assert.equal(holds(finding({ ...good, ...change }, official)), false, JSON.stringify(change));
});

test('an official seller that runs once is told as a surprise, and changes no verdict', () => {
  const found = finding(good, good);
  assert.equal(holds(found), true);
  assert.equal(found.official?.asKnown, false);
  assert.equal(found.notes?.length, 1);
});

test('the answers of a burst are summed: winners, losers before the end, their 99th percentile', () => {
  const losers = Array.from({ length: 200 }, (_, index) => ({ status: 402, startMs: 0, endMs: index + 1 }));
  const winner = { status: 200, startMs: 0, endMs: 2_100 };
  assert.deepEqual(summarize([winner, ...losers], 150), {
    n: 201,
    ok: 1,
    statuses: '1 x 200, 200 x 402',
    losersBeforeEnd: 149,
    losersP99Ms: 198,
    winnerMs: 2_100,
  });
  assert.deepEqual(summarize([], Number.POSITIVE_INFINITY).losersP99Ms, null);
});
