import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contendersOf } from './contender.ts';
import type { Turns } from './measure.ts';
import { faultsOf, sectionOf, sectionText } from './report.ts';
import type { Sample } from './sample.ts';
import { scenariosOf } from './scenario.ts';

const [scenario] = scenariosOf('quick');
const [bare, ours] = contendersOf('sqlite');
assert.ok(scenario !== undefined && bare !== undefined && ours !== undefined);

const sample = (perSecond: number, differing: Partial<Sample> = {}): Sample => ({
  perSecond,
  p50Ms: 1,
  p99Ms: 2,
  worstMs: 3,
  blockMs: 4,
  wrongKeys: 0,
  ...differing,
});
const turns: readonly Turns[] = [
  { contender: bare, samples: [sample(100), sample(400)] },
  { contender: ours, samples: [sample(50), sample(100, { worstMs: 30, blockMs: 40, wrongKeys: 2 })] },
];

test('ours is compared with its own database round by round; the worst is that of all rounds', () => {
  const [one, two] = sectionOf({ scenario, turns }).rows;
  assert.deepEqual([one?.perSecond, one?.overBare], [250, null]);
  assert.deepEqual([two?.perSecond, two?.overBare], [75, 3]);
  assert.deepEqual([two?.p50Ms, two?.worstMs, two?.blockMs], [1, 30, 40]);
});

test('a key without exactly one winner is a fault with the name of its store', () => {
  const section = sectionOf({ scenario, turns });
  assert.deepEqual(faultsOf([section]), ['alone: ours-sqlite had 2 keys without exactly one winner']);
  assert.match(sectionText(section), /^ {2}ours-sqlite +75 /m);
});
