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
  atMs += 300;
  clock.hear(50_050);
  assert.equal(clock.guessMs(), 50_310, 'an answer that was long on its way makes it no worse');
  clock.hear(60_000);
  assert.equal(clock.guessMs(), 60_000, 'a clock that was set forward is followed');
  clock.correct(40_000);
  assert.equal(clock.guessMs(), 40_000, 'and one that was set back, once the server says so');
});
