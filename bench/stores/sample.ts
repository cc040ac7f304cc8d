/** What all processes found in one turn of one contender, put together. */
import { quantile } from '../load/steady.ts';
import { readNumber, readObject } from '../process/read.ts';
import type { Part } from './burst.ts';
import { keysOf, type Scenario, wordsOf } from './scenario.ts';

export type Sample = {
  /** Calls, or whole payments, from the first start to the last end. */
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly worstMs: number;
  /** The longest time that a claiming process's event loop stood still. */
  readonly blockMs: number;
  /** Keys that were not won exactly once. */
  readonly wrongKeys: number;
};

/** Reads what a process said about its part. */
export function readPart(value: unknown): Part {
  const part = readObject(value, 'part');
  return {
    won: readNumbers(part.won, 'won'),
    timesMs: readNumbers(part.timesMs, 'timesMs'),
    startMs: readNumber(part, 'startMs'),
    endMs: readNumber(part, 'endMs'),
    blockMs: readNumber(part, 'blockMs'),
  };
}

function readNumbers(value: unknown, name: string): readonly number[] {
  if (Array.isArray(value) && value.every((entry: unknown) => typeof entry === 'number')) return value;
  throw new TypeError(`${name} is not a list of numbers`);
}

/** Puts the parts together; `turn` is the word that the keys of the turn were made of. */
export function sampleOf(scenario: Scenario, turn: string, parts: readonly Part[]): Sample {
  const times = parts.flatMap(({ timesMs }) => timesMs).sort((a, b) => a - b);
  const tookMs =
    Math.max(...parts.map(({ endMs }) => endMs)) - Math.min(...parts.map(({ startMs }) => startMs));
  return {
    perSecond: (times.length * 1_000) / tookMs,
    p50Ms: quantile(times, 0.5),
    p99Ms: quantile(times, 0.99),
    worstMs: quantile(times, 1),
    blockMs: Math.max(...parts.map(({ blockMs }) => blockMs)),
    wrongKeys: wrongKeys(scenario, turn, parts),
  };
}

/** Keys without a winner and keys with several. */
function wrongKeys(scenario: Scenario, turn: string, parts: readonly Part[]): number {
  const wins = new Map<string, number>();
  for (const [process, { won }] of parts.entries()) {
    const words = wordsOf(scenario, turn, process);
    for (const at of won) wins.set(words[at] ?? '', (wins.get(words[at] ?? '') ?? 0) + 1);
  }
  const right = [...wins.values()].filter((count) => count === 1).length;
  const several = wins.size - right;
  return several + (keysOf(scenario) - wins.size);
}
