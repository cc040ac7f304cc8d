/**
 * The payment-identifier rule (formats 9.1 and 12.2): an identifier that a payer chose stands for one authorization.
 * While money of that one is out or has moved, or while somebody works for it, another authorization under the same
 * identifier is neither taken nor first sent. The identifier is never a key and proves nothing about who asks.
 */
import { type ClaimRecord, leaseAlive, type Purchase } from './record.ts';
import { type Step, withoutOwner } from './step.ts';

/** What a store reads for the rule, in the same atomic step. */
export type AliasView = {
  /** Records whose {@link claimedAlias} is the one at stake, oldest first; absent where none is at stake. */
  readonly aliased?: readonly ClaimRecord[];
  readonly nowMs: number;
};

/**
 * How many records one step looks at. Of those that claim an alias at most one was never sent, since taking it fences
 * that one off, and so at most one does not hold it: of two, one holds it, if any does. More than one holds it only
 * where the chain overrides a facilitator's refusal.
 */
export const aliasLimit = 2;

/** The alias that must be looked up before this payment is taken or first sent, or undefined where it has none. */
export function aliasAtStake(record: ClaimRecord | undefined, purchase?: Purchase): string | undefined {
  if (record !== undefined && record.money.state !== 'none') return undefined;
  return purchase?.alias ?? record?.alias;
}

/**
 * The alias that this record holds, or held until its lease ran out; undefined where it has no claim to one. It does
 * not depend on the clock, so a store keeps it as an indexed column. What was never sent claims it only through an
 * owner: a failed run, an unsent answer and a superseded payment leave the identifier to the next authorization.
 */
export function claimedAlias(record: ClaimRecord): string | undefined {
  switch (record.money.state) {
    case 'sending':
    case 'unknown':
    case 'held':
    case 'settled':
      return record.alias;
    case 'none':
      return record.lease === undefined ? undefined : record.alias;
    case 'refused':
    case 'voided':
    case 'reversed':
    case 'refunded':
      return undefined;
    default:
      return record.money satisfies never;
  }
}

export type AliasLook = {
  /** The other payment that the alias stands for now. */
  readonly holder?: ClaimRecord;
  /** Another payment that was never sent and whose owner is late: it could still begin its send. */
  readonly stale?: ClaimRecord;
};

/** Who stands behind the alias of the payment `key`; `graceMs` lets the owner of a run that is only slow finish. */
export function lookAlias(
  view: AliasView,
  { key, graceMs }: { readonly key: string; readonly graceMs: number },
): AliasLook {
  const others = (view.aliased ?? []).filter(
    (other) => other.key !== key && claimedAlias(other) !== undefined,
  );
  const holder = others.find((other) => holdsAlias(other, view.nowMs, graceMs));
  if (holder !== undefined) return { holder };
  const stale = others[0];
  return stale === undefined ? {} : { stale };
}

/**
 * The owner of a sibling that lost its alias could come back and begin its send after all, and one identifier would be
 * charged twice: it loses its fence in the step that gives the alias away.
 */
export function fenceSibling<O>(step: Step<O>, stale: ClaimRecord | undefined, nowMs: number): Step<O> {
  if (stale === undefined) return step;
  return { ...step, change: { ...step.change, other: withoutOwner(stale, nowMs) } };
}

/** Of records that claim an alias: whether this one holds it now. */
function holdsAlias(record: ClaimRecord, nowMs: number, graceMs: number): boolean {
  if (record.money.state !== 'none' || leaseAlive(record, nowMs)) return true;
  return record.work.state === 'running' && nowMs < (record.lease?.untilMs ?? 0) + graceMs;
}
