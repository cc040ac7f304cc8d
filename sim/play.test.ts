/** The whole seller on a virtual clock: fixed seeds, each a world of its own that fails as it likes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadRelation } from '../model/transitions.ts';
import { play } from './play.ts';
import type { Scenario } from './scenario.ts';
import { add, nothing, type Sum, sumOf } from './sum.ts';

const relation = await loadRelation();

async function playMany(from: number, seeds: number, scenario: Partial<Scenario>): Promise<Sum> {
  let sum = nothing;
  for (let seed = from; seed < from + seeds; seed += 1) {
    sum = add(sum, sumOf(await play({ seed, relation, scenario })));
  }
  return sum;
}

const worlds: readonly (readonly [string, Partial<Scenario>])[] = [
  ['whatever world the seed draws', {}],
  ['an honest facilitator, work first', { lies: false, reorganises: false, flow: 'authorization' }],
  ['an honest facilitator, money first', { lies: false, reorganises: false, flow: 'upfront' }],
  ['two versions of the shop, each with its own flow', { flow: 'mixed' }],
  ['a facilitator that lies about some payments', { lies: true }],
  ['a facilitator that lies, to sellers who believe the chain alone', { lies: true, assurance: 3 }],
  ['blocks that vanish, under sellers who look again', { reorganises: true, reconcile: 'upfront' }],
  ['buyers who name their purchases, on processes with wrong clocks', { names: true, clocks: 'far' }],
];

const seeds = 40;
for (const [place, [name, scenario]] of worlds.entries()) {
  test(`S1 to S5, I1 to I7, the model: ${name}: ${seeds} random runs hold`, async () => {
    const sum = await playMany(1 + place * seeds, seeds, scenario);
    assert.deepEqual(sum.failures, []);
    // A simulation in which nothing happens proves nothing.
    const { asked, ran, served, died, operations } = sum.counts;
    const lively = asked > 8 * seeds && ran > seeds / 2 && served > seeds && died > seeds / 4;
    assert.ok(lively && operations > 40 * seeds, JSON.stringify(sum.counts));
  });
}

test('the same seed plays the same run, to the letter', async () => {
  for (const seed of [3, 7, 19]) {
    const [one, two] = [
      await play({ seed, relation, traced: true }),
      await play({ seed, relation, traced: true }),
    ];
    assert.ok(one.trace.length > 30, `seed ${seed} does next to nothing`);
    assert.deepEqual(one.trace, two.trace, `seed ${seed}`);
  }
});

test('a run that nobody reads is the same run', async () => {
  const [read, unread] = [
    await play({ seed: 11, relation, traced: true }),
    await play({ seed: 11, relation }),
  ];
  assert.deepEqual(unread.tally, read.tally);
  assert.deepEqual(unread.trace, []);
});
