/**
 * `counterfoil reconcile`: a pass over every payment whose money is unknown, and over settlements that are not final.
 * Each is looked up on its chain and what that proves is written down; nothing is sent and nobody is charged.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClaimStore } from 'counterfoil/claim';
import {
  type Chains,
  type Finality,
  parseFinality,
  type Recheck,
  type Resolution,
  reconcile,
} from 'counterfoil/settlement';
import { createSystem } from 'counterfoil/system';
import { displayText, hushed } from 'counterfoil/wire';
import { colorsOf, exits, type Io, MisuseError, wholeNumber, writeJson } from '../io.ts';
import { type StoreOptions, withStore } from '../open.ts';
import { formatTime } from '../time.ts';
import { endpointsOf, openChains } from './endpoints.ts';
import { exitOf, isTelling, jsonOf, type Outcome, textOf } from './report.ts';

export type ReconcileOptions = StoreOptions & {
  readonly rpc: readonly string[];
  readonly finality?: string;
  /** Seconds between two passes, or true for the default. */
  readonly watch?: string | true;
  readonly json?: boolean;
};

/** Seconds from the end of one pass to the next. */
const watchBounds = { least: 1, most: 86_400 } as const;
const defaultWatchMs = 30_000;
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Looks everything up; see `exitOf` for what the exit code says. */
export async function reconcilePayments(options: ReconcileOptions, io: Io): Promise<number> {
  const endpoints = endpointsOf(options.rpc);
  const finality = finalityOf(options.finality);
  const everyMs = watchOf(options.watch);
  const system = await createSystem();
  const note = (line: string): void => void io.stderr.write(`${displayText(line, 300)}\n`);
  const stop = new AbortController();
  const interrupt = (): void => stop.abort();
  for (const signal of signals) process.on(signal, interrupt);
  try {
    const chains = await openChains(endpoints, { world: system, note });
    return await withStore(options, io, async (store) => {
      const once = (): Promise<number> => pass({ store, chains, finality, signal: stop.signal }, options, io);
      if (everyMs === undefined) return interruptible(await once(), stop.signal);
      return watch(once, { everyMs, signal: stop.signal });
    });
  } finally {
    for (const signal of signals) process.off(signal, interrupt);
    await system.close();
  }
}

/** Whoever interrupts a pass learns that it is not complete, and is not told how it would have ended. */
function interruptible(code: number, signal: AbortSignal): number {
  return signal.aborted ? exits.interrupted : code;
}

/** Passes until a signal; the exit code is that of the last whole one. */
async function watch(
  once: () => Promise<number>,
  how: { readonly everyMs: number; readonly signal: AbortSignal },
): Promise<number> {
  let code: number = exits.unknown;
  while (!how.signal.aborted) {
    const told = await once();
    if (!how.signal.aborted) code = told;
    // A signal ends the wait with a rejection, which is no fault.
    await sleep(how.everyMs, undefined, { signal: how.signal }).catch(() => {});
  }
  return code;
}

type Task = {
  readonly store: ClaimStore;
  readonly chains: Chains;
  readonly finality: Finality | undefined;
  readonly signal: AbortSignal;
};

async function pass(task: Task, options: ReconcileOptions, io: Io): Promise<number> {
  const { store, chains, finality, signal } = task;
  const resolutions: Resolution[] = [];
  const rechecks: Recheck[] = [];
  const progress = createProgress(io);
  const summary = await reconcile(store, chains, {
    signal,
    due: 'any',
    ...(finality === undefined ? {} : { finality }),
    onResolution: (resolution) => {
      resolutions.push(resolution);
      progress.step();
    },
    onRecheck: (recheck) => {
      if (isTelling(recheck)) rechecks.push(recheck);
      progress.step();
    },
  });
  progress.end();
  tell({ summary, resolutions, rechecks }, options, io);
  return exitOf(summary);
}

function tell(outcome: Outcome, options: ReconcileOptions, io: Io): void {
  if (options.json === true) {
    writeJson(io, jsonOf(outcome));
    return;
  }
  const when = options.watch === undefined ? '' : `${formatTime(io.nowMs())}\n`;
  io.stdout.write(`${when}${textOf(outcome, colorsOf(io, io.stdout))}`);
}

/** One line that is written over, on a terminal; a file gets none. */
function createProgress(io: Io): { readonly step: () => void; readonly end: () => void } {
  let looks = 0;
  const shown = io.stderr.isTTY === true;
  return {
    step: () => {
      looks += 1;
      if (shown) io.stderr.write(`\r${looks} looked at`);
    },
    end: () => {
      if (shown && looks > 0) io.stderr.write('\r\u001b[K');
    },
  };
}

function finalityOf(text: string | undefined): Finality | undefined {
  if (text === undefined) return undefined;
  const finality = parseFinality(text);
  if (finality !== undefined) return finality;
  throw new MisuseError(
    `--finality is latest, safe, finalized or a number of confirmations, not "${displayText(hushed(text))}".`,
  );
}

function watchOf(watch: string | true | undefined): number | undefined {
  if (watch === undefined) return undefined;
  return watch === true ? defaultWatchMs : wholeNumber('--watch', watch, watchBounds) * 1_000;
}
