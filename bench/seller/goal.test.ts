import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Variant } from '../server/shop.ts';
import { judgeGoals } from './goal.ts';
import type { Measured, Turns } from './measure.ts';
import { sectionOf } from './report.ts';
import type { BurstSample, SteadySample } from './sample.ts';
import { AnswerError, checkStatuses, expectedStatuses } from './sample.ts';
import { type Scenario, scenarios } from './scenario.ts';
import { goalsText, number, sectionText } from './table.ts';
import { variants } from './variant.ts';

function scenarioOf(name: Scenario['name']): Scenario {
  const found = scenarios.find((scenario) => scenario.name === name);
  assert.ok(found);
  return found;
}

function variantOf(name: string): Variant {
  const found = variants.find((variant) => variant.name === name);
  assert.ok(found, name);
  return found;
}

function steady(name: string, ...cpu: readonly number[]): Turns<SteadySample> {
  const samples = cpu.map((cpuMicros) => {
    return { statuses: { 200: 5 }, runs: 5, cpuMicros, p50Ms: 1, p99Ms: 2, requestsPerSecond: 1_000 };
  });
  return { variant: variantOf(name), samples, storeRoundTripMs: 0 };
}

function burst(name: string, lastLoserMs: number, more: Partial<BurstSample> = {}): Turns<BurstSample> {
  const sample = { statuses: { 402: 49 }, runs: 1, cpuMicros: 9, lastLoserMs, lastMs: lastLoserMs, ...more };
  return { variant: variantOf(name), samples: [sample], storeRoundTripMs: 1 };
}

const judge = (measured: Measured): readonly (readonly [string, string, number | null, boolean])[] =>
  judgeGoals([measured]).map(({ name, server, measured: figure, met }) => [name, server, figure, met]);

test('what a 402 adds is held against 15 µs and against a fifth of what the official adapter adds', () => {
  const turns = [steady('bare-hono', 10, 20), steady('official-hono', 60, 70), steady('ours-hono', 20, 30)];
  assert.deepEqual(judge({ kind: 'steady', scenario: scenarioOf('unpaid'), turns }), [
    ['unpaid-adds', 'ours-hono', 10, true],
    ['unpaid-share', 'ours-hono', 0.2, true],
  ]);
  const slow = [...turns.slice(0, 2), steady('ours-hono', 26, 36)];
  assert.deepEqual(
    judge({ kind: 'steady', scenario: scenarioOf('unpaid'), turns: slow }).map(([, , , met]) => met),
    [false, false],
  );
});

test('a paid request is held against the official adapter of its framework, and a durable store against nothing', () => {
  const turns = [
    steady('bare-hono', 1),
    steady('official-hono', 400),
    steady('ours-hono', 101),
    steady('ours-hono-sqlite', 900),
    steady('official-express', 400),
    steady('ours-express', 130),
    steady('ours-node', 900),
  ];
  assert.deepEqual(judge({ kind: 'steady', scenario: scenarioOf('paid-http'), turns }), [
    ['paid-share', 'ours-hono', 0.2525, false],
    ['paid-share', 'ours-express', 0.325, true],
  ]);
  assert.deepEqual(judge({ kind: 'steady', scenario: scenarioOf('paid-local'), turns }), []);
});

test('the last loser of a burst is held against the bare burst, the store and the end of the work', () => {
  const turns = [burst('bare-node', 0, { lastMs: 4, runs: 50 }), burst('ours-node', 7)];
  const measured = { kind: 'burst', scenario: scenarioOf('burst'), turns } as const;
  assert.deepEqual(judge(measured), [
    ['burst-runs', 'ours-node', 1, true],
    ['burst-before-end', 'ours-node', 7, true],
    ['burst-losers', 'ours-node', 7, true],
  ]);
  const late = [burst('bare-node', 0, { lastMs: 4 }), burst('ours-node', 401, { runs: 2 })];
  assert.deepEqual(
    judge({ ...measured, turns: late }).map(([, , , met]) => met),
    [false, false, false],
  );
  assert.match(sectionText(sectionOf(measured)), /ours-node +7\.00 +7\.00 +1\.75 +1/);
});

test('a difference that noise has eaten gives no ratio and meets no goal', () => {
  const turns = [steady('bare-hono', 10), steady('official-hono', 10), steady('ours-hono', 12)];
  const measured = { kind: 'steady', scenario: scenarioOf('unpaid'), turns } as const;
  const [, share] = judgeGoals([measured]);
  assert.deepEqual([share?.measured, share?.met], [null, false]);
  const { rows } = sectionOf(measured);
  assert.deepEqual(
    rows.map((row) => ('shareOfOfficial' in row ? row.shareOfOfficial : 0)),
    [null, null, null],
  );
  assert.match(goalsText(judgeGoals([measured])), /MISSED +unpaid-share +ours-hono +- +0\.20/);
});

test('figures have as many digits as tell something', () => {
  assert.deepEqual([null, 0, 0.0004, 0.25, 9.876, 12.34, 1234.5].map(number), [
    '-',
    '0.00',
    '0.0004',
    '0.25',
    '9.88',
    '12.3',
    '1235',
  ]);
});

test('a server that answers otherwise than it should was not measured', () => {
  const unpaid = scenarioOf('unpaid');
  assert.deepEqual(expectedStatuses(unpaid, 'bare', 9), { 200: 9 });
  assert.deepEqual(expectedStatuses(unpaid, 'official', 9), { 402: 9 });
  assert.deepEqual(expectedStatuses(scenarioOf('paid-http'), 'ours', 9), { 200: 9 });
  assert.deepEqual(expectedStatuses(scenarioOf('burst'), 'ours', 50), { 200: 1, 402: 49 });
  checkStatuses('x', { 402: 49, 200: 1 }, { 200: 1, 402: 49 });
  assert.throws(() => checkStatuses('x', { 200: 2, 402: 48 }, { 200: 1, 402: 49 }), AnswerError);
});
