/** What a run of the simulator tells: a table for people, JSON for programs, and a trace for whoever looks for a fault. */
import { type Relation, sizes } from '../model/transitions.ts';
import type { Played } from './play.ts';
import { describeScenario } from './scenario.ts';
import type { Failure, Sum } from './sum.ts';

type Row = readonly [name: string, count: number];

/** The table at the end. */
export function tableOf(sum: Sum, seconds: number, relation: Relation): string {
  const { counts, answers, exceptions, violations } = sum;
  const rows: readonly Row[] = [
    ['seeds', sum.seeds],
    ['requests', counts.asked],
    ['store operations', counts.operations],
    ['changes of records', counts.changes],
    ['runs of handlers', counts.ran],
    ['goods handed out', counts.served],
    ['processes killed', counts.died],
  ];
  const sections = [
    rows,
    entriesOf('answer', answers),
    played(sum, relation),
    entriesOf('beside the model', exceptions),
    [['seeds with violations', violations] as const],
  ];
  const lines = sections.flat();
  const width = Math.max(...lines.map(([name]) => name.length));
  const table = sections
    .filter((section) => section.length > 0)
    .map((section) => section.map(([name, count]) => `${name.padEnd(width)}  ${amount(count)}`).join('\n'));
  return `${table.join('\n\n')}\n${'time'.padEnd(width)}  ${`${seconds.toFixed(1)} s`.padStart(12)}`;
}

function entriesOf(what: string, counts: Readonly<Record<string, number>>): readonly Row[] {
  return Object.entries(counts)
    .sort(([, a], [, b]) => b - a)
    .map(([name, count]) => [`${what}: ${name}`, count] as const);
}

/** How much of the model was met: what nobody plays is not checked. Flows that are not in the code are left out. */
function played(sum: Sum, relation: Relation): readonly Row[] {
  return Object.entries(sizes(relation)).flatMap(([flow, known]) => {
    const met = sum.played.filter((transition) => transition.startsWith(`${flow} `)).length;
    return met === 0 ? [] : [[`transitions of the model: ${flow}, of ${known}`, met] as const];
  });
}

function amount(count: number): string {
  return count.toLocaleString('en').padStart(12);
}

/** The same for a program. */
export function jsonOf(sum: Sum, seconds: number): string {
  return JSON.stringify({ ...sum, seconds }, null, 2);
}

/** A seed with everything that happened in it. */
export function traceOf({ seed, scenario, trace, faults }: Played): string {
  const verdict = faults.length === 0 ? ['everything holds'] : [...new Set(faults)];
  return [`seed ${seed}: ${describeScenario(scenario)}`, ...trace, '', ...verdict].join('\n');
}

/** What failed, and how to see it again. */
export function failuresOf(failures: readonly Failure[]): string {
  return failures
    .flatMap(({ seed, faults }) => [
      `seed ${seed}: npm run sim -- --seed ${seed} --trace`,
      ...faults.map((fault) => `  ${fault}`),
    ])
    .join('\n');
}
