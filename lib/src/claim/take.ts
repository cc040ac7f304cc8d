/**
 * Take a payment once (design section 3). The transition sees the key's own record, the older payments of the same
 * payer for the same request, and those under the same payment identifier, in one atomic step.
 *
 * Precedence, for what was never sent: the earlier payment first, since a buyer that gets the answer it has paid for,
 * or learns that one is on its way, is served better than by a conflict; then the identifier, before `late` and `full`,
 * because those invite another payment and the identifier says that one is under way. Where `earlierPayment` is off the
 * identifier still counts: the buyer itself said that both are one purchase. What a payer owes is looked at last: it
 * asks for another payment, and the others say why none may be asked for.
 */
import { type AliasView, fenceSibling, lookAlias } from './alias.ts';
import { lookEarlier, type OlderView, supersede } from './earlier.ts';
import { type ExposureView, mustPayFirst } from './exposure.ts';
import {
  appendLog,
  type ClaimRecord,
  leaseAlive,
  type MoneyAxis,
  moneyMoved,
  moneyNow,
  type Purchase,
} from './record.ts';
import { nextSend, patched, type Step, withoutOwner } from './step.ts';
import type { TakeOutcome, TakeRequest } from './store.ts';

/** What a store reads before it decides, all in the same atomic step. */
export type TakeView = OlderView &
  AliasView &
  ExposureView & {
    readonly record?: ClaimRecord;
    /** Where the record is superseded: the older payment it is answered from. */
    readonly supersedes?: ClaimRecord;
    readonly full: boolean;
  };

type Judgement = 'busy' | 'run' | 'send' | 'answer' | 'exhausted';

/** Decides one `take`. */
export function take(view: TakeView, request: TakeRequest): Step<TakeOutcome> {
  const { record, nowMs } = view;
  if (record?.supersededBy !== undefined) {
    const older = view.supersedes;
    if (older !== undefined) return still({ kind: 'superseded', record, older, nowMs });
    return still({ kind: 'known', record, nowMs });
  }
  if (record === undefined) return takeNew(view, request);
  const judgement = judge(record, request, nowMs);
  switch (judgement) {
    case 'busy':
    case 'answer':
      return still({ kind: 'known', record, nowMs });
    case 'exhausted': {
      const next = patched(record, { work: { state: 'exhausted' }, lease: undefined }, nowMs);
      return { change: { record: next }, outcome: { kind: 'known', record: next, nowMs } };
    }
    case 'run':
    case 'send':
      return retake(view, record, request);
    default:
      return judgement satisfies never;
  }
}

function judge(record: ClaimRecord, request: TakeRequest, nowMs: number): Judgement {
  if (leaseAlive(record, nowMs)) return 'busy';
  const money = moneyNow(record, nowMs);
  if (money.state === 'none') return judgeUnpaid(record, request, nowMs);
  // What an operator has closed was dealt with outside: its work never runs after all.
  if (!moneyMoved(money) || record.flow === 'authorization' || record.closed !== undefined) return 'answer';
  // Money that moved buys what was presented with it and nothing else (S2), for the same signature bytes only.
  const { fingerprint, signatureHash } = request.purchase;
  if (record.fingerprint !== fingerprint || record.signatureHash !== signatureHash) return 'answer';
  return judgeWork(record, request, nowMs);
}

function judgeUnpaid(record: ClaimRecord, request: TakeRequest, nowMs: number): Judgement {
  if (record.fingerprint !== request.purchase.fingerprint) {
    // What committed to its request by signature stays with it, whichever route it is presented on next (S2).
    const stays = !request.mayReplaceRequest || record.binding === 'signed';
    if (stays || record.work.state === 'done') return 'answer';
  }
  const judgement = judgeWork(record, request, nowMs);
  // No money is asked for work that could not run any more, or that an owner may still be running.
  return judgement === 'run' && request.begin !== undefined ? 'send' : judgement;
}

function judgeWork(record: ClaimRecord, request: TakeRequest, nowMs: number): Judgement {
  switch (record.work.state) {
    case 'done':
    case 'exhausted':
      return 'answer';
    case 'running':
      // Nobody beats for it any more; the grace lets an owner that is only slow finish first.
      if (record.lease !== undefined && nowMs < record.lease.untilMs + request.times.graceMs) return 'busy';
      return record.attempts < record.maxAttempts ? 'run' : 'exhausted';
    case 'idle':
    case 'failed':
      return record.attempts < record.maxAttempts ? 'run' : 'exhausted';
    default:
      return record.work satisfies never;
  }
}

