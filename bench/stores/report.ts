/** What was measured as rows and as a table: the same figures for programs and for people. */
import { median, ratio } from '../seller/figure.ts';
import { number, tableText } from '../seller/table.ts';
import type { Kind, StoreName } from './contender.ts';
import type { Measured, Turns } from './measure.ts';

/** Medians over the rounds; the worst and the longest block are of all rounds. */
export type Row = {
  readonly contender: string;
  readonly store: StoreName;
  readonly kind: Kind;
  /** Takes a second, or whole payments a second, of all processes together. */
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly worstMs: number;
  readonly blockMs: number;
  /** How many calls of the bare contender are made in the time of one of ours. */
  readonly overBare: number | null;
  /** Keys, of all rounds, that were not won exactly once: must be 0. */
  readonly wrongKeys: number;
};

export type Section = { readonly name: string; readonly title: string; readonly rows: readonly Row[] };

/** Turns what was measured into rows. */
export function sectionOf({ scenario, turns }: Measured): Section {
  const { name, title } = scenario;
  return { name, title, rows: turns.map((one) => rowOf(one, turns)) };
}

function rowOf({ contender, samples }: Turns, turns: readonly Turns[]): Row {
  const { name, store, kind } = contender;
  const rates = samples.map(({ perSecond }) => perSecond);
  const bare = turns.find(({ contender: other }) => other.store === store && other.kind === 'bare');
  const bareRates = bare?.samples.map(({ perSecond }) => perSecond) ?? [];
  return {
    contender: name,
    store,
    kind,
    perSecond: median(rates),
    p50Ms: median(samples.map(({ p50Ms }) => p50Ms)),
    p99Ms: median(samples.map(({ p99Ms }) => p99Ms)),
    worstMs: Math.max(...samples.map(({ worstMs }) => worstMs)),
    blockMs: Math.max(...samples.map(({ blockMs }) => blockMs)),
    overBare: kind === 'bare' ? null : ratio(bareRates, rates),
    wrongKeys: samples.reduce((sum, { wrongKeys }) => sum + wrongKeys, 0),
  };
}

/** A line for each row that broke the promise, which no figure can make good. */
export function faultsOf(sections: readonly Section[]): readonly string[] {
  return sections.flatMap(({ name, rows }) =>
    rows
      .filter(({ wrongKeys }) => wrongKeys > 0)
      .map(
        ({ contender, wrongKeys }) =>
          `${name}: ${contender} had ${wrongKeys} keys without exactly one winner`,
      ),
  );
}

const head: readonly string[] = [
  'store',
  'calls/s',
  'p50 ms',
  'p99 ms',
  'worst ms',
  'x bare',
  'loop block ms',
];

/** One section as a table. */
export function sectionText({ name, title, rows }: Section): string {
  const cells = rows.map((row) => [
    row.contender,
    row.perSecond.toFixed(0),
    number(row.p50Ms),
    number(row.p99Ms),
    number(row.worstMs),
    number(row.overBare),
    number(row.blockMs),
  ]);
  return `${name}: ${title}\n\n${tableText(head, cells)}\n`;
}
