import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runCalls } from './burst.ts';

const keys = ['a', 'b', 'a', 'c'];

test('every key is asked for once, so many at a time, and the wins are named by their place', async () => {
  const taken = new Set<string>();
  let [open, most] = [0, 0];
  const take = async (key: string): Promise<boolean> => {
    open += 1;
    most = Math.max(most, open);
    await new Promise((resolve) => setImmediate(resolve));
    open -= 1;
    return taken.size < taken.add(key).size;
  };
  const part = await runCalls(take, keys, 2);
  assert.deepEqual(
    part.won.toSorted((a, b) => a - b),
    [0, 1, 3],
  );
  assert.equal(part.timesMs.length, keys.length);
  assert.equal(most, 2);
  assert.ok(part.endMs >= part.startMs);
});

test('a call that lets the event loop stand still is seen in the longest block', async () => {
  const until = (ms: number): void => {
    const end = performance.now() + ms;
    while (performance.now() < end);
  };
  const part = await runCalls(
    async () => {
      until(30);
      return true;
    },
    ['a'],
    1,
  );
  assert.ok(part.blockMs >= 25, `${part.blockMs}`);
});
