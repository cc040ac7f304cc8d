import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exampleNowMs } from '../claim/example.ts';
import { claimStoreConformance, type OpenStore } from './conformance.ts';
import { StoreError } from './error.ts';
import { createMemoryStore } from './memory.ts';

const open: OpenStore = async (limits) => {
  let nowMs = exampleNowMs;
  const store = createMemoryStore({ world: { nowMs: () => nowMs }, ...limits });
  return {
    store,
    setClock: (at) => {
      nowMs = at;
    },
    close: store.close,
  };
};

// The memory store is what the histories are compared with, so a few suffice here.
claimStoreConformance({ name: 'memory', durable: false, open, histories: 100 });

const world = { nowMs: () => exampleNowMs };

test('C02: the memory store refuses to serve several instances, and says what to use', () => {
  assert.throws(
    () => createMemoryStore({ world, instances: 2 }),
    (error) => error instanceof StoreError && error.code === 'store_not_shared',
  );
  assert.equal(createMemoryStore({ world, instances: 1 }).durable, false);
});

test('an option that the memory store does not know, or a limit that is none, is a mistake', () => {
  const misspelt = { world, capcity: 5 };
  assert.throws(() => createMemoryStore(misspelt), TypeError);
  for (const capacity of [0, -1, 1.5, Number.NaN]) {
    assert.throws(() => createMemoryStore({ world, capacity }), TypeError);
  }
  assert.throws(() => createMemoryStore({ world, capacityBytes: 0 }), TypeError);
  assert.throws(() => createMemoryStore({ world, instances: 0 }), TypeError);
  assert.throws(() => createMemoryStore(undefined as never), /createMemoryStore/);
  assert.throws(() => createMemoryStore({} as never), /world/);
});
