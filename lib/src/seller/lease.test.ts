import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClock, createRig } from '../../test/rig.ts';
import type { HoldOutcome } from '../claim/index.ts';
import { checkLease, defaultLease, keepLease } from './lease.ts';

const hold = { key: 'k', owner: 'a', fence: 1 };

function keeperOver(heartbeat: () => Promise<HoldOutcome>) {
  const clock = createClock();
  const world = { ...createRig().world, monotonicMs: clock.nowMs, after: clock.after };
  return {
    clock,
    keeper: keepLease({ world, store: { heartbeat }, lease: defaultLease }, hold, clock.nowMs()),
  };
}

const lost: HoldOutcome = { kind: 'lost', nowMs: 0 };
const held = { kind: 'held', nowMs: 0 } as HoldOutcome;

test('while heartbeats are confirmed the signal stays quiet, and stopping ends them', async () => {
  let beats = 0;
  const { clock, keeper } = keeperOver(async () => {
    beats += 1;
    return held;
  });
  await clock.advance(100_000);
  assert.equal(keeper.signal.aborted, false);
  assert.equal(beats, 10);
  keeper.stop();
  await clock.advance(100_000);
  assert.deepEqual([beats, keeper.signal.aborted], [10, false]);
});

test('the signal fires by lease minus margin when no heartbeat is confirmed', async () => {
  const { clock, keeper } = keeperOver(() => new Promise<never>(() => {}));
  await clock.advance(24_999);
  assert.equal(keeper.signal.aborted, false);
  await clock.advance(1);
  assert.equal(keeper.signal.aborted, true);
});

test('a store that fails is asked again, and a confirmation in time keeps the lease', async () => {
  let beats = 0;
  const { clock, keeper } = keeperOver(async () => {
    beats += 1;
    if (beats % 2 === 1) throw new Error('down');
    return held;
  });
  await clock.advance(90_000);
  assert.equal(keeper.signal.aborted, false);
});

test('a lease that passed to somebody else fires the signal at once', async () => {
  const { clock, keeper } = keeperOver(async () => lost);
  await clock.advance(10_000);
  assert.equal(keeper.signal.aborted, true);
});

test('settings that contradict themselves are refused', () => {
  assert.throws(() => checkLease({ ...defaultLease, heartbeatMs: 25_000 }), TypeError);
  assert.throws(() => checkLease({ ...defaultLease, leaseMs: 0.5 }), TypeError);
  const misspelt = { ...defaultLease, leaseSeconds: 30 };
  assert.throws(() => checkLease(misspelt), TypeError);
  assert.equal(checkLease(defaultLease), defaultLease);
});

test('a process that froze between the store’s answer and its first beat counts its lease from before it asked', () => {
  const clock = createClock();
  const world = { ...createRig().world, monotonicMs: clock.nowMs, after: clock.after };
  const shop = { world, store: { heartbeat: async () => held }, lease: defaultLease };
  const keeper = keepLease(shop, hold, clock.nowMs() - 26_000);
  assert.equal(keeper.alive(), false);
  keeper.stop();
});
