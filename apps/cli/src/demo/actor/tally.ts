/**
 * The paid work of both sellers, and how often it ran. The two sellers do exactly the same, so that what differs is
 * what stands in front of the work.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { readCount, readList, readObject, readText } from '../process/read.ts';

/** What both sell, at one price. */
export const paths = ['/weather', '/premium', '/work'] as const;
/** Only ours: sold for POST and PUT at that same price, to payments that commit to their request. */
export const chatPath = '/chat';
/** Only ours: at one price too, told apart by a few atomic units. */
export const ditheredPaths = ['/sun', '/moon'] as const;
/** Another one than {@link price}, so that what differs between the two is nothing but the dither. */
export const ditheredPrice = '$0.02';
/** Free of charge: opens a connection, so that a burst measures the seller and not the TCP handshake. */
export const freePath = '/hello';
/** One cent. */
export const price = '$0.01';
/** Handshakes overlap only when no answer comes before the last connection is open. */
const helloMs = 150;

/** One run of a handler, Unix milliseconds. */
export type Run = { readonly path: string; readonly startMs: number; readonly endMs: number };

export type Tally = {
  /** Does the work of a path and counts it; resolves with the JSON text that is sold. */
  readonly work: (path: string, signal?: AbortSignal) => Promise<string>;
  readonly hello: () => Promise<string>;
  /** Runs that began, by path. */
  readonly begun: () => Readonly<Record<string, number>>;
  /** Runs that ended. */
  readonly runs: () => readonly Run[];
};

/** Starts counting; `/work` takes `workMs`, everything else no time. */
export function createTally(workMs: number): Tally {
  const begun = new Map<string, number>();
  const runs: Run[] = [];
  return {
    work: async (path, signal) => {
      const number = (begun.get(path) ?? 0) + 1;
      begun.set(path, number);
      const startMs = Date.now();
      if (path === '/work') await delay(workMs, undefined, signal === undefined ? {} : { signal });
      const endMs = Date.now();
      runs.push({ path, startMs, endMs });
      return JSON.stringify({ sold: path, run: number, tookMs: endMs - startMs });
    },
    hello: async () => {
      await delay(helloMs);
      return JSON.stringify({ hello: true });
    },
    begun: () => Object.fromEntries(begun),
    runs: () => runs,
  };
}

/** What a seller process says of its handlers. */
export type Counts = { readonly begun: Readonly<Record<string, number>>; readonly runs: readonly Run[] };

/** Parses the answer of a seller process to `counts`. */
export function readCounts(value: unknown): Counts {
  const counts = readObject(value, 'counts');
  const begun = readObject(counts.begun, 'begun');
  return {
    begun: Object.fromEntries(Object.keys(begun).map((path) => [path, readCount(begun, path)])),
    runs: readList(counts, 'runs', (entry) => {
      const run = readObject(entry, 'run');
      return {
        path: readText(run, 'path'),
        startMs: readCount(run, 'startMs'),
        endMs: readCount(run, 'endMs'),
      };
    }),
  };
}

/** Runs that began at a path, or anywhere. */
export function begunAt(counts: Counts, path?: string): number {
  if (path !== undefined) return counts.begun[path] ?? 0;
  return Object.values(counts.begun).reduce((sum, runs) => sum + runs, 0);
}
