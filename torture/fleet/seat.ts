/**
 * One place in a fleet: the process that sits there now, and its successor as soon as it was killed. A process that ends
 * in any other way is a defect of this program or of the machine, and says so.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import type { SellerConfig, Told } from '../seller/goods.ts';

/** Nothing can be told of the sellers: a server or a process of the rig failed. */
export class RigError extends Error {
  override readonly name = 'RigError';
}

export type Seat = {
  readonly name: string;
  /** Where the seller answers that sits here now; waits while one starts. Rejects with a `RigError`. */
  readonly url: () => Promise<string>;
  /** Processes that were killed here so far. */
  readonly kills: () => number;
  /** Resolves when this many were killed here. */
  readonly killed: (count: number) => Promise<void>;
  readonly signal: (signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT' | 'SIGTERM') => void;
  /** Lets a process go on that halts. */
  readonly resume: () => void;
  readonly close: () => Promise<void>;
};

export type SeatOptions = {
  readonly config: SellerConfig;
  /** Where the compiled modules are kept between two starts. */
  readonly cache: string;
  readonly onTold: (told: Told) => void;
};

const program = join(import.meta.dirname, '../seller/program.ts');
/** A start takes half a second, on a busy machine a few. */
const startLimitMs = 60_000;
/** The end of what it wrote says why it died. */
const keptErrorChars = 2_000;

type Run = { readonly child: ChildProcess; readonly url: Promise<string>; readonly ended: Promise<void> };

/** Starts the first process of a seat. */
export function takeSeat(options: SeatOptions): Seat {
  let kills = 0;
  let closing = false;
  let waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  const begin = (): Run => start(options, { isClosing: () => closing, onKilled, onBroken });
  function onKilled(): void {
    kills += 1;
    run = begin();
    for (const { count, resolve } of waiting) if (kills >= count) resolve();
    waiting = waiting.filter(({ count }) => kills < count);
  }
  /** Whoever asks for the address from now on learns why there is none. */
  function onBroken(fault: RigError): void {
    const url = Promise.reject(fault);
    url.catch(() => {});
    run = { ...run, url };
  }
  let run = begin();
  return {
    name: options.config.name,
    url: () => run.url,
    kills: () => kills,
    killed: async (count) => {
      if (kills >= count) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.push({ count, resolve });
      await promise;
    },
    signal: (signal) => void run.child.kill(signal),
    resume: () => void run.child.send('go', () => {}),
    close: async () => {
      closing = true;
      run.child.kill('SIGKILL');
      await run.ended;
    },
  };
}

function start(
  { config, cache, onTold }: SeatOptions,
  parts: {
    readonly isClosing: () => boolean;
    readonly onKilled: () => void;
    readonly onBroken: (fault: RigError) => void;
  },
): Run {
  const child = spawn(process.execPath, [program, JSON.stringify(config)], {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    env: { ...process.env, NODE_COMPILE_CACHE: cache },
  });
  const open = Promise.withResolvers<string>();
  const ended = Promise.withResolvers<void>();
  // Whoever asks for the address hears of a failure, and nobody else has to.
  open.promise.catch(() => {});
  const timer = setTimeout(() => open.reject(new RigError(`${config.name} did not open.`)), startLimitMs);
  let errors = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-keptErrorChars);
  });
  child.on('message', (told: Told) => {
    if (told.kind === 'open') open.resolve(told.url);
    onTold(told);
  });
  child.on('error', (fault) => open.reject(new RigError(fault.message)));
  child.on('close', (code, signal) => {
    clearTimeout(timer);
    ended.resolve();
    const fault = new RigError(`${config.name} ended (${signal ?? code}): ${lastWord(errors)}`);
    open.reject(fault);
    if (parts.isClosing()) return;
    if (signal === 'SIGKILL') parts.onKilled();
    else parts.onBroken(fault);
  });
  return { child, url: open.promise, ended: ended.promise };
}

/** The line that names what was wrong, of the many that an uncaught error takes. */
function lastWord(errors: string): string {
  const lines = errors.trim().split('\n');
  return lines.find((line) => /^\w*Error\b/.test(line)) ?? lines.at(-1) ?? '';
}
