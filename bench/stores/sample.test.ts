import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Part } from './burst.ts';
import { readPart, sampleOf } from './sample.ts';
import type { Scenario } from './scenario.ts';

const same: Scenario = {
  name: 'same',
  title: '',
  processes: 4,
  inFlight: 1,
  keys: 'same',
  pays: false,
  calls: 3,
};
const part = (won: readonly number[], differing: Partial<Part> = {}): Part => ({
  won,
  timesMs: [1, 2, 3],
  startMs: 1_000,
  endMs: 1_100,
  blockMs: 1,
  ...differing,
});

test('the rate counts from the first start to the last end, the percentiles over all processes', () => {
  const late = part([2], { endMs: 1_200, timesMs: [1, 1, 9], blockMs: 7 });
  assert.deepEqual(sampleOf(same, 'turn', [part([0, 1]), late]), {
    perSecond: 30,
    p50Ms: 1,
    p99Ms: 9,
    worstMs: 9,
    blockMs: 7,
    wrongKeys: 0,
  });
});

test('a key with two winners and a key with none are both wrong, in one process and among several', () => {
  const wrong = (scenario: Scenario, ...wins: (readonly number[])[]): number =>
    sampleOf(
      scenario,
      'turn',
      wins.map((won) => part(won)),
    ).wrongKeys;
  assert.equal(wrong(same, [0, 1], [1, 2]), 1);
  assert.equal(wrong(same, [0], [1]), 1);
  assert.equal(wrong(same, [0, 1], [1]), 2);
  assert.equal(wrong({ ...same, keys: 'one' }, [0, 2]), 1);
  assert.equal(wrong({ ...same, keys: 'one' }, [], [2]), 0);
  assert.equal(wrong({ ...same, keys: 'own', processes: 1 }, [0, 1, 2]), 0);
});

test('what a process says is read before it is believed', () => {
  assert.deepEqual(readPart(JSON.parse(JSON.stringify(part([1])))), part([1]));
  assert.throws(() => readPart({ ...part([1]), won: ['1'] }), /won is not a list of numbers/);
});
