/**
 * What a command sees of the world: three streams, the environment and a clock; and the exit codes that all
 * commands share. Results go to standard output, everything said to a person beside them to standard error.
 */
import type { Readable } from 'node:stream';
import { displayText, hushed } from 'counterfoil/wire';
import pc from 'picocolors';

/** Exit codes: what was asked holds, does not hold, was asked wrongly, could not be told; or a person interrupted. */
export const exits = { holds: 0, fails: 1, misuse: 2, unknown: 3, interrupted: 130 } as const;

/** A stream that a command writes to; `columns` is the width of a terminal. */
export type Output = {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
};

export type Io = {
  readonly stdout: Output;
  readonly stderr: Output;
  readonly stdin: Readable & { readonly isTTY?: boolean | undefined };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly nowMs: () => number;
};

/** The colours of a stream; none where it is no terminal or somebody set NO_COLOR (no-color.org). */
export type Colors = ReturnType<typeof pc.createColors>;

/** Chosen for each stream, because one may be a terminal and the other a file. */
export function colorsOf(io: Io, stream: Output): Colors {
  const { NO_COLOR: refused = '', FORCE_COLOR: forced = '', TERM: terminal } = io.env;
  if (refused !== '') return pc.createColors(false);
  if (forced !== '' && forced !== '0') return pc.createColors(true);
  return pc.createColors(stream.isTTY === true && terminal !== 'dumb');
}

/** The command was used wrongly; its message is all that a person is shown. */
export class MisuseError extends Error {
  override readonly name = 'MisuseError';
}

/** A sentence with a path in it; what is longer was pasted by mistake. */
const longestLine = 1_000;

/** One line of anything thrown, without a stack; what it repeats of a stranger's text is escaped (P06). */
export function explain(fault: unknown): string {
  const text = fault instanceof Error ? fault.message : String(fault);
  return displayText(hushed(text.split('\n', 1)[0] ?? ''), longestLine);
}

/** Several lines that may repeat what was typed or pasted, fit for a terminal. */
export function escapeLines(text: string): string {
  return text
    .split('\n')
    .map((line) => displayText(hushed(line), longestLine))
    .join('\n');
}

/** Writes one JSON value and a line end; amounts are decimal texts, because JSON numbers cannot hold them. */
export function writeJson(io: Io, value: unknown): void {
  const text = JSON.stringify(value, (_key, member: unknown) =>
    typeof member === 'bigint' ? member.toString() : member,
  );
  io.stdout.write(`${text}\n`);
}

/** A whole number given as the text of an option, within bounds; anything else is a {@link MisuseError}. */
export function wholeNumber(name: string, text: string, bounds: { least: number; most: number }): number {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= bounds.least && value <= bounds.most) return value;
  throw new MisuseError(
    `${name} takes a whole number from ${bounds.least} to ${bounds.most}, not "${text}".`,
  );
}
