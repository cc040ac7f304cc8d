/** The command line of `npm run sim`, read once. */
import { parseArgs } from 'node:util';

export type Options = {
  readonly from: number;
  readonly seeds: number;
  /** Prints everything that happens; for one seed. */
  readonly trace: boolean;
  readonly json: boolean;
  readonly workers: number;
};

export type Read =
  | { readonly ok: true; readonly options: Options }
  | { readonly ok: false; readonly why: string };

export const usage: string = `usage: npm run sim -- [--seeds N] [--from N] [--seed N] [--trace] [--json] [--workers N]
  --seeds N    how many seeds to play; default 1000
  --from N     the first seed; default 1
  --seed N     this seed alone
  --trace      with --seed: everything that happens, line by line
  --json       the result for a program
  --workers N  threads; default one a core
exit: 0 everything holds, 1 something is violated, 2 wrong use`;

const defaultSeeds = 1_000;
/** A day of two cores; more is a typing mistake. */
const mostSeeds = 10_000_000;
/** A seed is 32 bits of the generator's state. */
const mostSeed = 2 ** 32 - 1;
/** More threads than any machine here has cores would only wait for each other. */
const mostWorkers = 64;

/** Reads the arguments after the program's name; `cores` is the default number of threads. */
export function readOptions(args: readonly string[], cores: number): Read {
  const parsed = parse(args);
  if (typeof parsed === 'string') return { ok: false, why: parsed };
  const { values } = parsed;
  const alone = numberOf('seed', values.seed, mostSeed);
  const from = numberOf('from', values.from, mostSeed);
  const seeds = numberOf('seeds', values.seeds, mostSeeds);
  const workers = numberOf('workers', values.workers, mostWorkers);
  for (const read of [alone, from, seeds, workers])
    if (typeof read === 'string') return { ok: false, why: read };
  if (values.seed !== undefined && (values.seeds !== undefined || values.from !== undefined))
    return { ok: false, why: '--seed plays one seed: leave out --seeds and --from' };
  if (values.trace === true && values.seed === undefined)
    return { ok: false, why: '--trace needs the --seed that it is to show' };
  const count = (read: number | string | undefined, otherwise: number): number =>
    typeof read === 'number' ? read : otherwise;
  const first = count(alone, count(from, 1));
  const many = values.seed === undefined ? count(seeds, defaultSeeds) : 1;
  if (first + many - 1 > mostSeed) return { ok: false, why: `the last seed is at most ${mostSeed}` };
  const { trace = false, json = false } = values;
  return {
    ok: true,
    options: { from: first, seeds: many, trace, json, workers: Math.min(count(workers, cores), many) },
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        seeds: { type: 'string' },
        from: { type: 'string' },
        seed: { type: 'string' },
        workers: { type: 'string' },
        trace: { type: 'boolean' },
        json: { type: 'boolean' },
      },
    });
  } catch (fault) {
    return fault instanceof Error ? fault.message : String(fault);
  }
}

function numberOf(name: string, text: string | undefined, most: number): number | string | undefined {
  if (text === undefined) return undefined;
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  return value >= 1 && value <= most ? value : `--${name} is a whole number from 1 to ${most}, not ${text}`;
}
