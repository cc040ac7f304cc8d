/**
 * Begins a send for a record that already has its answer or its unknown send: an identical re-send, or the first
 * send of an answer that is kept but unsent (the restart table of design section 3).
 */
import { type AliasView, fenceSibling, lookAlias } from './alias.ts';
import { lookEarlier, type OlderView, supersede } from './earlier.ts';
import { appendLog, type ClaimRecord, leaseAlive, moneyNow } from './record.ts';
import { nextSend, patched, type Step } from './step.ts';
import type { BeginOutcome } from './store.ts';

export type BeginRequest = {
  readonly owner: string;
  readonly leaseMs: number;
  readonly startBlock?: number;
  /** How many sends of this payment may leave in all; those proven unsent do not count. */
  readonly maxSends: number;
  readonly earlierPayment: 'serve' | 'off';
};

/** Decides one `beginSend`. */
export function beginSend(
  record: ClaimRecord | undefined,
  view: OlderView & AliasView,
  send: BeginRequest,
): Step<BeginOutcome> {
  const { nowMs } = view;
  if (record === undefined) return { change: {}, outcome: { kind: 'known', nowMs } };
  const money = moneyNow(record, nowMs);
  const kept = money.state === 'none' && record.work.state === 'done' && record.supersededBy === undefined;
  const n = nextSend(record);
  const open = kept || money.state === 'unknown';
  const free = !leaseAlive(record, nowMs) && record.closed === undefined;
  const may = open && free && record.sends < send.maxSends;
  if (!may) return { change: {}, outcome: { kind: 'known', record, nowMs } };
  const earlier = kept && send.earlierPayment === 'serve' ? lookEarlier(view, record.key) : undefined;
  if (earlier?.blocks === 'unknown') {
    return { change: {}, outcome: { kind: 'earlier_unknown', older: earlier.older, nowMs } };
  }
  if (earlier !== undefined) return supersede(record, earlier.older, nowMs);
  // No grace: the buyer asks for this answer, which is there, and a slow run for another one loses nothing but work.
  const { holder, stale } = kept ? lookAlias(view, { key: record.key, graceMs: 0 }) : {};
  if (holder !== undefined) return { change: {}, outcome: { kind: 'alias_conflict', other: holder, nowMs } };
  const phase = money.state === 'unknown' ? money.phase : 'pay';
  return fenceSibling(begun(record, send, { n, phase, nowMs }), stale, nowMs);
}

function begun(
  record: ClaimRecord,
  send: BeginRequest,
  at: { readonly n: number; readonly phase: 'pay' | 'deposit' | 'charge' | 'void'; readonly nowMs: number },
): Step<BeginOutcome> {
  const { n, phase, nowMs } = at;
  const fence = record.fence + 1;
  const next = patched(
    record,
    {
      money: { state: 'sending', phase, n },
      fence,
      lease: { owner: send.owner, fence, untilMs: nowMs + send.leaseMs },
      sendLog: appendLog(record.sendLog, { atMs: nowMs, n, phase, said: 'begun', by: 'seller' }),
      sends: record.sends + 1,
      // A block that is noted after a send may lie behind our own transfer, which then looks like somebody else's.
      startBlock: record.sends === 0 ? (record.startBlock ?? send.startBlock) : record.startBlock,
      abandoned: undefined,
      ...(record.money.state === 'none' ? {} : { doubted: true as const }),
    },
    nowMs,
  );
  const hold = { key: record.key, owner: send.owner, fence };
  return { change: { record: next }, outcome: { kind: 'begun', hold, record: next, nowMs } };
}
