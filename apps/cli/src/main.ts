/**
 * The program: gives the command line and the real streams to `run`, and its answer to the shell. A reader that
 * went away (`counterfoil … | head`) ends it quietly; any other stream that takes nothing more, as a full disk,
 * means that the answer could not be told.
 */
import { isStarted } from './entry.ts';
import { exits, explain } from './io.ts';
import { run } from './program.ts';

async function main(): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (fault: NodeJS.ErrnoException) => {
      if (fault.code === 'EPIPE') process.exit();
      if (stream === process.stdout) process.stderr.write(`counterfoil: ${explain(fault)}\n`);
      process.exit(exits.unknown);
    });
  }
  process.exitCode = await run(process.argv.slice(2), {
    stdout: process.stdout,
    stderr: process.stderr,
    stdin: process.stdin,
    env: process.env,
    nowMs: () => Date.now(),
  });
}

if (isStarted(import.meta.filename)) await main();
