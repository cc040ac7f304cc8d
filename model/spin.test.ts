import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Search } from './plan.ts';
import { judge } from './spin.ts';

const complete = [
  'reached: delivered',
  'Full statespace search for:',
  'State-vector 92 byte, depth reached 66, errors: 0',
  '   82571 states, stored',
  '  131.250\ttotal actual memory usage',
  'pan: elapsed time 0.11 seconds',
].join('\n');
const good: Search = { flow: 'upfront', name: 'x', defines: {}, expect: 'holds', reaches: ['delivered'] };
const bad: Search = { flow: 'upfront', name: 'x', defines: {}, expect: 'fails', law: 'I3' };

test('a complete search without errors holds, with its figures', () => {
  const result = judge(good, complete);
  assert.deepEqual(
    [result.asExpected, result.verdict, result.states, result.depth, result.seconds],
    [true, 'holds', 82_571, 66, 0.11],
  );
});

test('a search that was cut off proves nothing', () => {
  for (const line of [
    'error: max search depth too small',
    'pan: reached -DMEMLIM bound',
    'pan: out of memory',
    'Warning: Search not completed',
    'pan:1: invalid end state (at depth 9)',
    'pan:1: blocking sel in d_step (nr.17, near line 49) (at depth 21)',
  ]) {
    assert.equal(judge(good, `${line}\n${complete}`).asExpected, false, line);
  }
  assert.equal(judge(good, '').asExpected, false);
});

test('a search that never reaches a state it must reach is not taken for a proof', () => {
  const result = judge({ ...good, reaches: ['delivered', 'owed'] }, complete);
  assert.deepEqual([result.asExpected, result.verdict], [false, 'never reaches owed']);
});

test('a broken variant counts only when it breaks the law it is named for', () => {
  assert.equal(judge(bad, `violated: I3\n${complete}`).asExpected, true);
  assert.equal(judge(bad, `violated: I1\n${complete}`).asExpected, false);
  assert.equal(judge(bad, complete).asExpected, false);
  assert.equal(judge(bad, `pan:1: invalid end state (at depth 9)\n${complete}`).asExpected, false);
});
