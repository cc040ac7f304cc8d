/** The tables for people: plain text, columns aligned. */
import type { Goal } from './goal.ts';
import type { BurstRow, Section, SteadyRow } from './report.ts';

/** One section with its rows, and profiles where some were taken. */
export function sectionText(section: Section): string {
  const table =
    section.kind === 'steady'
      ? tableText(steadyHead, section.rows.map(steadyCells))
      : tableText(burstHead, section.rows.map(burstCells));
  const profiles = section.rows.flatMap(({ server, profile = [] }) =>
    profile.length === 0
      ? []
      : [
          `\n  ${server}: where the time goes\n`,
          ...profile.map(({ name, share }) => `  ${percent(share)}  ${name}\n`),
        ],
  );
  return `${section.name}: ${section.title}\n\n${table}${profiles.join('')}\n`;
}

/** The goals, each with what was measured. */
export function goalsText(goals: readonly Goal[]): string {
  const rows = goals.map(({ met, name, server, what, measured, limit }) => [
    met ? 'met' : 'MISSED',
    name,
    server,
    measured === null ? '-' : number(measured),
    number(limit),
    what,
  ]);
  return `goals\n\n${tableText(['', 'goal', 'server', 'measured', 'at most', ''], rows)}\n`;
}

const steadyHead: readonly string[] = [
  'server',
  'µs CPU',
  'range',
  'adds µs',
  'x bare',
  '(ours-bare)/(official-bare)',
  'x official',
  'p50 ms',
  'p99 ms',
  'req/s',
];

function steadyCells(row: SteadyRow): readonly string[] {
  const [least, most] = row.cpuMicrosRange;
  return [
    row.server,
    number(row.cpuMicros),
    `${number(least)}-${number(most)}`,
    number(row.addsMicros),
    number(row.overBare),
    number(row.shareOfOfficial),
    number(row.overOfficial),
    number(row.p50Ms),
    number(row.p99Ms),
    row.requestsPerSecond.toFixed(0),
  ];
}

const burstHead: readonly string[] = [
  'server',
  'last loser ms',
  'last of all ms',
  'x bare',
  'handler runs',
  'answers',
  'µs CPU a copy',
  'store read ms',
];

function burstCells(row: BurstRow): readonly string[] {
  return [
    row.server,
    number(row.lastLoserMs),
    number(row.lastMs),
    number(row.overBare),
    String(row.handlerRuns),
    Object.entries(row.statuses)
      .map(([status, count]) => `${count} x ${status}`)
      .join(', '),
    number(row.cpuMicros),
    number(row.storeRoundTripMs),
  ];
}

/** Columns as wide as their widest cell; the first to the left, figures to the right. */
export function tableText(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const isText = head.map((_, column) => rows.some((row) => /^[A-Za-z]/.test(row[column] ?? '')));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) =>
        isText[column] === true ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd();
  return `${[head, ...rows].map((cells) => `  ${line(cells)}`).join('\n')}\n`;
}

/** Three digits that tell something; a dash where there is no figure. */
export function number(value: number | null): string {
  if (value === null) return '-';
  if (value !== 0 && Math.abs(value) < 0.01) return value.toFixed(4);
  if (Math.abs(value) < 10) return value.toFixed(2);
  return value.toFixed(Math.abs(value) < 100 ? 1 : 0);
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1).padStart(5)} %`;
}
