/** Runs the trials one after the other, the lanes of each beside each other, and says how far it is. */
import { randomInt } from 'node:crypto';
import { type Ground, layGround } from '../fleet/ground.ts';
import { largestSeed } from '../round/luck.ts';
import type { Result } from '../round/play.ts';
import { type Lane, lanesOf } from './lane.ts';
import type { Options } from './option.ts';
import { type Outcome, tellFailure } from './report.ts';
import { addRound, type Failure, noSums, type Row, type Sums } from './row.ts';

export type Outside = {
  /** One line about how far it is, for a person. */
  readonly say: (line: string) => void;
  /** Fires when nobody wants the outcome any more. */
  readonly signal: AbortSignal;
};

/** Rounds of a lane wait for leases most of the time; bursts of copies do not, and would slow one another down. */
const lanesAtOnce = { kills: 8, faults: 8, copies: 1, outages: 4 } as const;
/** A person who waits wants to see that it goes on. */
const sayEveryMs = 5_000;
/** Histories are long; after so many it is clear that something is broken. */
const mostFailures = 20;
/** The lane is broken, and each further round may take its whole patience. */
const mostViolations = 5;

type Score = { readonly rows: Row[]; readonly failures: Failure[]; rounds: number };

/**
 * Plays everything; what went before a fault of the rig, a server that does not start or a seller that ends by itself, is
 * told all the same.
 */
export async function runTrials(options: Options, outside: Outside): Promise<Outcome> {
  const began = performance.now();
  const seed = options.seed ?? randomInt(largestSeed - options.rounds);
  const score: Score = { rows: [], failures: [], rounds: 0 };
  outside.say(`seed ${seed}`);
  const told = await withGround((ground) => playAll({ ground, options, outside, score, seed }));
  const seconds = (performance.now() - began) / 1_000;
  return { seed, seconds, rows: score.rows, failures: score.failures, ...told };
}

/** Nothing, or the first line of what went wrong: clients of a chain go on for many lines. */
async function withGround(play: (ground: Ground) => Promise<void>): Promise<{ readonly fault?: string }> {
  try {
    const ground = await layGround();
    await play(ground).finally(ground.close);
    return {};
  } catch (fault) {
    const [line = ''] = (fault instanceof Error ? fault.message : String(fault)).split('\n', 1);
    return { fault: line };
  }
}

type Play = {
  readonly ground: Ground;
  readonly options: Options;
  readonly outside: Outside;
  readonly score: Score;
  readonly seed: number;
};

async function playAll(play: Play): Promise<void> {
  const { options, outside, score } = play;
  for (const trial of options.trials) {
    const lanes = lanesOf(trial, options);
    const rows = new Map<Lane, Row>();
    const waiting = [...lanes];
    const work = async (): Promise<void> => {
      for (let lane = waiting.shift(); lane !== undefined; lane = waiting.shift())
        await runLane({ ...play, lane, rows });
    };
    const planned = lanes.reduce((sum, lane) => sum + lane.rounds, 0);
    const progress = tellProgress(trial, { planned, score, say: outside.say });
    try {
      await all(Array.from({ length: Math.min(lanesAtOnce[trial], lanes.length) }, work));
    } finally {
      progress.end();
      score.rows.push(...lanes.flatMap((lane) => rows.get(lane) ?? []));
    }
  }
}

/** Waits for all, so that everything is closed before the first fault is told. */
async function all(tasks: readonly Promise<void>[]): Promise<void> {
  const ends = await Promise.allSettled(tasks);
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

type LaneRun = Play & {
  readonly lane: Lane;
  /** Where the row stands after each round. */
  readonly rows: Map<Lane, Row>;
};

async function runLane(run: LaneRun): Promise<void> {
  const { ground, lane, outside, score, rows, seed } = run;
  const { trial, store, flow, rounds, outages } = lane;
  let sums: Sums = noSums;
  const add = (more: Sums): void => {
    sums = more;
    rows.set(lane, { trial, store, flow, ...sums });
  };
  const open = await lane.open(ground);
  try {
    for (let at = 0; at < rounds && sums.violations < mostViolations; at += 1) {
      outside.signal.throwIfAborted();
      const result = await open.play(seed + at);
      add(addRound(sums, result, outages));
      score.rounds += 1;
      noteFailure(run, result);
    }
    const entries = sums.violations === 0 ? await open.audit(sums.rounds) : [];
    noteFailure(run, { seed, violations: entries, history: [] });
    add({ ...sums, violations: sums.violations + entries.length });
  } finally {
    await open.close();
  }
}

type Broken = Pick<Result, 'seed' | 'violations' | 'history'>;

function noteFailure(run: LaneRun, { seed, violations, history }: Broken): void {
  if (violations.length === 0) return;
  const { lane, options, outside, score } = run;
  const { trial, store, flow } = lane;
  const replay = replayLine(lane, options, seed);
  const failure: Failure = { trial, store, flow, seed, violations, history, replay };
  if (score.failures.length < mostFailures) score.failures.push(failure);
  for (const line of tellFailure(failure)) outside.say(line);
}

/** The line that plays one round again, alone. */
export function replayLine(
  { trial, store, flow }: Pick<Lane, 'trial' | 'store' | 'flow'>,
  { processes, copies }: Pick<Options, 'processes' | 'copies'>,
  seed: number,
): string {
  const { least, most } = processes;
  const parts = [`npm run torture -- ${trial} --store ${store}`];
  if (flow !== 'both') parts.push(`--flow ${flow}`);
  if (trial === 'kills' || trial === 'faults')
    parts.push(`--processes ${least === most ? least : `${least}..${most}`}`);
  if (trial === 'copies') parts.push(`--copies ${copies}`);
  return `${parts.join(' ')} --seed ${seed} --rounds 1`;
}

function tellProgress(
  trial: string,
  parts: { readonly planned: number; readonly score: Score; readonly say: Outside['say'] },
): { readonly end: () => void } {
  const { planned, score, say } = parts;
  const before = score.rounds;
  const began = performance.now();
  const tell = (): void => {
    const seconds = ((performance.now() - began) / 1_000).toFixed(0);
    const broken = score.failures.length === 0 ? '' : `, ${score.failures.length} BROKEN`;
    say(`${trial}: ${score.rounds - before} of ${planned} rounds in ${seconds} s${broken}`);
  };
  const timer = setInterval(tell, sayEveryMs);
  return {
    end: () => {
      clearInterval(timer);
      tell();
    },
  };
}
