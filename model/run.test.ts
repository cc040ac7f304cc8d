import assert from 'node:assert/strict';
import { test } from 'node:test';
import { quickPlan } from './plan.ts';
import { runAll, tableOf } from './run.ts';
import { trailOf } from './spin.ts';
import { findTools, type Tools } from './tools.ts';

function tools(): Tools {
  const found = findTools();
  assert.ok(!('missing' in found), 'line' in found ? `The model needs its tools. Run: ${found.line}` : '');
  return found;
}

test('authorization holds with copies, kills, lost answers and look-ups, and its broken variants fail', async () => {
  const results = await runAll(quickPlan, tools());
  const table = tableOf(results);
  assert.equal(results.length, quickPlan.length);
  for (const result of results) assert.ok(result.asExpected, table);
  const [holding] = results;
  assert.ok(holding !== undefined && holding.states > 10_000, `a search this small proves nothing\n${table}`);
});

test('the trail of a broken variant tells who did what until the law broke', async () => {
  const broken = quickPlan.find((search) => search.name === 'LATE_REFUSAL');
  assert.ok(broken !== undefined);
  const lines = await trailOf(broken, tools());
  assert.equal(lines.at(-1), 'violated: I3');
  assert.ok(
    lines.some((line) => / WRITE .* heard NO .* SENDING of PAY 2/.test(line)),
    lines.join('\n'),
  );
});
