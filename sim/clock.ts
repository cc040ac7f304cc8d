/**
 * Virtual time: nothing here sleeps. What is due at the same millisecond happens in an order that the seed chooses, so
 * that two processes are never always served in the order in which they asked.
 */

import type { Timer, World } from '../lib/src/world.ts';
import type { Luck } from '../lib/test/luck.ts';

export type Clock = {
  readonly nowMs: () => number;
  readonly after: World['after'];
  /** Waits for so many virtual milliseconds. */
  readonly sleep: (ms: number) => Promise<void>;
  /** Moves time on, and lets everything on the way happen. */
  readonly advance: (ms: number) => Promise<void>;
};

type Waiting = { readonly atMs: number; readonly order: number; readonly work: () => void };

/** Some day in the future; the figure only has to be one that authorizations can be signed for. */
const startMs = 1_790_000_000_000;

export function createClock(luck: Pick<Luck, 'roll'>): Clock {
  let now = startMs;
  const waiting = new Set<Waiting>();
  const after = (delayMs: number, work: () => void): Timer => {
    const entry = { atMs: now + Math.max(0, delayMs), order: luck.roll(), work };
    waiting.add(entry);
    return { cancel: () => void waiting.delete(entry) };
  };
  return {
    nowMs: () => now,
    after,
    sleep: (ms) => new Promise((resolve) => void after(ms, resolve)),
    advance: async (ms) => {
      const untilMs = now + ms;
      await settle();
      for (let next = nextOf(waiting, untilMs); next !== undefined; next = nextOf(waiting, untilMs)) {
        waiting.delete(next);
        now = Math.max(now, next.atMs);
        next.work();
        await settle();
      }
      now = untilMs;
    },
  };
}

/** Few things wait at once, so that a search is cheaper than an order that is kept. */
function nextOf(waiting: ReadonlySet<Waiting>, untilMs: number): Waiting | undefined {
  let first: Waiting | undefined;
  for (const one of waiting) {
    if (one.atMs > untilMs) continue;
    const sooner =
      first === undefined || one.atMs < first.atMs || (one.atMs === first.atMs && one.order < first.order);
    if (sooner) first = one;
  }
  return first;
}

/** Lets everything run that needs neither time nor a network: all of it is done before the next turn of the loop. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
