/** Random runs of the real seller: processes that pause and die, a store that fails, a world that lies. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { playTrial, type Settings } from '../../test/trial.ts';

const runs = 100;
const worlds: readonly (readonly [string, Omit<Settings, 'seed'>])[] = [
  ['an honest facilitator', { lies: false, mixedFlows: false }],
  ['a facilitator that lies about some payments', { lies: true, mixedFlows: false }],
  ['two versions of the shop, each with its own flow', { lies: false, mixedFlows: true }],
];

for (const [name, settings] of worlds) {
  test(`I1 to I4, ${name}: in ${runs} random runs nobody is charged twice, served unpaid or told what is not so`, async () => {
    const sum = { asked: 0, ran: 0, served: 0, died: 0 };
    for (let seed = 1; seed <= runs; seed += 1) {
      const { faults, tally } = await playTrial({ ...settings, seed });
      assert.deepEqual(faults, [], `seed ${seed} of the runs with ${name}`);
      for (const what of ['asked', 'ran', 'served', 'died'] as const) sum[what] += tally[what];
    }
    // A simulation in which nothing happens proves nothing.
    assert.ok(
      sum.asked > 5 * runs && sum.ran > runs && sum.served > runs && sum.died > runs / 4,
      JSON.stringify(sum),
    );
  });
}
