import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLuck } from './luck.ts';
import { lostAnswers, planFault, planRound, tellPlan } from './plan.ts';
import { flows, pointsOf } from './point.ts';

const frame = { store: 'redis', processes: { least: 2, most: 4 } } as const;
const seeds = Array.from({ length: 400 }, (_, at) => 1_000 + at);

test('a seed is a plan: the same one every time, and another one on another store', () => {
  const plan = planRound({ ...frame, seed: 5, flow: 'upfront' });
  assert.deepEqual(planRound({ ...frame, seed: 5, flow: 'upfront' }), plan);
  assert.notDeepEqual(planRound({ ...frame, store: 'sqlite', seed: 5, flow: 'upfront' }), plan);
});

test('any row of seeds as long as the list of points visits every point of the flow', () => {
  for (const flow of flows) {
    const points = pointsOf[flow];
    const visited = seeds
      .slice(3, 3 + points.length)
      .map((seed) => planRound({ ...frame, seed, flow }).steps[0]);
    assert.deepEqual(new Set(visited.map((step) => step?.point)), new Set(points));
  }
});

test('any row of seeds as long as the list of faults has every fault', () => {
  const some = seeds.slice(5, 5 + lostAnswers.length);
  const faults = some.map((seed) => planFault({ ...frame, seed, flow: 'upfront' }).settle);
  assert.deepEqual(new Set(faults), new Set(lostAnswers));
});

test('rounds differ in how many sellers take part, in kills, stops, faults, buyers that leave, and whom is asked again', () => {
  const plans = seeds.flatMap((seed) => flows.map((flow) => planRound({ ...frame, seed, flow })));
  assert.deepEqual(new Set(plans.map(({ processes }) => processes)), new Set([2, 3, 4]));
  assert.deepEqual(new Set(plans.map(({ steps }) => steps.length)), new Set([1, 2]));
  assert.deepEqual(new Set(plans.map(({ ordeal }) => ordeal)), new Set(['kill', 'stall']));
  assert.deepEqual(new Set(plans.map(({ again }) => again)), new Set(['anyone', 'restarted', 'others']));
  assert.ok(plans.some(({ copies }) => copies.length > 1));
  assert.ok(plans.some(({ copies }) => copies.some(({ leavesMs }) => leavesMs !== undefined)));
  assert.ok(plans.some(({ settle }) => settle !== 'pass'));
  for (const { copies, processes } of plans)
    assert.ok(copies.every(({ seat }) => seat >= 0 && seat < processes));
});

test('an answer that is to be cut is long, and a sender is killed from outside while the facilitator keeps it waiting', () => {
  const plans = seeds.flatMap((seed) => flows.map((flow) => planRound({ ...frame, seed, flow })));
  for (const { steps, size, settle, ordeal } of plans) {
    const points = steps.map(({ point }) => point);
    if (points.includes('delivering')) assert.ok(size > 100_000);
    for (const { point, act } of steps) if (act !== 'halt') assert.equal(act === 'report', point === 'sent');
    const keepsWaiting = settle === 'land_then_hang' || settle === 'hang' || typeof settle === 'object';
    if (points.includes('sent')) assert.ok(keepsWaiting);
    if (ordeal === 'stall') assert.equal(settle, 'pass');
  }
});

test('a plan is told in one line', () => {
  const plan = planRound({ ...frame, seed: 5, flow: 'upfront' });
  const told = tellPlan({
    ...plan,
    steps: [{ point: 'sent', act: 'report' }],
    settle: 'hang',
    ordeal: 'kill',
  });
  assert.match(
    told,
    /^kill at sent; settle hang; \d copies at [2-4] sellers of \d+ octets in \d+ ms; again at \w+$/,
  );
});

test('luck is spread evenly', () => {
  const luck = createLuck(1, 'spread');
  const counts = Array.from({ length: 10 }, () => 0);
  for (let at = 0; at < 10_000; at += 1) {
    const index = luck.below(10);
    counts[index] = (counts[index] ?? 0) + 1;
  }
  assert.ok(
    counts.every((count) => count > 850 && count < 1_150),
    counts.join(),
  );
  const { between, chance } = luck;
  const drawn = Array.from({ length: 100 }, () => between(3, 5));
  assert.deepEqual(new Set(drawn), new Set([3, 4, 5]));
  assert.equal(chance(0), false);
  assert.equal(chance(1), true);
});
