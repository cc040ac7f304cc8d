/**
 * How deep in the chain a payment must lie before it is believed (attacks S05, F10). A block can be replaced as long
 * as it is not final; each seller chooses how much of that risk its price is worth.
 */

import type { Finality } from '../claim/index.ts';

export type { Finality } from '../claim/index.ts';

/** Deeper than any chain's own finality; whoever wants more than that wants `finalized`. */
export const mostConfirmations = 1_000;

const tags = ['latest', 'safe', 'finalized'] as const;
const confirmationsShape = /^[1-9][0-9]{0,3}$/;

/** Reads a finality as a person writes it on a command line or in a file; undefined where it is none. */
export function parseFinality(text: string): Finality | undefined {
  const tag = tags.find((name) => name === text);
  if (tag !== undefined) return tag;
  if (!confirmationsShape.test(text)) return undefined;
  const confirmations = Number(text);
  return isConfirmations(confirmations) ? confirmations : undefined;
}

/** The same value as a finality; throws TypeError where a program's configuration holds anything else. */
export function checkFinality(value: unknown): Finality {
  const tag = tags.find((name) => name === value);
  if (tag !== undefined) return tag;
  if (typeof value === 'number' && isConfirmations(value)) return value;
  throw new TypeError(
    `A finality is latest, safe, finalized or a whole number from 1 to ${mostConfirmations}, not "${String(value)}".`,
  );
}

function isConfirmations(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 1 && value <= mostConfirmations;
}
