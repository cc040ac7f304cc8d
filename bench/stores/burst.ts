/** Calls over one till: so many in flight, each timed, and the longest time that the event loop stood still. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';

/** What one process found in its part of a turn. */
export type Part = {
  /** Which of the keys, by their place in the list, this process won; once for each win. */
  readonly won: readonly number[];
  readonly timesMs: readonly number[];
  /** On a clock that all processes of the machine share. */
  readonly startMs: number;
  readonly endMs: number;
  readonly blockMs: number;
};

/** The loop is looked at so often; what the timer waits anyway is taken off what was seen. */
const resolutionMs = 1;

/**
 * Calls `work` with every key in order, `inFlight` at a time, and waits for all. Each call is made in a turn of the event
 * loop of its own, as a request is, so that a store that blocks the loop is seen to.
 */
export async function runCalls(
  work: (key: string) => Promise<boolean>,
  keys: readonly string[],
  inFlight: number,
): Promise<Part> {
  const won: number[] = [];
  const timesMs: number[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let at = next; at < keys.length; at = next) {
      next += 1;
      await nextTurn();
      const beganMs = performance.now();
      if (await work(keys[at] ?? '')) won.push(at);
      timesMs.push(performance.now() - beganMs);
    }
  };
  const delays = monitorEventLoopDelay({ resolution: resolutionMs });
  delays.enable();
  // It measures from one of its looks to the next; a reset would have it begin anew.
  while (delays.count === 0) await delay(resolutionMs);
  const startMs = performance.now();
  await Promise.all(Array.from({ length: inFlight }, worker));
  const endMs = performance.now();
  // What blocked the loop to the end is seen at its next turn.
  await delay(2 * resolutionMs);
  delays.disable();
  const { timeOrigin } = performance;
  const blockMs = Math.max(0, delays.max / 1e6 - resolutionMs);
  return { won, timesMs, startMs: timeOrigin + startMs, endMs: timeOrigin + endMs, blockMs };
}
