/**
 * A table for one step over what the server said, or over a guess. It notes all that the step looks at and writes, so
 * that the server can be asked to apply exactly that. What was not said is guessed: a record as this process last saw
 * it, and for the rest that nothing stands in the way, which is what most payments meet. A wrong guess costs a round
 * trip and nothing else, since the server compares before it writes.
 */
import type { Change } from '../../claim/index.ts';
import type { Table, Twins } from '../operations.ts';
import type { Asks, Attempt, BlobWrite, Sight, Versioned, Write } from './remote.ts';

export type Scene = {
  readonly table: Table;
  /** What the step looked at and what it wrote, once it has run. */
  readonly attempt: () => Attempt;
};

export type Guess = {
  readonly nowMs: number;
  readonly record: (key: string) => Versioned | undefined;
};

/** A table for one run of one step. */
export function createScene(sight: Sight | undefined, guess: Guess): Scene {
  // The server's own time, or what it must be by now: a process that is late decides for no moment long past.
  const nowMs = Math.max(sight?.nowMs ?? 0, guess.nowMs);
  const records = new Map<string, Versioned | undefined>();
  const writes: Write[] = [];
  const asks: { -readonly [name in keyof Omit<Asks, 'keys'>]: Asks[name] } = {};
  const seen: { -readonly [name in keyof Omit<Sight, 'nowMs' | 'records'>]: Sight[name] } = {};
  let blobs: BlobWrite | undefined;
  const table: Table = {
    nowMs: () => nowMs,
    record: (key) => {
      const found = sight?.records.has(key) === true ? sight.records.get(key) : guess.record(key);
      records.set(key, found);
      return found?.record;
    },
    older: (twins, _nowMs, limit) => {
      asks.older = { twins: twinsOf(twins), limit };
      seen.older = sight?.older ?? [];
      return seen.older.map(({ record }) => record);
    },
    aliased: (alias, limit) => {
      asks.aliased = { alias, limit };
      seen.aliased = sight?.aliased ?? [];
      return seen.aliased.map(({ record }) => record);
    },
    exposure: (payer, limits) => {
      asks.exposure = { payer, limits };
      seen.mustPayFirst = sight?.mustPayFirst ?? false;
      // The server counts; the rule asks for no more than whether a limit is reached.
      return { unpaid: 0, open: seen.mustPayFirst ? limits.open : 0 };
    },
    full: () => {
      asks.room = true;
      seen.full = sight?.full ?? false;
      return seen.full;
    },
    write: (key, change) => {
      writes.push(...recordWrites(key, change));
      blobs = blobsOf(key, change) ?? blobs;
    },
    // Making room and lists are questions of their own, and no part of a step over one payment.
    due: () => [],
    unproven: () => [],
    list: () => [],
    expired: () => [],
    stale: () => [],
    answer: () => undefined,
    payload: () => undefined,
  };
  return {
    table,
    attempt: () => ({
      asks: { keys: [...records.keys()], ...asks },
      expected: { nowMs, records, ...seen },
      writes,
      ...(blobs === undefined ? {} : { blobs }),
    }),
  };
}

function twinsOf({ network, payer, payTo, fingerprint }: Twins): Twins {
  return { network, payer, payTo, fingerprint };
}

function recordWrites(key: string, { record, other }: Change): readonly Write[] {
  const own = record === undefined ? [] : [{ key, record }];
  return other === undefined ? own : [...own, { key: other.key, record: other }];
}

function blobsOf(key: string, { answer, payload }: Change): BlobWrite | undefined {
  if (answer === undefined && payload === undefined) return undefined;
  return {
    key,
    ...(answer === undefined ? {} : { answer }),
    ...(payload === undefined ? {} : { payload }),
  };
}
