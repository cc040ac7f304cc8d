/**
 * Work that runs before its money moves is a loan, and some payers do not pay it back: they cancel the authorization,
 * drain the balance or spend the nonce elsewhere while the handler runs (S01 to S03). What one payer has run up is
 * counted in the step that takes, so that no number of processes lends it more.
 */
import type { ClaimRecord } from './record.ts';
import { skewMs } from './retention.ts';
import type { ExposureLimits } from './store.ts';

/** What one payer has run up, as a store counts it. */
export type Exposure = {
  /** Runs whose payment was refused, canceled or spent elsewhere. */
  readonly unpaid: number;
  /** Runs that may still be paid for: {@link openUntilMs} has not passed. */
  readonly open: number;
};

/** What a store reads for the rule, in the same atomic step; absent where the rule is off. */
export type ExposureView = { readonly exposure?: Exposure };

/** Names a payer for this rule. */
export function payerName(payment: Pick<ClaimRecord, 'network' | 'payer'>): string {
  return `${payment.network}/${payment.payer}`;
}

/**
 * The payer for whom this record's work ran, or runs, with the money still out or never come; undefined for any other
 * record. It does not depend on the clock, so a store keeps it as an indexed column.
 */
export function exposedPayer(record: ClaimRecord): string | undefined {
  if (record.flow !== 'authorization' || record.attempts === 0 || record.closed !== undefined)
    return undefined;
  switch (record.money.state) {
    case 'none':
      // Work that failed is the seller's own loss; what is superseded was never sent and is served from an older payment.
      return record.work.state === 'running' ||
        (record.work.state === 'done' && record.supersededBy === undefined)
        ? payerName(record)
        : undefined;
    case 'sending':
    case 'unknown':
      return payerName(record);
    case 'refused':
      // What ran out of time was not sent, or was sent into silence: the payer did nothing against it (S08).
      return record.money.why === 'expired' ? undefined : payerName(record);
    case 'held':
    case 'settled':
    case 'voided':
    case 'reversed':
    case 'refunded':
      return undefined;
    default:
      return record.money satisfies never;
  }
}

/**
 * Until when the loan of an exposed record is open, by the store's clock; undefined where it went unpaid. A run whose
 * process died is nobody's loan, so it ends with the lease; money that is out or unknown may come while its
 * authorization lives.
 */
export function openUntilMs(record: ClaimRecord): number | undefined {
  switch (record.money.state) {
    case 'refused':
      return undefined;
    case 'none':
      return record.lease?.untilMs ?? 0;
    default:
      return record.validBeforeMs + skewMs;
  }
}

/** Counts what {@link exposedPayer} gathered for one payer. */
export function countExposure(exposed: readonly ClaimRecord[], nowMs: number): Exposure {
  const untils = exposed.map(openUntilMs);
  return {
    unpaid: untils.filter((untilMs) => untilMs === undefined).length,
    open: untils.filter((untilMs) => untilMs !== undefined && untilMs > nowMs).length,
  };
}

/** True where this payer must pay first. The payment that asks has no living lease, so it is not counted itself. */
export function mustPayFirst({ unpaid, open }: Exposure, limits: ExposureLimits): boolean {
  return (unpaid > 0 && unpaid + open >= limits.unpaid) || open >= limits.open;
}