function takeNew(view: TakeView, request: TakeRequest): Step<TakeOutcome> {
  const { nowMs } = view;
  const earlier = look(view, request);
  const { holder, stale } = earlier === undefined ? siblings(view, request) : {};
  if (holder !== undefined) return still({ kind: 'alias_conflict', other: holder, nowMs });
  if (isLate(request, nowMs)) return still({ kind: 'late', nowMs });
  if (earlier?.blocks === 'unknown') return still({ kind: 'earlier_unknown', older: earlier.older, nowMs });
  if (view.full) return still({ kind: 'full', nowMs });
  const fresh = newRecord(request.purchase, nowMs);
  if (earlier !== undefined) return supersede(fresh, earlier.older, nowMs);
  if (lendsTooMuch(view, request)) return still({ kind: 'pay_first', nowMs });
  return fenceSibling(own(fresh, request, nowMs), stale, nowMs);
}

/** What a purchase may leave out and is then not so; an identifier alone stays with its payment (formats 9.1). */
const absent = { binding: undefined, assurance: undefined } as const;

function retake(view: TakeView, record: ClaimRecord, request: TakeRequest): Step<TakeOutcome> {
  const { nowMs } = view;
  const unpaid = moneyNow(record, nowMs).state === 'none';
  const earlier = unpaid ? look(view, request) : undefined;
  if (earlier?.blocks === 'unknown') {
    return fenceOff(record, { kind: 'earlier_unknown', older: earlier.older, nowMs });
  }
  const { holder, stale } = unpaid && earlier === undefined ? siblings(view, request) : {};
  if (holder !== undefined) return fenceOff(record, { kind: 'alias_conflict', other: holder, nowMs });
  if (unpaid && isLate(request, nowMs)) return fenceOff(record, { kind: 'late', nowMs });
  // While nothing was sent, the request, the signature bytes and the identifier are those presented now (design 9.8).
  const current = unpaid
    ? patched(record, { ...absent, ...request.purchase, maxAttempts: record.maxAttempts }, nowMs)
    : record;
  if (earlier !== undefined) return supersede(current, earlier.older, nowMs);
  if (unpaid && lendsTooMuch(view, request)) return fenceOff(record, { kind: 'pay_first', nowMs });
  return fenceSibling(own(current, request, nowMs), stale, nowMs);
}

/** Who is told that this payment is not sent now must be able to rely on it: a stale owner loses its fence here. */
function fenceOff(
  record: ClaimRecord,
  outcome: TakeOutcome & { readonly kind: 'earlier_unknown' | 'alias_conflict' | 'late' | 'pay_first' },
): Step<TakeOutcome> {
  if (record.lease === undefined) return still(outcome);
  return { change: { record: withoutOwner(record, outcome.nowMs) }, outcome };
}

/** Only work that runs before its money is a loan. */
function lendsTooMuch({ exposure }: TakeView, request: TakeRequest): boolean {
  if (request.begin !== undefined || request.exposure === undefined) return false;
  return exposure !== undefined && mustPayFirst(exposure, request.exposure);
}

function isLate(request: TakeRequest, nowMs: number): boolean {
  return request.notAfterMs !== undefined && nowMs > request.notAfterMs;
}

function own(record: ClaimRecord, request: TakeRequest, nowMs: number): Step<TakeOutcome> {
  const fence = record.fence + 1;
  const lease = { owner: request.owner, fence, untilMs: nowMs + request.times.leaseMs };
  const hold = { key: record.key, owner: request.owner, fence };
  if (request.begin === undefined || record.money.state !== 'none') {
    const next = patched(
      record,
      { work: { state: 'running' }, fence, lease, attempts: record.attempts + 1, abandoned: undefined },
      nowMs,
    );
    return { change: { record: next }, outcome: { kind: 'taken', hold, record: next, nowMs } };
  }
  const n = nextSend(record);
  const phase = request.begin.phase;
  const money: MoneyAxis = { state: 'sending', phase, n };
  const sendLog = appendLog(record.sendLog, { atMs: nowMs, n, phase, said: 'begun', by: 'seller' });
  const next = patched(
    record,
    {
      work: { state: 'idle' },
      money,
      fence,
      lease,
      sendLog,
      sends: record.sends + 1,
      startBlock: request.begin.startBlock,
      abandoned: undefined,
    },
    nowMs,
  );
  return {
    change: { record: next, payload: request.begin.payload },
    outcome: { kind: 'taken', hold, record: next, nowMs },
  };
}

function look(view: TakeView, request: TakeRequest): ReturnType<typeof lookEarlier> {
  return request.earlierPayment === 'off' ? undefined : lookEarlier(view, request.purchase.key);
}

function siblings(view: TakeView, request: TakeRequest): ReturnType<typeof lookAlias> {
  return lookAlias(view, { key: request.purchase.key, graceMs: request.times.graceMs });
}

function newRecord(purchase: Purchase, nowMs: number): ClaimRecord {
  return {
    ...purchase,
    work: { state: 'idle' },
    money: { state: 'none' },
    fence: 0,
    attempts: 0,
    sendLog: [],
    sends: 0,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  };
}

function still(outcome: TakeOutcome): Step<TakeOutcome> {
  return { change: {}, outcome };
}
