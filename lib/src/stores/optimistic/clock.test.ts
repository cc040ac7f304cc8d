import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClock } from './clock.ts';

test('the server’s clock is believed as it was heard last, and goes on with this process’s own', () => {
  let atMs = 1_000.9;
  const clock = createClock(() => atMs);
  assert.equal(clock.guessMs(), 0, 'before anything was heard, no step is applied for the guess');
  clock.hear(50_000);
  atMs += 10.4;
  assert.equal(clock.guessMs(), 50_010, 'whole milliseconds, and never more than have passed');
  clock.hear(40_000);
  assert.equal(clock.guessMs(), 40_000, 'a clock that was set back is followed');
});
