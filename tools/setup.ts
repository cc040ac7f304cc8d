/**
 * Brings the system programs that the tests need and npm cannot: on Debian as root it installs them, anywhere
 * else it names the line to run. Prints on standard error only.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** A program that must be found on PATH, and the Debian packages that hold it. */
export type Need = { readonly command: string; readonly packages: readonly string[]; readonly why: string };

const needs: readonly Need[] = [
  { command: 'spin', packages: ['spin'], why: 'npm run model checks the model with it' },
  { command: 'gcc', packages: ['gcc', 'libc6-dev'], why: 'spin compiles its verifier with it' },
];

/** What to do about the programs that are missing: nothing, install them, or ask the person who runs this. */
export type Plan =
  | { readonly kind: 'ready' }
  | { readonly kind: 'install'; readonly packages: readonly string[] }
  | { readonly kind: 'ask'; readonly message: string };

/** Decides for a machine described by `has` (is this command on PATH?) and whether it runs as root. */
export function plan(
  wanted: readonly Need[],
  machine: { has: (command: string) => boolean; root: boolean },
): Plan {
  const missing = wanted.filter((need) => !machine.has(need.command));
  if (missing.length === 0) return { kind: 'ready' };
  const packages = missing.flatMap((need) => need.packages);
  if (machine.root && machine.has('apt-get')) return { kind: 'install', packages };
  const reasons = missing.map((need) => `${need.command} is missing (${need.why}).`).join(' ');
  const line = machine.has('apt-get')
    ? `sudo apt-get install -y ${packages.join(' ')}`
    : `install ${missing.map((need) => need.command).join(' and ')} with this system's package manager`;
  return { kind: 'ask', message: `${reasons} Run: ${line}` };
}

/** Whether a program of that name is on PATH. */
export function has(command: string): boolean {
  const endings = process.platform === 'win32' ? ['.exe', '.cmd'] : [''];
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.some((folder) => endings.some((ending) => existsSync(join(folder, command + ending))));
}

function install(packages: readonly string[]): boolean {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  for (const args of [['update'], ['install', '-y', '--no-install-recommends', ...packages]]) {
    // Its chatter goes to standard error, so that a script's standard output stays the script's own.
    const run = spawnSync('apt-get', args, { env, stdio: ['ignore', 2, 2] });
    if (run.status !== 0) return false;
  }
  return true;
}

function main(): number {
  const next = plan(needs, { has, root: process.getuid?.() === 0 });
  switch (next.kind) {
    case 'ready':
      return 0;
    case 'install':
      if (install(next.packages)) return 0;
      console.error(`setup: apt-get could not install ${next.packages.join(' ')}`);
      return 2;
    case 'ask':
      console.error(`setup: ${next.message}`);
      return 2;
    default:
      return next satisfies never;
  }
}

if (process.argv[1] === import.meta.filename) process.exitCode = main();
