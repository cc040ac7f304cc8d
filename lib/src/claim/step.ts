/**
 * What a transition gives back to a store: the outcome for the caller, and what to write in the same atomic step.
 */
import type { ClaimRecord, Lease } from './record.ts';
import type { Hold } from './store.ts';

/** Absent members stay as they are; `null` deletes. */
export type Change = {
  readonly record?: ClaimRecord | null;
  readonly answer?: Uint8Array | null;
  readonly payload?: Uint8Array | null;
  /** A second record of the same step: the older payment that now serves the newer one, or a fenced-off sibling. */
  readonly other?: ClaimRecord;
};

export type Step<O> = { readonly change: Change; readonly outcome: O };

/** The members a transition changes; an optional member set to `undefined` is gone. */
export type Patch = Partial<ClaimRecord>;

/** A copy of the record with the patch laid over it; what is gone leaves no member behind, as in a store's text. */
export function patched(record: ClaimRecord, patch: Patch, nowMs: number): ClaimRecord {
  const next = { ...record, ...patch, updatedAtMs: nowMs };
  for (const [name, value] of Object.entries(patch)) {
    if (value === undefined) Reflect.deleteProperty(next, name);
  }
  return next;
}

/** A copy whose owner, should it come back, has lost its fence. */
export function withoutOwner(record: ClaimRecord, nowMs: number): ClaimRecord {
  const work = record.work.state === 'running' ? { work: { state: 'failed' } as const } : {};
  return patched(record, { ...work, lease: undefined }, nowMs);
}

/** True when the hold is the newest owner of this record. */
export function holds(record: ClaimRecord | undefined, hold: Hold): record is ClaimRecord & { lease: Lease } {
  return (
    record !== undefined &&
    record.lease !== undefined &&
    record.lease.owner === hold.owner &&
    record.lease.fence === hold.fence &&
    record.fence === hold.fence
  );
}

/** The number of the next send, counted over the whole life of the record, however much its log forgot. */
export function nextSend(record: ClaimRecord): number {
  const current = 'n' in record.money ? record.money.n : 0;
  return record.sendLog.reduce((highest, entry) => Math.max(highest, entry.n), current) + 1;
}
