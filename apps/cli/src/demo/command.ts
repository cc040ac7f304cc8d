/**
 * `counterfoil demo`: plays every part on a real local chain and says of each whether its promise held. Exit code 0
 * only if all did; 3 if a part could not run. Every process that was started is ended, on Ctrl-C too.
 */
import { colorsOf, exits, explain, type Io, writeJson } from '../io.ts';
import { holds } from './part.ts';
import { figuresOf, type Played, partText, seconds, sumText } from './report.ts';
import { openStage, type Settings } from './stage.ts';
import { story } from './story.ts';

export type DemoOptions = {
  readonly burst: number;
  readonly workMs: number;
  readonly state?: string;
  readonly keep?: boolean;
  readonly json?: boolean;
};

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

type Outcome = {
  readonly played: readonly Played[];
  readonly bootMs: number;
  readonly failure?: { readonly part: string; readonly why: string };
};

/** Plays the demonstration; resolves with the exit code. */
export async function demo(options: DemoOptions, io: Io): Promise<number> {
  const began = performance.now();
  const ending = Promise.withResolvers<'interrupted'>();
  const interrupt = (): void => ending.resolve('interrupted');
  for (const signal of signals) process.once(signal, interrupt);
  const closers: (() => Promise<void>)[] = [];
  try {
    const playing = play(options, io, (close) => closers.push(close));
    const outcome = await Promise.race([playing, ending.promise]);
    if (outcome === 'interrupted') {
      io.stderr.write('Interrupted; ending all processes.\n');
      return exits.interrupted;
    }
    return conclude(outcome, { options, io, totalMs: Math.round(performance.now() - began) });
  } finally {
    for (const signal of signals) process.removeListener(signal, interrupt);
    for (const close of closers) await close();
  }
}

async function play(
  options: DemoOptions,
  io: Io,
  closable: (close: () => Promise<void>) => void,
): Promise<Outcome> {
  const began = performance.now();
  const progress = (text: string): void => {
    io.stderr.write(`${colorsOf(io, io.stderr).dim(`${seconds(performance.now() - began)}  ${text}`)}\n`);
  };
  const played: Played[] = [];
  let at = 'boot';
  let bootMs = 0;
  try {
    const stage = await openStage(settingsOf(options), { progress, closable });
    bootMs = Math.round(performance.now() - began);
    for (const part of story) {
      at = part.name;
      progress(part.title);
      const start = performance.now();
      const finding = await part.play(stage);
      played.push({ part, finding, tookMs: Math.round(performance.now() - start) });
      const last = played.at(-1);
      if (options.json !== true && last !== undefined)
        io.stdout.write(partText(last, played.length, colorsOf(io, io.stdout)));
    }
    if (options.keep === true)
      io.stderr.write(`Kept: ${stage.folder} (counterfoil payments list --store ${stage.storeFile})\n`);
    return { played, bootMs };
  } catch (fault) {
    if (io.env.COUNTERFOIL_DEBUG === '1' && fault instanceof Error) io.stderr.write(`${fault.stack}\n`);
    return { played, bootMs, failure: { part: at, why: explain(fault) } };
  }
}

function settingsOf(options: DemoOptions): Settings {
  return {
    copies: options.burst,
    workMs: options.workMs,
    stateFile: options.state,
    keep: options.keep === true,
  };
}

function conclude(outcome: Outcome, about: { options: DemoOptions; io: Io; totalMs: number }): number {
  const { played, failure } = outcome;
  const { options, io, totalMs } = about;
  if (options.json === true) writeJson(io, figuresOf(played, { ...outcome, parts: story.length, totalMs }));
  if (failure !== undefined) {
    const red = colorsOf(io, io.stderr).red('counterfoil:');
    io.stderr.write(`${red} the part "${failure.part}" could not run: ${failure.why}\n`);
    return exits.unknown;
  }
  if (options.json !== true)
    io.stdout.write(`${sumText(played, colorsOf(io, io.stdout))}In ${seconds(totalMs)}.\n`);
  return played.every(({ finding }) => holds(finding)) ? exits.holds : exits.fails;
}
