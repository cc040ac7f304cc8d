/**
 * `npm run bench -- seller`: how fast a seller is beside the bare frameworks and the official adapters. Exit codes:
 * 0 measured and every goal met, 1 a goal is missed, 2 asked wrongly, 3 could not be measured.
 */
import { parseArgs } from 'node:util';
import { runSeller, type SellerOptions } from './seller/command.ts';
import { scenarioNames, scenarios } from './seller/scenario.ts';

const usage = `usage: npm run bench -- seller [options]

  --json            figures as one JSON object on standard output
  --quick           a few requests each, to see that everything works; the figures mean nothing
  --only NAME,...   some of ${scenarioNames.join(', ')}
  --profile FOLDER  also profile our servers: .cpuprofile files, and the hottest functions in the output
  --help            this text
`;

/** Asked wrongly; its message is all that a person is shown. */
class MisuseError extends Error {
  override readonly name = 'MisuseError';
}

/** The options of `seller`, or undefined where help is wanted. */
function readOptions(args: readonly string[]): SellerOptions | undefined {
  const { values, positionals } = parse(args);
  if (values.help === true) return undefined;
  const [command, ...more] = positionals;
  if (command !== 'seller' || more.length > 0) throw new MisuseError('the only benchmark is "seller"');
  const wanted = values.only?.split(',') ?? scenarioNames;
  const unknown = wanted.find((name) => !scenarios.some((scenario) => scenario.name === name));
  if (unknown !== undefined) throw new MisuseError(`no scenario is called "${unknown}"`);
  return {
    scenarios: scenarios.filter(({ name }) => wanted.includes(name)),
    quick: values.quick === true,
    json: values.json === true,
    ...(values.profile === undefined ? {} : { profileFolder: values.profile }),
  };
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
  const options = readOptions(process.argv.slice(2));
  if (options === undefined) {
    process.stdout.write(usage);
    return 0;
  }
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort(new Error('interrupted')));
  const good = await runSeller(options, {
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
