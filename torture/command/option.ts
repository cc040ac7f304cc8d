/** What is asked of the program. */
import { parseArgs } from 'node:util';
import { largestSeed } from '../round/luck.ts';
import { type Flow, flows } from '../round/point.ts';
import { type StoreKind, storeKinds } from '../seller/store.ts';

const trialNames = ['kills', 'faults', 'copies', 'outages'] as const;
export type TrialName = (typeof trialNames)[number];

export type Options = {
  readonly trials: readonly TrialName[];
  readonly rounds: number;
  readonly copies: number;
  readonly seed: number | undefined;
  readonly stores: readonly StoreKind[];
  readonly flows: readonly Flow[];
  readonly processes: { readonly least: number; readonly most: number };
  readonly json: boolean;
};

/** Asked wrongly; its message is all that a person is shown. */
export class MisuseError extends Error {
  override readonly name = 'MisuseError';
}

export const usage = `usage: npm run torture -- [trial]... [options]

Real sellers on one store: killed, lied to and cut off, and the same payment presented again until it is served.

  kills      SIGKILL (or a long stop) at a named point, the same payment again         for each store and flow
  faults     a facilitator that loses, cuts, delays or repeats its answer               for each store and flow
  copies     copies of one payment at four sellers at once                              for each store
  outages    SIGKILL of the database server in the middle of a payment                  redis and postgres, each flow

  --rounds N          rounds of kills; copies as many, faults a fifth and outages a tenth of it; default 200
  --copies N          copies of one payment at once; default 50
  --seed N            the first round's seed, each next one is one more; default a new one, which is printed
  --store NAME        sqlite, redis or postgres (all three when not said); memory, in one process, has faults and copies
  --flow NAME         authorization or upfront; both when not said
  --processes A..B    sellers that take part in a round, from 2 to 4; default 2..4
  --json              one JSON object on standard output
  --help              this text

Exit codes: 0 everything held, 1 a promise was broken, 2 asked wrongly, 3 could not be told.
`;

const mostRounds = 100_000;
/** What one payer may have under way in one process is 64; there are four. */
const mostCopies = 200;
const sharedStores = ['sqlite', 'redis', 'postgres'] as const;

/** Reads the arguments; undefined where help is wanted. Throws `MisuseError`. */
export function readOptions(args: readonly string[]): Options | undefined {
  const { values, positionals } = parse(args);
  if (values.help === true) return undefined;
  const stores = chosen('--store', values.store, storeKinds) ?? sharedStores;
  const trials = chosen('a trial', positionals, trialNames) ?? trialNames;
  const options: Options = {
    trials,
    rounds: whole('--rounds', values.rounds ?? '200', { least: 1, most: mostRounds }),
    copies: whole('--copies', values.copies ?? '50', { least: 2, most: mostCopies }),
    seed:
      values.seed === undefined ? undefined : whole('--seed', values.seed, { least: 0, most: largestSeed }),
    stores,
    flows: chosen('--flow', values.flow, flows) ?? flows,
    processes: readRange(values.processes ?? '2..4'),
    json: values.json === true,
  };
  const forgetful = trials.find((trial) => trial === 'kills' || trial === 'outages');
  if (stores.includes('memory') && forgetful !== undefined)
    throw new MisuseError(
      `the memory store ends with its process: choose trials for it, without ${forgetful}`,
    );
  const servers = stores.some((store) => store === 'redis' || store === 'postgres');
  if (!servers && trials.length === 1 && trials[0] === 'outages')
    throw new MisuseError('outages kills a database server: choose redis or postgres for it');
  return options;
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        rounds: { type: 'string' },
        copies: { type: 'string' },
        seed: { type: 'string' },
        store: { type: 'string', multiple: true },
        flow: { type: 'string', multiple: true },
        processes: { type: 'string' },
        json: { type: 'boolean' },
        help: { type: 'boolean' },
      },
    });
  } catch (fault) {
    throw new MisuseError(fault instanceof Error ? fault.message : 'the options cannot be read');
  }
}

/** The named ones in our order; undefined where none is named. */
function chosen<Name extends string>(
  option: string,
  texts: readonly string[] | undefined,
  names: readonly Name[],
): readonly Name[] | undefined {
  if (texts === undefined || texts.length === 0) return undefined;
  const unknown = texts.find((text) => !names.some((name) => name === text));
  if (unknown !== undefined)
    throw new MisuseError(`${option} is one of ${names.join(', ')}, not "${unknown}"`);
  return names.filter((name) => texts.includes(name));
}

function whole(option: string, text: string, bounds: { least: number; most: number }): number {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= bounds.least && value <= bounds.most) return value;
  throw new MisuseError(
    `${option} takes a whole number from ${bounds.least} to ${bounds.most}, not "${text}"`,
  );
}

function readRange(text: string): Options['processes'] {
  const [, first = '', second = first] = /^([2-4])(?:\.\.([2-4]))?$/.exec(text) ?? [];
  const range = { least: Number(first), most: Number(second) };
  if (first !== '' && range.least <= range.most) return range;
  throw new MisuseError(`--processes takes a number from 2 to 4, or two as in 2..4, not "${text}"`);
}
