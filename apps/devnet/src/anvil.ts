/**
 * One anvil process: found inside the npm package, started on 127.0.0.1, ended by its pid.
 * Two facts shape the flags. Without --prune-history anvil writes every old block to the user's home and
 * never removes it. And its own --state file is not written atomically, so state is saved by `saver.ts`.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import type { Readable } from 'node:stream';
import { MNEMONIC } from './accounts.ts';
import { DevnetError, explain } from './failure.ts';
import { type Watch, watchOver } from './watch.ts';

/** The chain id of every devnet; no real chain has it, so nothing signed here is valid elsewhere. */
export const CHAIN_ID = 31337;

/** States kept in memory: enough for reorgs and snapshots, and nothing reaches the disk. */
const PRUNE_HISTORY = 64;

/** Anvil boots in about 50 ms; a loaded machine or a large state may need longer, not this long. */
const START_LIMIT_MS = 30_000;

/** How long a polite end may take before the process is killed. */
const STOP_LIMIT_MS = 3_000;

/** Kept of what anvil prints, for the error message. */
const TAIL_CHARS = 4_096;

/** The version this program is written for, named in the line to run when it is missing. */
const VERSION = '1.7.1';

const PLATFORM_PACKAGES: Readonly<Record<string, string>> = {
  'linux-x64': '@foundry-rs/anvil-linux-amd64',
  'linux-arm64': '@foundry-rs/anvil-linux-arm64',
  'darwin-x64': '@foundry-rs/anvil-darwin-amd64',
  'darwin-arm64': '@foundry-rs/anvil-darwin-arm64',
  'win32-x64': '@foundry-rs/anvil-win32-amd64',
};

/** A running anvil: `url` is its JSON-RPC address, `exited` resolves with one line when it is gone. */
export type Anvil = {
  readonly url: string;
  readonly pid: number;
  readonly exited: Promise<string>;
  running(): boolean;
  stop(): Promise<void>;
};

/** How to start anvil: `port` 0 takes a free one, `accounts` counts all funded accounts. */
export type AnvilOptions = {
  readonly port: number;
  readonly accounts: number;
  readonly loadState?: string;
};

type Child = ChildProcessByStdio<null, Readable, Readable>;

/** Where this machine's anvil is, or a {@link DevnetError} that names the line to run. */
export function findAnvil(platform: string = process.platform, arch: string = process.arch): string {
  const name = PLATFORM_PACKAGES[`${platform}-${arch}`];
  if (name === undefined) {
    throw new DevnetError(
      'anvil_missing',
      `There is no anvil for ${platform}-${arch}: use Linux, macOS or Windows.`,
    );
  }
  const found = resolveBinary(`${name}/bin/${platform === 'win32' ? 'anvil.exe' : 'anvil'}`);
  if (found !== undefined) return found;
  throw new DevnetError(
    'anvil_missing',
    `anvil for ${platform}-${arch} is not installed. Run: npm install --include=optional --no-save ${name}@${VERSION}`,
  );
}

/** The platform package is an optional dependency of the wrapper, so it is looked for from there. */
function resolveBinary(path: string): string | undefined {
  try {
    const wrapper = createRequire(import.meta.url).resolve('@foundry-rs/anvil/package.json');
    const found = createRequire(wrapper).resolve(path);
    return existsSync(found) ? found : undefined;
  } catch {
    // Not resolvable and resolvable but absent are the same to the reader: it is not installed.
    return undefined;
  }
}

/** Starts anvil without mining (the caller turns it on after deploying) and waits until it listens. */
export async function startAnvil(options: AnvilOptions): Promise<Anvil> {
  const child = spawn(findAnvil(), anvilArguments(options), {
    // A Ctrl-C in the terminal goes to the whole process group; anvil must outlive it until its state is saved.
    detached: true,
    cwd: tmpdir(),
    env: anvilEnvironment(process.env),
    stdio: ['ignore', 'pipe', 'pipe'],
    windowsHide: true,
  });
  const exited = exitOf(child);
  if (child.pid === undefined) {
    throw new DevnetError(
      'anvil_failed',
      `anvil did not start: ${await exited}. On Linux it needs glibc 2.35.`,
    );
  }
  const watch = watchOver(child.pid);
  try {
    const port = await listening(child, exited, options.port);
    return {
      url: `http://127.0.0.1:${port}`,
      pid: child.pid,
      exited,
      running: () => isRunning(child),
      stop: () => stopAnvil(child, watch),
    };
  } catch (error) {
    await stopAnvil(child, watch);
    throw error;
  }
}

function anvilArguments(options: AnvilOptions): string[] {
  const given = ['--host', '127.0.0.1', '--port', String(options.port), '--chain-id', String(CHAIN_ID)];
  given.push('--mnemonic', MNEMONIC, '--accounts', String(options.accounts));
  given.push(`--prune-history=${PRUNE_HISTORY}`, '--slots-in-an-epoch', '1', '--no-mining');
  if (options.loadState !== undefined) given.push('--load-state', options.loadState);
  return given;
}

/** A variable such as FOUNDRY_ETH_RPC_URL would make anvil fork a real chain; none of them is passed on. */
function anvilEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !/^(FOUNDRY|ANVIL|DAPP|ETH|RUST)_/.test(name)),
  );
}

/** Resolves with the port once anvil says so; goes on reading, or a full pipe would stop anvil. */
async function listening(child: Child, exited: Promise<string>, port: number): Promise<number> {
  let printed = '';
  let complaint = '';
  child.stderr.on('data', (chunk: Buffer) => {
    complaint = (complaint + chunk.toString()).slice(-TAIL_CHARS);
  });
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const limit = setTimeout(() => {
    reject(new DevnetError('anvil_failed', `anvil did not listen in ${START_LIMIT_MS / 1000} s.`));
  }, START_LIMIT_MS);
  child.stdout.on('data', (chunk: Buffer) => {
    printed = (printed + chunk.toString()).slice(-TAIL_CHARS);
    const found = /Listening on 127\.0\.0\.1:(\d+)/.exec(printed);
    if (found?.[1] !== undefined) resolve(Number(found[1]));
  });
  void exited.then((reason) => reject(bootFailure(complaint || reason, port)));
  return promise.finally(() => clearTimeout(limit));
}

function bootFailure(complaint: string, port: number): DevnetError {
  if (/already in use|os error (98|48|10048)\b/.test(complaint)) {
    return new DevnetError(
      'port_taken',
      `Port ${port} on 127.0.0.1 is taken. Give another one, or 0 for a free one.`,
    );
  }
  return new DevnetError(
    'anvil_failed',
    `anvil ended while starting: ${complaint.trim().split('\n')[0] ?? ''}`,
  );
}

function exitOf(child: Child): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(explain(error)));
    child.once('exit', (code, signal) => resolve(`anvil ended with ${signal ?? `code ${code}`}`));
  });
}

function isRunning(child: Child): boolean {
  return child.exitCode === null && child.signalCode === null;
}

async function stopAnvil(child: Child, watch: Watch): Promise<void> {
  if (isRunning(child)) {
    const exit = once(child, 'exit');
    const force = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
    child.kill('SIGTERM');
    await exit;
    clearTimeout(force);
  }
  await watch.release();
}
