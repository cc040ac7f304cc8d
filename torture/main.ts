/**
 * `npm run torture`: real sellers that are killed, cut off and lied to, over every claim store. Exit codes: 0 every
 * promise held, 1 one was broken, 2 asked wrongly, 3 could not be told.
 */
import { MisuseError, readOptions, usage } from './command/option.ts';
import { jsonOf, tableOf, verdictOf } from './command/report.ts';
import { runTrials } from './command/run.ts';

const exits = { holds: 0, broken: 1, misuse: 2, untold: 3 } as const;

async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2));
  if (options === undefined) {
    process.stdout.write(usage);
    return 0;
  }
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort(new Error('interrupted')));
  const outcome = await runTrials(options, {
    say: (line) => void process.stderr.write(line === '' ? '\n' : `torture: ${line}\n`),
    signal: stop.signal,
  });
  process.stdout.write(options.json ? jsonOf(outcome) : tableOf(outcome));
  return exits[verdictOf(outcome)];
}

try {
  process.exitCode = await main();
} catch (fault) {
  const misused = fault instanceof MisuseError;
  const message = fault instanceof Error ? fault.message : String(fault);
  process.stderr.write(`torture: ${message}\n${misused ? usage : ''}`);
  process.exitCode = misused ? exits.misuse : exits.untold;
}
