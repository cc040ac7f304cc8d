import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClock, createRig } from '../../test/rig.ts';
import { guardStore, StoreUnavailable } from './shop.ts';

test('every method of a guarded store says that the store failed, whether it throws or rejects', async () => {
  const { options } = createRig();
  const throwing = Object.fromEntries(
    Object.entries(options.store).map(([name, value]) => [
      name,
      typeof value === 'function'
        ? () => {
            throw new Error('down');
          }
        : value,
    ]),
  ) as unknown as typeof options.store;
  const guarded = guardStore(createClock(), throwing);
  await assert.rejects(guarded.find('k'), StoreUnavailable);
  await assert.rejects(guarded.readAnswer('k'), StoreUnavailable);
  await assert.rejects(guarded.close(), StoreUnavailable);
  for (const name of Object.keys(options.store)) assert.ok(name in guarded, name);
});

test('a store that never answers has failed, and what waits for it goes on', async () => {
  const { options } = createRig();
  const clock = createClock();
  const silent = { ...options.store, find: () => new Promise<never>(() => {}) };
  const asked = guardStore(clock, silent).find('k');
  const failed = assert.rejects(asked, StoreUnavailable);
  await clock.advance(30_000);
  await failed;
});
