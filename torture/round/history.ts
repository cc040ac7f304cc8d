/** What happened in one round, in the order in which it did, for a person to read. */
import type { Entry } from '../seller/journal.ts';
import type { Seen } from './buyer.ts';

type Line = { readonly atMs: number; readonly who: string; readonly text: string };

/** The round's lines; times are milliseconds from its beginning. */
export function tellHistory(journal: readonly Entry[], seen: readonly Seen[]): readonly string[] {
  const lines = [...journal.map(lineOf), ...seen.flatMap(linesOf)].toSorted((a, b) => a.atMs - b.atMs);
  const began = lines[0]?.atMs ?? 0;
  return lines.map(
    ({ atMs, who, text }) => `${(atMs - began).toFixed(1).padStart(9)} ${who.padEnd(6)} ${text}`,
  );
}

function lineOf({ atMs, who, what, text }: Entry): Line {
  switch (what) {
    case 'run':
      return { atMs, who, text: `run ${text} of the work begins` };
    case 'ran':
      return { atMs, who, text: `run ${text} of the work ends` };
    case 'lost':
    case 'event':
      return { atMs, who, text };
    case 'death':
      return { atMs, who, text: `KILLED at ${text}` };
    case 'halt':
      return { atMs, who, text: `stands still at ${text}` };
    default:
      return what satisfies never;
  }
}

function linesOf(answer: Seen, index: number): readonly Line[] {
  const { atMs, doneMs, seat, status, code, invites, transaction } = answer;
  const parts = [
    String(status),
    ...(code === undefined ? [] : [code]),
    ...(invites ? ['PAYMENT-REQUIRED'] : []),
    ...(transaction === undefined ? [] : [`transaction ${transaction}`]),
  ];
  const name = `copy ${index + 1}`;
  return [
    { atMs, who: 'buyer', text: `${name} goes to ${seat}` },
    { atMs: doneMs, who: 'buyer', text: `${name} from ${seat}: ${parts.join(' ')}` },
  ];
}
