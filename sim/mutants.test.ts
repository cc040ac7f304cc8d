/** The simulator can fail: with any one rule taken away it says so, in the words of the rule. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadRelation } from '../model/transitions.ts';
import { play } from './play.ts';
import { mutants } from './rig/mutants.ts';

const relation = await loadRelation();
/** Several times what the slowest of them needs; the others are noticed at once. */
const mostSeeds = 600;

for (const { breaks, mutation, says, scenario = {} } of mutants) {
  test(`without ${breaks}: the simulator notices`, async () => {
    const heard = new Set<string>();
    for (let seed = 1; seed <= mostSeeds; seed += 1) {
      const { faults } = await play({ seed, relation, mutate: mutation, scenario });
      if (faults.some((fault) => says.test(fault))) return;
      for (const fault of faults) heard.add(fault);
    }
    assert.fail(
      `nothing in ${mostSeeds} seeds; it only said: ${[...heard].slice(0, 5).join('; ') || 'nothing'}`,
    );
  });
}
