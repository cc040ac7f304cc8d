/** What one server did in its turn of one round, and whether it answered as it should. */
import { readNumber, readObject } from '../process/read.ts';
import type { Maker } from '../server/shop.ts';
import { burstCopies, type Scenario } from './scenario.ts';

/** Answers by status. */
export type Statuses = Readonly<Record<string, number>>;

/** A turn of a steady load; CPU is that of the server's process for one request. */
export type SteadySample = {
  readonly statuses: Statuses;
  readonly runs: number;
  readonly cpuMicros: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly requestsPerSecond: number;
};

/** A burst; CPU is that of the server's process for one copy. */
export type BurstSample = {
  readonly statuses: Statuses;
  readonly runs: number;
  readonly cpuMicros: number;
  /** When the last copy that gets nothing was answered; 0 where every copy was served. */
  readonly lastLoserMs: number;
  /** When the last copy of all was answered. */
  readonly lastMs: number;
};

/** What the server's process had spent, and its handler had run, before and after a turn. */
export type Cost = { readonly cpuMicros: number; readonly runs: number };

/** A server that did not answer as it should was not measured. */
export class AnswerError extends Error {
  override readonly name = 'AnswerError';
}

/** Reads the cost that a server told. */
export function readCost(value: unknown): Cost {
  const cost = readObject(value, 'cost');
  return { cpuMicros: readNumber(cost, 'cpuMicros'), runs: readNumber(cost, 'runs') };
}

/** Puts together what the load and the server said about a turn of `requests` requests. */
export function steadySample(said: unknown, spent: Cost, requests: number): SteadySample {
  const run = readObject(said, 'run');
  return {
    statuses: readStatuses(run.statuses),
    runs: spent.runs,
    cpuMicros: spent.cpuMicros / requests,
    p50Ms: readNumber(run, 'p50Ms'),
    p99Ms: readNumber(run, 'p99Ms'),
    requestsPerSecond: readNumber(run, 'requestsPerSecond'),
  };
}

/** Puts together what the load and the server said about a burst. */
export function burstSample(said: unknown, spent: Cost): BurstSample {
  const burst = readObject(said, 'burst');
  return {
    statuses: readStatuses(burst.statuses),
    runs: spent.runs,
    cpuMicros: spent.cpuMicros / burstCopies,
    lastLoserMs: readNumber(burst, 'lastLoserMs'),
    lastMs: readNumber(burst, 'lastMs'),
  };
}

function readStatuses(value: unknown): Statuses {
  const statuses = readObject(value, 'statuses');
  return Object.fromEntries(Object.keys(statuses).map((status) => [status, readNumber(statuses, status)]));
}

/** The answers that a turn must have; of a burst with one payment one copy alone is served. */
export function expectedStatuses(scenario: Scenario, maker: Maker, requests: number): Statuses {
  if (maker === 'bare') return { '200': requests };
  if (scenario.name === 'burst') return { '200': 1, '402': requests - 1 };
  return scenario.paid ? { '200': requests } : { '402': requests };
}

/** Throws an {@link AnswerError} where answers differ from what they must be. */
export function checkStatuses(name: string, seen: Statuses, expected: Statuses): void {
  const text = (statuses: Statuses): string =>
    Object.entries(statuses)
      .map(([status, count]) => `${count} x ${status}`)
      .sort()
      .join(', ');
  if (text(seen) === text(expected)) return;
  throw new AnswerError(`${name} answered ${text(seen)}, where ${text(expected)} was expected.`);
}
