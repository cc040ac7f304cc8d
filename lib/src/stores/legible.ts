/**
 * Lists over records of which some cannot be read. One that somebody has damaged fails the look-up that names it; in a
 * list it is left out, or it would stand before everything that is due after it, for ever.
 */
import { type ClaimRecord, decodeRecord } from '../claim/index.ts';

/** Rows that one list reads beyond its limit; so many damaged ones at its head are no accident, and hide the rest. */
const mostSkipped = 1_000;

/** The record of a text, or undefined where it is none. */
export function decoded(text: string): ClaimRecord | undefined {
  try {
    return decodeRecord(text);
  } catch {
    return undefined;
  }
}

/**
 * The first `limit` that can be read. `read` gives the first `count` in their order, undefined for what is damaged, and
 * is asked for more where those took somebody's place: whoever pages takes a short page for the last.
 */
export async function legible<T>(
  limit: number,
  read: (count: number) => Promise<readonly (T | undefined)[]>,
): Promise<readonly T[]> {
  for (let count = limit; ; ) {
    const rows = await read(count);
    const found = kept(rows, limit);
    const more = missing({ limit, count, rows: rows.length, found: found.length });
    if (more === 0) return found;
    count += more;
  }
}

/** As {@link legible}, where the rows are at hand. */
export function legibleNow<T>(
  limit: number,
  read: (count: number) => readonly (T | undefined)[],
): readonly T[] {
  for (let count = limit; ; ) {
    const rows = read(count);
    const found = kept(rows, limit);
    const more = missing({ limit, count, rows: rows.length, found: found.length });
    if (more === 0) return found;
    count += more;
  }
}

function kept<T>(rows: readonly (T | undefined)[], limit: number): readonly T[] {
  return rows.filter((row) => row !== undefined).slice(0, limit);
}

/** How many more are to be read; twice as many each time, so that a few reads are enough. */
function missing(read: {
  readonly limit: number;
  readonly count: number;
  readonly rows: number;
  readonly found: number;
}): number {
  const { limit, count, rows, found } = read;
  if (found >= limit || rows < count) return 0;
  return Math.min(count, limit + mostSkipped - count);
}
