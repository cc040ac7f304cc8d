import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keysOf, scenariosOf, wordsOf } from './scenario.ts';

test('the processes of a turn ask for as many different keys as are counted, and the next turn for others', () => {
  for (const scenario of scenariosOf('quick')) {
    const words = (turn: string): readonly string[] =>
      Array.from({ length: scenario.processes }, (_, process) => wordsOf(scenario, turn, process)).flat();
    assert.equal(words('one').length, scenario.processes * scenario.calls, scenario.name);
    assert.equal(new Set(words('one')).size, keysOf(scenario), scenario.name);
    assert.equal(new Set([...words('one'), ...words('two')]).size, 2 * keysOf(scenario), scenario.name);
  }
});
