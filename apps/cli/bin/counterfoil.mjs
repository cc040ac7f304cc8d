#!/usr/bin/env node
// @ts-check
/**
 * The command `counterfoil`. Runs the program in this process where Node is new enough, and otherwise under the
 * Node that npm ci brought into a clone. Plain JavaScript of 2020, because an old Node must be able to read it.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** Oldest Node that runs the sources as they are (engines of package.json). */
const oldest = [22, 19];

const here = dirname(fileURLToPath(import.meta.url));
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const young = major > oldest[0] || (major === oldest[0] && minor >= oldest[1]);
const built = join(here, '..', 'dist', 'main.js');
const program = existsSync(built) ? built : join(here, '..', 'src', 'main.ts');
const bundled = join(
  here,
  '..',
  '..',
  '..',
  'node_modules',
  `node-${process.platform}-${process.arch}`,
  'bin',
  'node',
);

if (young) {
  // The program looks at its own name to know that it was started and not imported.
  process.argv[1] = program;
  await import(pathToFileURL(program).href);
} else if (existsSync(bundled)) {
  const child = spawn(bundled, [program, ...process.argv.slice(2)], { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      // A terminal sends Ctrl-C to both; twice would look like impatience to the program.
      const both = signal === 'SIGINT' && process.stdin.isTTY;
      if (!both) child.kill(signal);
    });
  }
  child.on('error', (error) => {
    console.error(`counterfoil: ${error.message}`);
    process.exitCode = 2;
  });
  // A shell reports a signal as 128 and its number; so does this process for its child.
  child.on('exit', (code, signal) => {
    process.exitCode = code === null ? 128 + (signal === null ? 0 : constants.signals[signal]) : code;
  });
} else {
  console.error(
    `counterfoil: Node ${oldest.join('.')} or newer is needed; this is Node ${process.versions.node}. Install it (nodejs.org), or in a clone run: npm ci`,
  );
  process.exitCode = 2;
}
