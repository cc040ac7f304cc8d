import assert from 'node:assert/strict';
import { test } from 'node:test';
import { quickPlan } from './plan.ts';
import { runSearch } from './spin.ts';
import { findTools } from './tools.ts';
import { loadRelation, missing, readTransitions, relationOf, sizes } from './transitions.ts';

const verifier = ['NONE', 'RUNNING', 'PAY', 'SENDING', 'DONE']
  .map((name, at) => `\tcase ${at + 1}: Printf("${name}"); return;`)
  .join('\n');

/** `code_of` of transitions.pml. */
function codeOf(fields: readonly (readonly [value: number, bits: number])[]): number {
  return fields.reduce((code, [value, bits]) => code * 2 ** bits + value, 0);
}

const flags = (owned: number, kept: number): readonly (readonly [number, number])[] =>
  [owned, kept, 0, 0, 0, 0, 1].map((bit) => [bit, 1] as const);
const running = codeOf([[1, 5], [3, 5], [0, 2], [2, 5], [1, 2], [2, 2], ...flags(1, 0)]);
const sending = codeOf([[4, 5], [3, 5], [1, 2], [5, 5], [1, 2], [2, 2], ...flags(1, 1)]);

test('what the verifier prints becomes pictures, and each change is told once', () => {
  const line = `transition: keepAndBeginSend ${running} ${sending} 0 0`;
  const read = readTransitions('authorization', [line, 'noise', line].join('\n'), verifier);
  assert.deepEqual(read, [
    {
      flow: 'authorization',
      operation: 'keepAndBeginSend',
      before: 'none running/1 owner:valid',
      after: 'sending#1 done/1 owner:valid kept',
    },
  ]);
});

test('a word that the verifier does not know is no transition', () => {
  const strange = codeOf([[31, 5], [3, 5], [0, 2], [2, 5], [1, 2], [2, 2], ...flags(0, 0)]);
  assert.throws(
    () => readTransitions('upfront', `transition: take 0 ${strange} 0 0`, verifier),
    /without a name/,
  );
});

test('a relation is the same text whatever the order in which it was found', () => {
  const [a, b] = ['x', 'y'].map(
    (after) => ({ flow: 'upfront', operation: 'take', before: 'absent', after }) as const,
  );
  assert.ok(a !== undefined && b !== undefined);
  assert.equal(JSON.stringify(relationOf([a, b, a])), JSON.stringify(relationOf([b, a])));
  assert.deepEqual(sizes(relationOf([a, b])), { upfront: 2 });
  assert.deepEqual(missing(relationOf([a]), relationOf([a, b])), ['upfront take: absent -> y']);
});

test('transitions.json knows what a quick search explores, so that it is not stale', async () => {
  const tools = findTools();
  const [quick] = quickPlan;
  assert.ok(!('missing' in tools) && quick !== undefined);
  const { transitions } = await runSearch(quick, tools);
  assert.ok(transitions.length > 80, `${transitions.length} transitions prove nothing`);
  assert.deepEqual(missing(await loadRelation(), relationOf(transitions)), []);
});

test('nothing in transitions.json lets a payment that is dead or refused by the chain be sent', async () => {
  const relation = await loadRelation();
  for (const [flow, operations] of Object.entries(relation)) {
    for (const pictures of Object.values(operations)) {
      const sent = Object.entries(pictures).filter(
        ([before, afters]) =>
          /^(?:dead|superseded|refused!|reversed)/.test(before) &&
          afters.some((after) => /^sending/.test(after)),
      );
      assert.deepEqual(sent, [], flow);
    }
  }
});
