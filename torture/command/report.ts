/** The outcome as a table for a person, or as JSON for a program. */
import type { Failure, Row } from './row.ts';

export type Outcome = {
  readonly seed: number;
  readonly seconds: number;
  readonly rows: readonly Row[];
  readonly failures: readonly Failure[];
  /** Why the rounds after these could not be played. */
  readonly fault?: string;
};

/** Of what was played: whether no promise was broken, and whether that was everything. */
export function verdictOf({ rows, fault }: Outcome): 'holds' | 'broken' | 'untold' {
  if (rows.some(({ violations }) => violations > 0)) return 'broken';
  return fault === undefined ? 'holds' : 'untold';
}

const verdictText = {
  holds: 'every promise held',
  broken: 'BROKEN',
  untold: 'every promise held so far, and the rest COULD NOT BE TOLD',
} as const;

const columns = [
  'trial',
  'store',
  'flow',
  'rounds',
  'kills',
  'stalls',
  'outages',
  'presentations',
  'executions',
  'settles',
  'charges',
  'deliveries',
  'violations',
] as const;

/** Escrow is a flow of the wire and of the claim store, and has no seller yet. */
const note = 'Flows: authorization and upfront; escrow joins when sellers offer it.';

/** Names of columns, one line for each row, and the broken promises with their histories. */
export function tableOf(outcome: Outcome): string {
  const cells = [columns.map(String), ...outcome.rows.map((row) => columns.map((name) => String(row[name])))];
  const widths = columns.map((_name, at) => Math.max(...cells.map((line) => line[at]?.length ?? 0)));
  const lines = cells.map((line) =>
    line
      .map((cell, at) => padded(cell, widths[at] ?? 0, at))
      .join('  ')
      .trimEnd(),
  );
  const broken = outcome.failures.flatMap(tellFailure);
  const total = outcome.rows.reduce((sum, row) => sum + row.rounds, 0);
  const why = outcome.fault === undefined ? [] : [`The rig failed: ${outcome.fault}`];
  const verdict = verdictText[verdictOf(outcome)];
  const last = `${total} rounds in ${outcome.seconds.toFixed(0)} s, seed ${outcome.seed}: ${verdict}`;
  return `${[...lines, '', ...broken, note, ...why, last].join('\n')}\n`;
}

/** Names to the left, numbers to the right. */
function padded(cell: string, width: number, at: number): string {
  return at < 3 ? cell.padEnd(width) : cell.padStart(width);
}

/** One broken round: what was broken, what happened, and how to see it again. */
export function tellFailure(failure: Failure): readonly string[] {
  const { trial, store, flow, seed, violations, history, replay } = failure;
  return [
    `BROKEN ${trial}, ${store}, ${flow}, seed ${seed}`,
    ...violations.map((violation) => `  ${violation}`),
    ...history.map((line) => `  ${line}`),
    `  again: ${replay}`,
    '',
  ];
}

/** The same, whole, as one line of JSON. */
export function jsonOf(outcome: Outcome): string {
  return `${JSON.stringify({ program: 'torture', verdict: verdictOf(outcome), ...outcome })}\n`;
}
