/**
 * One server program of a test: started in a folder of its own, stopped, killed, started again on the same data, and
 * gone with its folder when the test process ends. It does not keep that process alive. Its output goes to a file, for
 * a pipe that nobody reads would stop it.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Guard, guardOver } from './guard.ts';

/** The account that a server runs as. */
export type Account = { readonly uid: number; readonly gid: number };

/** How to run a server; `ready` is asked again and again until it says yes. */
export type Plan = {
  readonly program: string;
  readonly args: readonly string[];
  /** Where it lives; removed when it is stopped. */
  readonly folder: string;
  readonly account?: Account;
  /** Runs once, before the first start. */
  readonly prepare?: () => Promise<void>;
  /** What ends it politely, and what ends it at once without a trace in the system. */
  readonly signals: { readonly stop: 'SIGTERM' | 'SIGINT'; readonly end: 'SIGTERM' | 'SIGQUIT' };
  readonly ready: (pid: number) => boolean | Promise<boolean>;
  /** Runs after the last end, before the folder is removed. */
  readonly finish?: () => void;
};

/** A server that runs, or that was killed and may run again. */
export type Daemon = {
  /** Of the process that ran last. */
  readonly pid: number;
  /** Ends it and removes its folder; it cannot be started again. Safe to call twice. */
  readonly stop: () => Promise<void>;
  /** SIGKILL, as when its machine fails; resolves when nothing of it runs any more. */
  readonly kill: () => Promise<void>;
  /** Starts it again on its folder, after a polite end when it still runs. */
  readonly restart: () => Promise<void>;
};

/** A server that does not start or does not end: no test can be run against it. */
export class DaemonError extends Error {
  override readonly name = 'DaemonError';
}

/** The slowest boot, a recovery on a busy machine, takes a second or two. */
const startLimitMs = 30_000;
/** A polite end writes what is in memory; after this long it is killed. */
const stopLimitMs = 10_000;
/** How often a server that starts is asked whether it is ready. */
const lookMs = 10;
/** The end of what it wrote says why it died. */
const keptLogChars = 2_000;

type Run = {
  readonly child: ChildProcess;
  readonly pid: number;
  /** Resolves when the process has ended and everything that it had started, too. */
  readonly gone: Promise<unknown>;
};

/** Which servers run, so that one listener ends them all; the guards do the rest. */
const running: Map<Run, NodeJS.Signals> = new Map();
process.on('exit', () => {
  for (const [{ child }, signal] of running) child.kill(signal);
});

/** Starts a server and resolves when it is ready. Rejects with a `DaemonError` that holds its last words. */
export async function startDaemon(plan: Plan): Promise<Daemon> {
  const guard = guardOver(plan.folder, plan.signals.end === 'SIGQUIT' ? 'QUIT' : 'TERM');
  let stopped = false;
  const remove = (): void => {
    stopped = true;
    guard.release();
    rmSync(plan.folder, { recursive: true, force: true });
  };
  let run: Run;
  try {
    await plan.prepare?.();
    run = await start(plan, guard);
  } catch (fault) {
    remove();
    throw fault;
  }
  return {
    get pid(): number {
      return run.pid;
    },
    stop: async () => {
      await end(run, plan.signals.stop);
      if (stopped) return;
      plan.finish?.();
      remove();
    },
    kill: async () => end(run, 'SIGKILL'),
    restart: async () => {
      if (stopped) throw new DaemonError(`${plan.program} was stopped for good.`);
      await end(run, plan.signals.stop);
      run = await start(plan, guard);
    },
  };
}

async function start(plan: Plan, guard: Guard): Promise<Run> {
  const run = launch(plan, guard);
  const { child, pid, gone } = run;
  const until = performance.now() + startLimitMs;
  const alive = (): boolean => child.exitCode === null && child.signalCode === null;
  while (alive()) {
    if (await plan.ready(pid)) {
      hold(child, false);
      return run;
    }
    if (performance.now() > until) {
      await end(run, 'SIGKILL');
      throw new DaemonError(`${plan.program} was not ready in ${startLimitMs} ms: ${lastWords(plan)}`);
    }
    await Promise.race([gone, delay(lookMs)]);
  }
  await gone;
  throw new DaemonError(`${plan.program} does not start: ${lastWords(plan)}`);
}

function launch(plan: Plan, guard: Guard): Run {
  const log = openSync(logFile(plan), 'a');
  const child = spawn(plan.program, plan.args, {
    cwd: plan.folder,
    // Ctrl-C in a terminal is for us, who end it in our order.
    detached: true,
    // Variables such as PGPORT are meant for somebody else.
    env: { PATH: process.env.PATH, LC_ALL: 'C' },
    // The fourth is a lifeline: it closes when the last process that inherited it has ended.
    stdio: ['ignore', log, log, 'pipe'],
    ...plan.account,
  });
  closeSync(log);
  const closed = Promise.withResolvers<void>();
  child.once('close', () => closed.resolve());
  child.once('error', () => closed.resolve());
  const { pid } = child;
  if (pid === undefined) throw new DaemonError(`${plan.program} cannot be run.`);
  guard.watch(pid);
  const run: Run = { child, pid, gone: closed.promise };
  running.set(run, plan.signals.end);
  child.once('exit', () => {
    running.delete(run);
    guard.watch(undefined);
  });
  return run;
}

/** Whether the child and its lifeline keep this process alive: only while somebody waits for them. */
function hold(child: ChildProcess, on: boolean): void {
  const [, , , lifeline] = child.stdio;
  const handles = lifeline instanceof Socket ? [child, lifeline] : [child];
  for (const handle of handles) on ? handle.ref() : handle.unref();
}

async function end({ child, gone }: Run, signal: NodeJS.Signals): Promise<void> {
  hold(child, true);
  child.kill(signal);
  const timer = setTimeout(() => child.kill('SIGKILL'), stopLimitMs);
  await gone;
  clearTimeout(timer);
}

function logFile({ folder }: Plan): string {
  return join(folder, 'log');
}

function lastWords(plan: Plan): string {
  return readFileSync(logFile(plan), 'utf8').slice(-keptLogChars).trim();
}

/** Resolves with what a program printed; rejects with its complaint. For a server's own tools. */
export async function runTool(
  program: string,
  args: readonly string[],
  options: { readonly folder: string; readonly account?: Account },
): Promise<void> {
  const { folder, account } = options;
  const child = spawn(program, args, {
    cwd: folder,
    env: { PATH: process.env.PATH, LC_ALL: 'C' },
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: startLimitMs,
    ...account,
  });
  const closed = once(child, 'close');
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint = (complaint + text).slice(-keptLogChars);
  });
  const [code] = await closed;
  if (code !== 0) throw new DaemonError(`${program} failed: ${complaint.trim()}`);
}
