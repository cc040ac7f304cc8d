/**
 * `npm run bench -- seller`: how fast a seller is beside the bare frameworks and the official adapters; `-- stores`: how
 * fast the claim stores are beside their databases. Exit codes: 0 measured and every goal met, 1 a goal is missed (or a
 * key had not exactly one winner), 2 asked wrongly, 3 could not be measured.
 */
import { parseArgs } from 'node:util';
import { type Outside, runSeller } from './seller/command.ts';
import { scenarioNames, scenarios } from './seller/scenario.ts';
import { runStores } from './stores/command.ts';
import { storeNames } from './stores/contender.ts';

const usage = `usage: npm run bench -- seller|stores [options]

  --json            figures as one JSON object on standard output
  --quick           a few requests each, to see that everything works; the figures mean nothing
  --only NAME,...   seller: some of ${scenarioNames.join(', ')}
                    stores: some of ${storeNames.join(', ')}
  --profile FOLDER  seller: also profile our servers: .cpuprofile files, and the hottest functions in the output
  --help            this text
`;

/** Asked wrongly; its message is all that a person is shown. */
class MisuseError extends Error {
  override readonly name = 'MisuseError';
}

/** A measurement, ready to go. */
type Benchmark = (outside: Outside) => Promise<boolean>;

/** What was asked for, or undefined where help is wanted. */
function readBenchmark(args: readonly string[]): Benchmark | undefined {
  const { values, positionals } = parse(args);
  if (values.help === true) return undefined;
  const [command, ...more] = positionals;
  if (more.length > 0) throw new MisuseError('there is one benchmark at a time');
  const options = { quick: values.quick === true, json: values.json === true };
  const { profile } = values;
  switch (command) {
    case 'seller': {
      const wanted = readOnly(values.only, scenarioNames);
      const chosen = scenarios.filter(({ name }) => wanted.includes(name));
      const folder = profile === undefined ? {} : { profileFolder: profile };
      return (outside) => runSeller({ ...options, scenarios: chosen, ...folder }, outside);
    }
    case 'stores': {
      if (profile !== undefined) throw new MisuseError('only "seller" has a profile');
      const stores = readOnly(values.only, storeNames);
      return (outside) => runStores({ ...options, stores }, outside);
    }
    default:
      throw new MisuseError('the benchmarks are "seller" and "stores"');
  }
}

/** The names of a list, in our order; all of them where none is named. */
function readOnly<Name extends string>(text: string | undefined, names: readonly Name[]): readonly Name[] {
  const wanted: readonly string[] = text?.split(',') ?? names;
  const unknown = wanted.find((name) => !names.some((known) => known === name));
  if (unknown !== undefined) throw new MisuseError(`"${unknown}" is none of ${names.join(', ')}`);
  return names.filter((name) => wanted.includes(name));
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        json: { type: 'boolean' },
        quick: { type: 'boolean' },
        only: { type: 'string' },
        profile: { type: 'string' },
        help: { type: 'boolean' },
      },
    });
  } catch (fault) {
    throw new MisuseError(fault instanceof Error ? fault.message : 'the options cannot be read');
  }
}

async function main(): Promise<number> {
  const benchmark = readBenchmark(process.argv.slice(2));
  if (benchmark === undefined) {
    process.stdout.write(usage);
    return 0;
  }
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort(new Error('interrupted')));
  const good = await benchmark({
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    signal: stop.signal,
  });
  return good ? 0 : 1;
}

try {
  process.exitCode = await main();
} catch (fault) {
  const misused = fault instanceof MisuseError;
  process.stderr.write(
    `bench: ${fault instanceof Error ? fault.message : String(fault)}\n${misused ? usage : ''}`,
  );
  process.exitCode = misused ? 2 : 3;
}
