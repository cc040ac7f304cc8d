/** What was measured as rows: the same for the table and for JSON. */

import type { Hot } from '../server/profile.ts';
import type { Framework, Maker, Variant } from '../server/shop.ts';
import { addition, median, ratio } from './figure.ts';
import type { Measured, Turns } from './measure.ts';
import type { BurstSample, Statuses, SteadySample } from './sample.ts';
import { bareOf, officialOf } from './variant.ts';

type About = {
  readonly server: string;
  readonly maker: Maker;
  readonly framework: Framework;
  readonly store: Variant['store'] | null;
  /** Of all rounds together. */
  readonly statuses: Statuses;
  readonly handlerRuns: number;
  readonly profile?: readonly Hot[];
};

/** Medians over the rounds; CPU of the server's process for one request, with its least and its most. */
export type SteadyRow = About & {
  readonly cpuMicros: number;
  readonly cpuMicrosRange: readonly [number, number];
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly requestsPerSecond: number;
  /** CPU beside the bare framework's. */
  readonly overBare: number | null;
  /** µs CPU that the gate adds to the bare framework. */
  readonly addsMicros: number | null;
  /** (ours - bare) / (official - bare). */
  readonly shareOfOfficial: number | null;
  /** CPU beside the official adapter's. */
  readonly overOfficial: number | null;
};

/** Medians over the bursts. */
export type BurstRow = About & {
  readonly cpuMicros: number;
  readonly lastLoserMs: number | null;
  readonly lastMs: number;
  readonly storeRoundTripMs: number | null;
  /** The last loser beside the last of the bare framework's burst. */
  readonly overBare: number | null;
};

export type Section =
  | {
      readonly kind: 'steady';
      readonly name: string;
      readonly title: string;
      readonly rows: readonly SteadyRow[];
    }
  | {
      readonly kind: 'burst';
      readonly name: string;
      readonly title: string;
      readonly rows: readonly BurstRow[];
    };

/** Turns what was measured into rows. */
export function sectionOf(measured: Measured): Section {
  const { name, title } = measured.scenario;
  if (measured.kind === 'burst') {
    const { turns } = measured;
    return { kind: 'burst', name, title, rows: turns.map((one) => burstRow(one, turns)) };
  }
  const { turns } = measured;
  return { kind: 'steady', name, title, rows: turns.map((one) => steadyRow(one, turns)) };
}

function steadyRow(one: Turns<SteadySample>, turns: readonly Turns<SteadySample>[]): SteadyRow {
  const { variant, samples } = one;
  const cpuOf = (name: string | undefined): readonly number[] | undefined =>
    turns.find((other) => other.variant.name === name)?.samples.map(({ cpuMicros }) => cpuMicros);
  const own = samples.map(({ cpuMicros }) => cpuMicros);
  const bare = variant.maker === 'bare' ? undefined : cpuOf(bareOf(variant.framework));
  const official = variant.maker === 'ours' ? cpuOf(officialOf(variant.framework)) : undefined;
  const adds = bare === undefined ? undefined : addition(own, bare);
  const officialAdds = bare === undefined || official === undefined ? undefined : addition(official, bare);
  return {
    ...aboutOf(one),
    cpuMicros: median(own),
    cpuMicrosRange: [Math.min(...own), Math.max(...own)],
    p50Ms: median(samples.map(({ p50Ms }) => p50Ms)),
    p99Ms: median(samples.map(({ p99Ms }) => p99Ms)),
    requestsPerSecond: median(samples.map(({ requestsPerSecond }) => requestsPerSecond)),
    overBare: bare === undefined ? null : finite(ratio(own, bare)),
    addsMicros: adds ?? null,
    shareOfOfficial: adds === undefined || officialAdds === undefined ? null : finite(adds / officialAdds),
    overOfficial: official === undefined ? null : finite(ratio(own, official)),
  };
}

function burstRow(one: Turns<BurstSample>, turns: readonly Turns<BurstSample>[]): BurstRow {
  const { variant, samples, storeRoundTripMs } = one;
  const hasLosers = variant.maker !== 'bare';
  const lastLoserMs = hasLosers ? median(samples.map((sample) => sample.lastLoserMs)) : null;
  const bare = turns.find((other) => other.variant.name === bareOf(variant.framework));
  const bareLastMs = bare === undefined ? undefined : median(bare.samples.map(({ lastMs }) => lastMs));
  return {
    ...aboutOf(one),
    cpuMicros: median(samples.map(({ cpuMicros }) => cpuMicros)),
    lastLoserMs,
    lastMs: median(samples.map(({ lastMs }) => lastMs)),
    storeRoundTripMs: variant.maker === 'ours' ? storeRoundTripMs : null,
    overBare: lastLoserMs === null || bareLastMs === undefined ? null : finite(lastLoserMs / bareLastMs),
  };
}

function aboutOf({ variant, samples, hot }: Turns<SteadySample> | Turns<BurstSample>): About {
  const { name: server, maker, framework, store } = variant;
  return {
    server,
    maker,
    framework,
    store: maker === 'ours' ? store : null,
    statuses: summed(samples.map(({ statuses }) => statuses)),
    handlerRuns: samples.reduce((sum, { runs }) => sum + runs, 0),
    ...(hot === undefined ? {} : { profile: hot }),
  };
}

function summed(all: readonly Statuses[]): Statuses {
  const sum: Record<string, number> = {};
  for (const statuses of all) {
    for (const [status, count] of Object.entries(statuses)) sum[status] = (sum[status] ?? 0) + count;
  }
  return sum;
}

/** JSON has no infinity; where noise ate the difference there is no ratio. */
function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}
