/** What many runs came to: figures that add up, and the seeds that failed. */
import type { Played } from './play.ts';
import type { Tally } from './stage.ts';

/** Plain data, so that threads can hand it on. */
export type Sum = {
  readonly seeds: number;
  readonly counts: Counts;
  readonly answers: Readonly<Record<string, number>>;
  readonly exceptions: Readonly<Record<string, number>>;
  /** Transitions of the model that were played, in order. */
  readonly played: readonly string[];
  /** Seeds that failed, and the first of them. */
  readonly violations: number;
  readonly failures: readonly Failure[];
};
export type Counts = Readonly<Record<Count, number>>;
type Count = Exclude<keyof Tally, 'answers' | 'exceptions' | 'played'>;
export type Failure = { readonly seed: number; readonly faults: readonly string[] };

/** Enough to see whether one fault or many; each is repeated by its seed. */
const mostFailures = 50;
const mostFaults = 5;

export const nothing: Sum = {
  seeds: 0,
  counts: { asked: 0, ran: 0, served: 0, died: 0, operations: 0, changes: 0 },
  answers: {},
  exceptions: {},
  played: [],
  violations: 0,
  failures: [],
};

/** One run as a sum. */
export function sumOf({ seed, faults, tally }: Played): Sum {
  const { answers, exceptions, played, ...counts } = tally;
  return {
    seeds: 1,
    counts,
    answers: Object.fromEntries(answers),
    exceptions: Object.fromEntries(exceptions),
    played: [...played].sort(),
    violations: faults.length === 0 ? 0 : 1,
    failures: faults.length === 0 ? [] : [{ seed, faults: [...new Set(faults)].slice(0, mostFaults) }],
  };
}

/** Both together; failures in the order of their seeds. */
export function add(one: Sum, two: Sum): Sum {
  const { asked, ran, served, died, operations, changes } = one.counts;
  return {
    seeds: one.seeds + two.seeds,
    counts: {
      asked: asked + two.counts.asked,
      ran: ran + two.counts.ran,
      served: served + two.counts.served,
      died: died + two.counts.died,
      operations: operations + two.counts.operations,
      changes: changes + two.counts.changes,
    },
    answers: merged(one.answers, two.answers),
    exceptions: merged(one.exceptions, two.exceptions),
    played: [...new Set([...one.played, ...two.played])].sort(),
    violations: one.violations + two.violations,
    failures: [...one.failures, ...two.failures].sort((a, b) => a.seed - b.seed).slice(0, mostFailures),
  };
}

function merged(
  one: Readonly<Record<string, number>>,
  two: Readonly<Record<string, number>>,
): Readonly<Record<string, number>> {
  const names = [...new Set([...Object.keys(one), ...Object.keys(two)])].sort();
  return Object.fromEntries(names.map((name) => [name, (one[name] ?? 0) + (two[name] ?? 0)]));
}
