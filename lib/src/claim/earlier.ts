/**
 * The earlier-payment rule (design sections 3, 9.5 to 9.7): a buyer whose first payment for a request is unknown,
 * or moved without an answer, is not charged again for the same request.
 */
import { type ClaimRecord, moneyMoved } from './record.ts';
import { type Change, patched } from './step.ts';

/** What a store reads for the rule, in the same atomic step. */
export type OlderView = {
  /** Same network, payer, payTo and fingerprint; those that {@link blocksNow}, oldest first. */
  readonly older: readonly ClaimRecord[];
  readonly nowMs: number;
};

/** How many older payments one step looks at; each of them stands in the way, so the first would do. */
export const olderLimit = 16;

export type Earlier = { readonly blocks: 'unknown' | 'undelivered'; readonly older: ClaimRecord };

/** The older payment that stands before this key, if one does; unknown goes before undelivered. */
export function lookEarlier(view: OlderView, key: string): Earlier | undefined {
  const blockers = view.older.filter((older) => older.key !== key && blocksNow(older, view.nowMs));
  const unknown = blockers.find((older) => !moneyMoved(older.money));
  if (unknown !== undefined) return { blocks: 'unknown', older: unknown };
  const owed = blockers[0];
  return owed === undefined ? undefined : { blocks: 'undelivered', older: owed };
}

/**
 * From when on (the store's milliseconds) a record stands before newer payments for its request, or undefined
 * where it never does. It does not depend on the clock, so a store keeps it as an indexed column. Unknown money
 * blocks at once, a send when its lease is over. Money that moved blocks while its answer was never written out
 * whole and its owner can no longer answer: lease over, or client gone or told 503 (design 9.5). Only one complete
 * write ends that (design 9.6): a newer payment that is being served from it may lose its client as well.
 */
export function blocksFromMs(record: ClaimRecord): number | undefined {
  if (record.closed !== undefined) return undefined;
  switch (record.money.state) {
    case 'unknown':
      return 0;
    case 'sending':
      // Doubt is sticky: an identical re-send under a living lease is no twin that merely settles.
      return record.doubted === true ? 0 : (record.lease?.untilMs ?? 0);
    case 'held':
    case 'settled':
      if (record.deliveredAtMs !== undefined) return undefined;
      if (record.doubted === true) return 0;
      if (record.abandoned === true && record.work.state !== 'running') return 0;
      return record.lease?.untilMs ?? 0;
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

/** True when this record stands before newer payments for its request now. */
export function blocksNow(record: ClaimRecord, nowMs: number): boolean {
  const fromMs = blocksFromMs(record);
  return fromMs !== undefined && nowMs >= fromMs;
}

/** What `supersede` writes beside the newer record: the older one that now serves it. */
export type Superseded = {
  readonly change: Change & { readonly other: ClaimRecord };
  readonly outcome: {
    readonly kind: 'superseded';
    readonly record: ClaimRecord;
    readonly older: ClaimRecord;
    readonly nowMs: number;
  };
};

/** The newer payment is never sent, so nothing of it is kept; both records say so in one step. */
export function supersede(newer: ClaimRecord, older: ClaimRecord, nowMs: number): Superseded {
  const record = patched(newer, { supersededBy: older.key, lease: undefined, answerBytes: undefined }, nowMs);
  const served = patched(older, { servedTo: newer.key }, nowMs);
  return {
    change: { record, answer: null, payload: null, other: served },
    outcome: { kind: 'superseded', record, older: served, nowMs },
  };
}
