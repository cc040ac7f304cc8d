/**
 * Records as this process last saw them, for the next guess. A payment is looked at about five times within seconds and
 * then for a long time not at all, so the least recently used goes first.
 */
import type { Versioned } from './remote.ts';

/** Payments under way at once in one process, with some room; about 3 KiB each. */
const memoryLimit = 2_000;

export type Memory = {
  /** Undefined where there is no record, or no guess worth keeping. */
  readonly note: (key: string, found: Versioned | undefined) => void;
  readonly recall: (key: string) => Versioned | undefined;
};

/** Holds nothing at first. */
export function createMemory(limit: number = memoryLimit): Memory {
  const known = new Map<string, Versioned>();
  return {
    note: (key, found) => {
      known.delete(key);
      if (found === undefined) return;
      known.set(key, found);
      if (known.size <= limit) return;
      const oldest = known.keys().next();
      if (oldest.done !== true) known.delete(oldest.value);
    },
    recall: (key) => known.get(key),
  };
}
