/** What many rounds came to: the sums of one line of the report. */
import type { Result } from '../round/play.ts';
import type { StoreKind } from '../seller/store.ts';
import type { TrialName } from './option.ts';

export type Sums = {
  readonly rounds: number;
  /** Sellers that ended by SIGKILL, sellers that stood still, and database servers that were killed. */
  readonly kills: number;
  readonly stalls: number;
  readonly outages: number;
  /** Requests that carried a payment. */
  readonly presentations: number;
  readonly executions: number;
  /** Calls of the facilitator, and transfers on the chain. */
  readonly settles: number;
  readonly charges: number;
  /** Whole paid answers; the same answer to the same payment again is one more. */
  readonly deliveries: number;
  /** Rounds in which a promise was broken. */
  readonly violations: number;
};

export type Row = Sums & {
  readonly trial: TrialName;
  readonly store: StoreKind;
  readonly flow: string;
};

/** A round in which a promise was broken. */
export type Failure = Pick<Row, 'trial' | 'store' | 'flow'> & {
  readonly seed: number;
  readonly violations: readonly string[];
  readonly history: readonly string[];
  /** The line that plays it again. */
  readonly replay: string;
};

export const noSums: Sums = Object.freeze({
  rounds: 0,
  kills: 0,
  stalls: 0,
  outages: 0,
  presentations: 0,
  executions: 0,
  settles: 0,
  charges: 0,
  deliveries: 0,
  violations: 0,
});

/** The sums with one more round. */
export function addRound(sums: Sums, result: Result, outages: number): Sums {
  return {
    rounds: sums.rounds + 1,
    kills: sums.kills + result.kills,
    stalls: sums.stalls + result.stalls,
    outages: sums.outages + outages,
    presentations: sums.presentations + result.copies,
    executions: sums.executions + result.runs,
    settles: sums.settles + result.settles,
    charges: sums.charges + result.charges,
    deliveries: sums.deliveries + result.deliveries,
    violations: sums.violations + (result.violations.length === 0 ? 0 : 1),
  };
}
