/**
 * `npm run sim`: plays the whole seller on a virtual clock, seed by seed, and holds every store operation and every
 * answer against the laws of design section 3 and against the model. Exit 0 everything holds, 1 not, 2 wrong use.
 */
import { availableParallelism } from 'node:os';
import { pathToFileURL } from 'node:url';
import { loadRelation } from '../model/transitions.ts';
import { playAll } from './crew.ts';
import { type Options, readOptions, usage } from './options.ts';
import { play } from './play.ts';
import { failuresOf, jsonOf, tableOf, traceOf } from './report.ts';
import { add, nothing, type Sum, sumOf } from './sum.ts';

/** Where the program writes: its result, and what is only for somebody who waits. */
export type Streams = {
  readonly out: (text: string) => void;
  /** A line that the next one replaces; absent where nobody watches. */
  readonly progress?: (line: string) => void;
};

/** Runs the program and returns its exit code. */
export async function run(args: readonly string[], streams: Streams): Promise<number> {
  const read = readOptions(args, availableParallelism());
  if (!read.ok) {
    streams.out(`${read.why}\n${usage}`);
    return 2;
  }
  const { options } = read;
  if (options.trace) return showOne(options, streams);
  const startedMs = performance.now();
  const relation = await loadRelation();
  const sum = await playAll(options, (part) => tell(options, streams, part));
  const seconds = (performance.now() - startedMs) / 1000;
  streams.out(options.json ? jsonOf(sum, seconds) : tableOf(sum, seconds, relation));
  const [first] = sum.failures;
  if (first === undefined) return 0;
  if (!options.json) {
    const again = await play({ seed: first.seed, relation, traced: true });
    streams.out(`\n${traceOf(again)}\n\n${failuresOf(sum.failures)}`);
  }
  return 1;
}

async function showOne({ from, json }: Options, { out }: Streams): Promise<number> {
  const startedMs = performance.now();
  const played = await play({ seed: from, relation: await loadRelation(), traced: true });
  const seconds = (performance.now() - startedMs) / 1000;
  const result = { ...JSON.parse(jsonOf(add(nothing, sumOf(played)), seconds)), trace: played.trace };
  out(json ? JSON.stringify(result, null, 2) : traceOf(played));
  return played.faults.length === 0 ? 0 : 1;
}

function tell(options: Options, { progress }: Streams, sum: Sum): void {
  const failed = sum.violations === 0 ? '' : `, ${sum.violations} with violations`;
  progress?.(`${sum.seeds} of ${options.seeds} seeds${failed}`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { stderr } = process;
  process.exitCode = await run(process.argv.slice(2), {
    out: (text) => console.log(stderr.isTTY ? `\r\x1b[K${text}` : text),
    ...(stderr.isTTY ? { progress: (line) => void stderr.write(`\r\x1b[K${line}`) } : {}),
  });
}
