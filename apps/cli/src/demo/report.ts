/** How the demonstration is shown: for each part a table and a verdict line, and one JSON object for all. */
import { displayText } from 'counterfoil/wire';
import type { Colors } from '../io.ts';
import { renderTable } from '../table.ts';
import { type Check, type Finding, holds, type Part } from './part.ts';

/** A part that was played. */
export type Played = { readonly part: Part; readonly finding: Finding; readonly tookMs: number };

/** The block of one part. */
export function partText(played: Played, number: number, colors: Colors): string {
  const { part, finding, tookMs } = played;
  const compared = finding.checks.some((check) => check.stock !== undefined);
  const rows = finding.checks.map((check) => rowOf(check, compared, colors));
  const head = compared ? ['', 'counterfoil', '@x402/express', ''] : ['', '', ''];
  return [
    `${colors.bold(`${number}. ${part.title}`)} ${colors.dim(`(${seconds(tookMs)})`)}\n\n`,
    renderTable({ head: head.map((title) => colors.dim(title)), rows, indent: '   ' }),
    ...(finding.notes ?? []).map((note) => `   ${colors.dim(note)}\n`),
    `\n   ${verdict(holds(finding), colors)}  ${part.promise}: ${part.claim}\n\n`,
  ].join('');
}

function rowOf(check: Check, compared: boolean, colors: Colors): readonly string[] {
  const wrong = check.holds === false;
  const ours = displayText(check.ours);
  const mark = wrong ? colors.red(`<- must be ${check.wanted ?? 'otherwise'}`) : '';
  const shown = wrong ? colors.red(ours) : check.holds === true ? colors.green(ours) : ours;
  return compared ? [check.what, shown, displayText(check.stock ?? ''), mark] : [check.what, shown, mark];
}

function verdict(good: boolean, colors: Colors): string {
  return good ? colors.green(colors.bold('HOLDS')) : colors.red(colors.bold('DOES NOT HOLD'));
}

/** The last line. */
export function sumText(played: readonly Played[], colors: Colors): string {
  const failed = played.filter(({ finding }) => !holds(finding));
  if (failed.length === 0)
    return `${verdict(true, colors)}  ${played.length} of ${played.length} parts, measured on a real chain with real signatures.\n`;
  const names = failed.map(({ part }) => fullName(part)).join(', ');
  return `${verdict(false, colors)}  ${failed.length} of ${played.length} parts: ${names}.\n`;
}

/** The whole demonstration as figures. `holds` is true only if every part was played and every promise held. */
export function figuresOf(
  played: readonly Played[],
  rest: {
    readonly parts: number;
    readonly bootMs: number;
    readonly totalMs: number;
    readonly failure?: { readonly part: string; readonly why: string };
  },
): Readonly<Record<string, unknown>> {
  const complete = played.length === rest.parts && rest.failure === undefined;
  const official = played.filter(({ finding }) => finding.official !== undefined);
  const verdicts = played.map(({ part, finding }) => [fullName(part), holds(finding)] as const);
  return {
    holds: complete && verdicts.every(([, good]) => good),
    complete,
    ...(rest.failure === undefined ? {} : { failure: rest.failure }),
    ...grouped(played.map(({ part, finding }) => [part.group, part.name, finding.figures])),
    official: grouped(
      official.map(({ part, finding }) => [part.group, officialName(part.name), finding.official]),
    ),
    verdicts: Object.fromEntries(verdicts),
    timings: {
      bootMs: rest.bootMs,
      ...Object.fromEntries(played.map(({ part, tookMs }) => [`${part.name}Ms`, tookMs])),
      totalMs: rest.totalMs,
    },
  };
}

/** Members by name, those of a group together in one. */
function grouped(
  members: readonly (readonly [group: string | undefined, name: string, value: unknown])[],
): Readonly<Record<string, unknown>> {
  const whole: Record<string, unknown> = {};
  const groups: Record<string, Record<string, unknown>> = {};
  for (const [group, name, value] of members) {
    if (group === undefined) whole[name] = value;
    else {
      groups[group] = { ...groups[group], [name]: value };
      whole[group] = groups[group];
    }
  }
  return whole;
}

/** `binding.echoed`, or the name alone where there is no group. */
function fullName({ group, name }: Part): string {
  return group === undefined ? name : `${group}.${name}`;
}

/** The official seller is asked about an unused payment, which is another question than ours. */
function officialName(name: string): string {
  return name === 'usedElsewhere' ? 'substitution' : name;
}

/** `1.5 s`. */
export function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
