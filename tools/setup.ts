/**
 * Brings the system programs that the tests need and npm cannot: on Debian as root it installs them, anywhere
 * else it names the line to run. Prints on standard error only.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** A program that must be found, and the Debian packages that hold it. */
export type Need = {
  readonly command: string;
  readonly packages: readonly string[];
  /** What the packages would run as a daemon; nobody asked for it. */
  readonly service?: string;
  readonly why: string;
};

const needs: readonly Need[] = [
  { command: 'spin', packages: ['spin'], why: 'npm run model checks the model with it' },
  { command: 'gcc', packages: ['gcc', 'libc6-dev'], why: 'spin compiles its verifier with it' },
  {
    command: 'nginx',
    packages: ['nginx'],
    service: 'nginx',
    why: 'the tests put a real proxy and its cache in front of our sellers',
  },
  {
    command: 'redis-server',
    packages: ['redis-server'],
    service: 'redis-server',
    why: 'the tests keep claims in a real Redis',
  },
  {
    command: 'postgres',
    packages: ['postgresql'],
    service: 'postgresql',
    why: 'the tests keep claims in a real PostgreSQL',
  },
];

/** What to do about the programs that are missing: nothing, install them, or ask the person who runs this. */
export type Plan =
  | { readonly kind: 'ready' }
  | {
      readonly kind: 'install';
      readonly packages: readonly string[];
      readonly services: readonly string[];
    }
  | { readonly kind: 'ask'; readonly message: string };

/** Decides for a machine described by `has` (is this command there?) and whether it runs as root. */
export function plan(
  wanted: readonly Need[],
  machine: { has: (command: string) => boolean; root: boolean },
): Plan {
  const missing = wanted.filter((need) => !machine.has(need.command));
  if (missing.length === 0) return { kind: 'ready' };
  const packages = missing.flatMap((need) => need.packages);
  if (machine.root && machine.has('apt-get')) {
    const services = missing.flatMap(({ service }) => (service === undefined ? [] : [service]));
    return { kind: 'install', packages, services };
  }
  const reasons = missing.map((need) => `${need.command} is missing (${need.why}).`).join(' ');
  const line = machine.has('apt-get')
    ? `sudo apt-get install -y ${packages.join(' ')}`
    : `install ${missing.map((need) => need.command).join(' and ')} with this system's package manager`;
  return { kind: 'ask', message: `${reasons} Run: ${line}` };
}

/** Where Debian keeps servers, outside the PATH of everybody but root. */
const serverFolders: readonly string[] = ['/usr/local/sbin', '/usr/sbin'];

/** Debian lets several PostgreSQL live side by side, each in a folder of its version, none on PATH. */
const postgresHome = '/usr/lib/postgresql';

/** The folders of the PostgreSQL programs below `home`, newest version first. */
export function postgresFolders(home: string = postgresHome): readonly string[] {
  if (!existsSync(home)) return [];
  const versions = readdirSync(home).filter((name) => /^\d+(?:\.\d+)?$/.test(name));
  return versions.sort((a, b) => Number(b) - Number(a)).map((version) => join(home, version, 'bin'));
}

/** The path of a program on PATH, or where servers are; undefined when it is nowhere. */
export function locate(command: string): string | undefined {
  const endings = process.platform === 'win32' ? ['.exe', '.cmd'] : [''];
  const onPath = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  const folders = [...onPath, ...serverFolders, ...postgresFolders()];
  const paths = folders.flatMap((folder) => endings.map((ending) => join(folder, command + ending)));
  return paths.find((path) => existsSync(path));
}

/** Whether a program of that name can be started here. */
export function has(command: string): boolean {
  return locate(command) !== undefined;
}

/** The line that names a missing program, the reason for it and what to run. */
export function missing(command: string, found: (command: string) => boolean = has): string {
  const next = plan(
    needs.filter((need) => need.command === command),
    { has: (name) => name !== command && found(name), root: false },
  );
  return next.kind === 'ask' ? next.message : `${command} is missing.`;
}

const policyFile = '/usr/sbin/policy-rc.d';

/**
 * Runs an installation that may start no service: a Debian package asks this file first, and 101 is a no. A policy
 * that is there already is its owner's and stays.
 */
export function withoutServices<Result>(run: () => Result, policy: string = policyFile): Result {
  if (existsSync(policy)) return run();
  // An interrupt ends the installation and not us, who have a file to remove.
  const ignore = (): void => {};
  const signals = ['SIGINT', 'SIGTERM'] as const;
  for (const signal of signals) process.on(signal, ignore);
  writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755, flag: 'wx' });
  try {
    return run();
  } finally {
    rmSync(policy, { force: true });
    for (const signal of signals) process.off(signal, ignore);
  }
}

function install({ packages, services }: Extract<Plan, { kind: 'install' }>): boolean {
  const installed = withoutServices(() => fetchPackages(packages));
  // Not at the next boot either; without systemd only a person starts services.
  if (existsSync('/run/systemd/system')) {
    for (const service of services)
      spawnSync('systemctl', ['disable', '--now', service], { stdio: 'ignore' });
  }
  return installed;
}

function fetchPackages(packages: readonly string[]): boolean {
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
      if (install(next)) return 0;
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
