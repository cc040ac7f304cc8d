/**
 * A part of the demonstration: it measures, and then judges what it measured against one promise. Measuring needs the
 * stage; judging is a pure function of the figures, so that a wrong figure can be shown to be found.
 */
import type { Stage } from './stage.ts';

/** One row of a part's table: what was measured with us, perhaps beside the official seller, and whether it must be so. */
export type Check = {
  readonly what: string;
  readonly ours: string;
  /** Measured with the official seller; only ever informative. */
  readonly stock?: string;
  /** Missing where the row only informs. */
  readonly holds?: boolean;
  /** What would hold, where it does not. */
  readonly wanted?: string;
};

/** What a part found out. `figures` and `official` go into the JSON under the part's name. */
export type Finding = {
  readonly checks: readonly Check[];
  readonly figures: Readonly<Record<string, unknown>>;
  readonly official?: Readonly<Record<string, unknown>>;
  /** Said below the table, informative. */
  readonly notes?: readonly string[];
};

export type Part = {
  /** The member of the JSON. */
  readonly name: string;
  /** The member of the JSON that it is a member of, with the other parts of this group. */
  readonly group?: string;
  readonly title: string;
  /** The promise that is shown, as `S1`, and what it says. */
  readonly promise: string;
  readonly claim: string;
  readonly play: (stage: Stage) => Promise<Finding>;
};

/** A row that must be so. */
export function must(what: string, ours: number | string, wanted: number | string): Check {
  return { what, ours: String(ours), holds: ours === wanted, wanted: String(wanted) };
}

/** A row with a condition of its own. */
export function should(check: Omit<Check, 'holds'>, holds: boolean): Check {
  return { ...check, holds };
}

/** A row that only informs. */
export function inform(what: string, ours: number | string): Check {
  return { what, ours: String(ours) };
}

/** The row with the official seller's figure beside ours. */
export function beside(check: Check, stock: number | string): Check {
  return { ...check, stock: String(stock) };
}

/** A note for the day on which the official seller behaves otherwise than 2.27.0 does: its column then needs reading. */
export function asKnown(known: boolean): { readonly asKnown: boolean; readonly notes: readonly string[] } {
  const note =
    'The official seller behaves otherwise here than version 2.27.0 is known to; its figures are as measured.';
  return { asKnown: known, notes: known ? [] : [note] };
}

/** Whether everything that must be so is so; a part without any such row proves nothing. */
export function holds(finding: Pick<Finding, 'checks'>): boolean {
  const judged = finding.checks.filter((check) => check.holds !== undefined);
  return judged.length > 0 && judged.every((check) => check.holds === true);
}
