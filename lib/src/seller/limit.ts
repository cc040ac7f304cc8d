/** Nothing that a request waits for may wait for ever. */
import type { World } from '../world.ts';

/** The promise's value, or `late` once the limit is over; what comes later is not waited for. */
export async function within<T>(
  world: Pick<World, 'after'>,
  limitMs: number,
  promise: T | Promise<T>,
): Promise<T | 'late'> {
  // What is there already needs no timer, and most readings and prices are.
  if (!(promise instanceof Promise)) return promise;
  const late = Promise.withResolvers<'late'>();
  const timer = world.after(limitMs, () => late.resolve('late'));
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    timer.cancel();
  }
}
