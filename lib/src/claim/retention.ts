/**
 * What a store may forget, and what somebody must look at (design section 3). Money that is unknown, and money
 * that moved for an answer nobody got, is never forgotten by time. The moments below do not depend on the clock,
 * so a store keeps them as indexed columns.
 */
import { type ClaimRecord, moneyDead, moneyMoved } from './record.ts';
import { type Change, patched } from './step.ts';

/** A chain's clock and ours may differ by this much. */
export const skewMs = 30_000;
/** A settled record outlives its authorization by more than any reorganisation worth fearing. */
export const reorgWindowMs = 3_600_000;
/** How long after `validBefore` a key is remembered; an older key that we do not know may have moved money. */
export const retainMs: number = skewMs + reorgWindowMs;

/** After this moment the record can be forgotten; undefined where time alone never allows it. */
export function forgetAtMs(record: ClaimRecord): number | undefined {
  const atMs = Math.max(record.validBeforeMs + retainMs, record.lease?.untilMs ?? 0);
  if (record.money.state === 'none' || moneyDead(record.money)) return atMs;
  if (record.closed !== undefined) return atMs;
  if (!moneyMoved(record.money) || record.deliveredAtMs === undefined) return undefined;
  return Math.max(atMs, record.keepUntilMs ?? 0);
}

/** True when the record can be forgotten now. */
export function forgettable(record: ClaimRecord, nowMs: number): boolean {
  const atMs = forgetAtMs(record);
  return atMs !== undefined && nowMs > atMs;
}

/**
 * After this moment the kept answer can be dropped while its record stays; undefined where there is none, or
 * where somebody may still have a right to it.
 */
export function answerForgetAtMs(record: ClaimRecord): number | undefined {
  if (record.answerBytes === undefined) return undefined;
  return moneyDead(record.money) ? record.validBeforeMs + retainMs : record.keepUntilMs;
}

/** True when the kept answer can be dropped now. */
export function answerForgettable(record: ClaimRecord, nowMs: number): boolean {
  const atMs = answerForgetAtMs(record);
  return atMs !== undefined && nowMs > atMs;
}

/** What dropping the kept answer writes. */
export function forgetAnswer(record: ClaimRecord, nowMs: number): Change {
  return { record: patched(record, { answerBytes: undefined }, nowMs), answer: null };
}

/**
 * From when on somebody must look at the record, or undefined: its money is unknown, or its paid work is owed
 * because nobody holds it any more. What an operator has closed waits for nobody.
 */
export function dueFromMs(record: ClaimRecord): number | undefined {
  if (record.closed !== undefined) return undefined;
  switch (record.money.state) {
    case 'unknown':
      return 0;
    case 'sending':
      return record.lease?.untilMs ?? 0;
    case 'held':
    case 'settled':
      return record.deliveredAtMs === undefined ? (record.lease?.untilMs ?? 0) : undefined;
    case 'none':
    case 'refused':
    case 'voided':
    case 'reversed':
    case 'refunded':
      return undefined;
    default:
      return record.money satisfies never;
  }
}

/** True when the record's money is unknown, or its paid work is owed. */
export function needsAttention(record: ClaimRecord, nowMs: number): boolean {
  const fromMs = dueFromMs(record);
  return fromMs !== undefined && nowMs >= fromMs;
}

/**
 * From when on a payment is looked at again that a facilitator alone has concluded, or that was not seen at a final
 * block; undefined for any other. A block may be reorganised away, a success may never have happened, and what was
 * refused may land all the same (S05, F01).
 */
export function proofFromMs(record: ClaimRecord): number | undefined {
  const { money } = record;
  if (record.closed !== undefined) return undefined;
  switch (money.state) {
    case 'settled':
      return money.finality === 'finalized' ? undefined : (record.proveAtMs ?? 0);
    case 'refused':
      // What was retired was never sent.
      return money.rank === 'facilitator' && money.why === 'definite' ? (record.proveAtMs ?? 0) : undefined;
    default:
      return undefined;
  }
}

/** True when the next look at it is due. */
export function needsProof(record: ClaimRecord, nowMs: number): boolean {
  const fromMs = proofFromMs(record);
  return fromMs !== undefined && nowMs >= fromMs;
}
