/** The goals of the project's speed, judged on what was measured. */
import type { Framework } from '../server/shop.ts';
import { addition, median, ratio } from './figure.ts';
import type { Measured, Turns } from './measure.ts';
import type { BurstSample, SteadySample } from './sample.ts';
import { burstWorkMs } from './scenario.ts';
import { bareOf, officialOf } from './variant.ts';

export type Goal = {
  readonly name: string;
  readonly scenario: string;
  readonly server: string;
  /** What is held against the limit, with its unit. */
  readonly what: string;
  readonly measured: number | null;
  readonly limit: number;
  readonly met: boolean;
};

/** A request without a payment may cost this much more than the same request to the bare framework. */
const unpaidMicros = 15;
/** And this share of what the official adapter adds. */
const unpaidShare = 1 / 5;
/** A payment over an HTTP facilitator may cost this share of what it costs with the official adapter. */
const paidShare: Partial<Record<Framework, number>> = { hono: 1 / 4, express: 1 / 3 };
/** The last loser of a burst may wait this many times as long as the last of the bare framework's burst. */
const burstRatio = 1.5;

/** Every goal that the measured scenarios can tell of. */
export function judgeGoals(measured: readonly Measured[]): readonly Goal[] {
  return measured.flatMap((one) => {
    if (one.kind === 'burst') return burstGoals(one.turns);
    switch (one.scenario.name) {
      case 'unpaid':
        return unpaidGoals(one.turns);
      case 'paid-http':
        return paidGoals(one.turns);
      case 'unpaid-many':
      case 'paid-local':
      case 'burst':
        return [];
      default:
        return one.scenario.name satisfies never;
    }
  });
}

type Steady = readonly Turns<SteadySample>[];

function unpaidGoals(turns: Steady): readonly Goal[] {
  return oursOf(turns).flatMap(({ variant, samples }) => {
    const server = variant.name;
    const ours = samples.map(cpu);
    const bare = cpuOf(turns, bareOf(variant.framework));
    const official = cpuOf(turns, officialOf(variant.framework));
    if (bare === undefined) return [];
    const adds = addition(ours, bare);
    const about = { scenario: 'unpaid', server };
    const first = judged({
      ...about,
      name: 'unpaid-adds',
      what: 'µs CPU over bare',
      measured: adds,
      limit: unpaidMicros,
    });
    if (official === undefined) return [first];
    const measured = adds / addition(official, bare);
    const what = 'of what official adds';
    return [first, judged({ ...about, name: 'unpaid-share', what, measured, limit: unpaidShare })];
  });
}

function paidGoals(turns: Steady): readonly Goal[] {
  return oursOf(turns).flatMap(({ variant, samples }) => {
    const limit = paidShare[variant.framework];
    const official = cpuOf(turns, officialOf(variant.framework));
    // A durable store does what the official packages do not do at all, and stands apart.
    if (limit === undefined || official === undefined || variant.store !== 'memory') return [];
    const measured = ratio(samples.map(cpu), official);
    const about = { scenario: 'paid-http', server: variant.name, what: 'of official’s CPU' };
    return [judged({ ...about, name: 'paid-share', measured, limit })];
  });
}

function burstGoals(turns: readonly Turns<BurstSample>[]): readonly Goal[] {
  return oursOf(turns).flatMap(({ variant, samples, storeRoundTripMs }) => {
    const bare = turns.find((one) => one.variant.name === bareOf(variant.framework));
    const about = { scenario: 'burst', server: variant.name };
    const lastMs = samples.map(({ lastLoserMs }) => lastLoserMs);
    const runs = Math.max(...samples.map((sample) => sample.runs));
    const common = [
      judged({ ...about, name: 'burst-runs', what: 'handler runs', measured: runs, limit: 1 }),
      judged({
        ...about,
        name: 'burst-before-end',
        what: 'ms until the last loser of any burst is answered',
        measured: Math.max(...lastMs),
        limit: burstWorkMs,
      }),
    ];
    if (bare === undefined) return common;
    const limit = burstRatio * median(bare.samples.map((sample) => sample.lastMs)) + storeRoundTripMs;
    const what = 'ms until the last loser is answered';
    return [...common, judged({ ...about, name: 'burst-losers', what, measured: median(lastMs), limit })];
  });
}

function oursOf<Sample>(turns: readonly Turns<Sample>[]): readonly Turns<Sample>[] {
  return turns.filter(({ variant }) => variant.maker === 'ours');
}

function cpu({ cpuMicros }: SteadySample): number {
  return cpuMicros;
}

function cpuOf(turns: Steady, name: string | undefined): readonly number[] | undefined {
  return turns.find(({ variant }) => variant.name === name)?.samples.map(cpu);
}

/** A figure that noise has made meaningless meets nothing. */
function judged(goal: Omit<Goal, 'met' | 'measured'> & { readonly measured: number }): Goal {
  const { measured, limit } = goal;
  return Number.isFinite(measured)
    ? { ...goal, met: measured <= limit }
    : { ...goal, measured: null, met: false };
}
