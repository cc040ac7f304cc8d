import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Result } from '../round/play.ts';
import { jsonOf, type Outcome, tableOf, verdictOf } from './report.ts';
import { addRound, type Failure, noSums, type Row } from './row.ts';
import { replayLine } from './run.ts';

const result: Result = {
  seed: 7,
  runs: 2,
  deliveries: 3,
  charges: 1,
  kills: 1,
  stalls: 0,
  copies: 9,
  settles: 2,
  points: ['working'],
  violations: [],
  history: [],
};
const row: Row = { trial: 'kills', store: 'redis', flow: 'upfront', ...addRound(noSums, result, 0) };
const outcome: Outcome = { seed: 7, seconds: 1.23, rows: [row], failures: [] };

test('rounds add up, and a broken round counts once however much was broken in it', () => {
  const broken = { ...result, violations: ['S1: one', 'S4: two'] };
  const sums = addRound(addRound(noSums, result, 0), broken, 1);
  assert.deepEqual(sums, {
    rounds: 2,
    kills: 2,
    stalls: 0,
    outages: 1,
    presentations: 18,
    executions: 4,
    settles: 4,
    charges: 2,
    deliveries: 6,
    violations: 1,
  });
});

test('the table has a line for each store and flow, and says what held', () => {
  const text = tableOf(outcome);
  assert.match(text, /^trial +store +flow +rounds +kills .* violations\n/);
  assert.match(text, /\nkills +redis +upfront +1 +1 +0 +0 +9 +2 +2 +1 +3 +0\n/);
  assert.match(text, /1 rounds in 1 s, seed 7: every promise held\n$/);
  assert.ok(text.includes('escrow'));
  assert.equal(verdictOf(outcome), 'holds');
});

const failure: Failure = {
  trial: 'kills',
  store: 'redis',
  flow: 'upfront',
  seed: 7,
  violations: ['S4: 2 charges on the chain'],
  history: ['      0.0 p1     KILLED at kept'],
  replay: 'npm run torture -- kills --seed 7',
};
const broken: Outcome = { ...outcome, rows: [{ ...row, violations: 1 }], failures: [failure] };

test('a broken promise is told with its seed, its history and the line that plays it again', () => {
  const text = tableOf(broken);
  assert.equal(verdictOf(broken), 'broken');
  for (const part of [
    'BROKEN kills, redis, upfront, seed 7',
    'S4: 2 charges on the chain',
    'KILLED at kept',
    'again: npm run torture -- kills --seed 7',
    'seed 7: BROKEN',
  ])
    assert.ok(text.includes(part), part);
});

test('a rig that failed is told beside what was played before, and a broken promise weighs more', () => {
  const untold: Outcome = { ...outcome, fault: 'redis-server is missing.' };
  assert.equal(verdictOf(untold), 'untold');
  assert.match(tableOf(untold), /The rig failed: redis-server is missing\.\n.*COULD NOT BE TOLD\n$/);
  assert.equal(verdictOf({ ...broken, fault: 'interrupted' }), 'broken');
});

test('JSON says the same in one line', () => {
  const text = jsonOf(broken);
  assert.equal(text.indexOf('\n'), text.length - 1);
  assert.deepEqual(JSON.parse(text), { program: 'torture', verdict: 'broken', ...broken });
});

test('the line that plays a round again names all that its choices depend on', () => {
  const options = { processes: { least: 2, most: 4 }, copies: 50 };
  assert.equal(
    replayLine({ trial: 'kills', store: 'redis', flow: 'upfront' }, options, 7),
    'npm run torture -- kills --store redis --flow upfront --processes 2..4 --seed 7 --rounds 1',
  );
  assert.equal(
    replayLine({ trial: 'copies', store: 'sqlite', flow: 'both' }, options, 7),
    'npm run torture -- copies --store sqlite --copies 50 --seed 7 --rounds 1',
  );
  assert.equal(
    replayLine({ trial: 'outages', store: 'postgres', flow: 'authorization' }, options, 0),
    'npm run torture -- outages --store postgres --flow authorization --seed 0 --rounds 1',
  );
});
