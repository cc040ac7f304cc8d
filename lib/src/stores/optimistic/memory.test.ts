import assert from 'node:assert/strict';
import { test } from 'node:test';
import { examplePurchase, exampleNowMs as now } from '../../claim/example.ts';
import { createMemory } from './memory.ts';
import type { Versioned } from './remote.ts';

function versioned(n: number): Versioned {
  const record = {
    ...examplePurchase(n),
    work: { state: 'idle' } as const,
    money: { state: 'none' } as const,
    fence: 0,
    attempts: 0,
    sendLog: [],
    sends: 0,
    createdAtMs: now,
    updatedAtMs: now,
  };
  return { record, version: String(n) };
}

test('the payments that were seen last are remembered, and no more than so many', () => {
  const memory = createMemory(2);
  for (const n of [1, 2]) memory.note(`${n}`, versioned(n));
  memory.note('1', versioned(1));
  memory.note('3', versioned(3));
  assert.equal(memory.recall('2'), undefined, 'the one that was seen longest ago');
  assert.equal(memory.recall('1')?.version, '1');
  memory.note('1', undefined);
  assert.equal(memory.recall('1'), undefined);
});
