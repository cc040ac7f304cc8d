/**
 * A known key is answered from its record and from nothing else (design section 4). The two axes are read as they
 * are now, by the store's clock; `go` hands the visit on to `take`, which decides again, atomically.
 */
import { type ClaimRecord, leaseAlive, type MoneyAxis, moneyNow } from '../claim/index.ts';
import { inProgress, refusedRefusal } from './flow.ts';
import type { Delivery } from './message.ts';
import { redeliver } from './redeliver.ts';
import { refusalTo, settledResponse, unsettledResponse } from './reply.ts';
import { answerDoubt, sendKept } from './resend.ts';
import { claimOwed } from './upfront.ts';
import { sameSignature, type Visit } from './visit.ts';

/** The record's answer, or `go` where another run may be taken. */
export async function answerKnown<Parsed>(
  visit: Visit<Parsed>,
  record: ClaimRecord,
  nowMs: number,
): Promise<Delivery | 'go'> {
  if (record.supersededBy !== undefined) return 'go';
  const money = moneyNow(record, nowMs);
  if (money.state !== 'none' && record.fingerprint !== visit.fingerprint)
    return usedElsewhere(visit, record, money);
  switch (money.state) {
    case 'none':
      return answerUnsent(visit, record, nowMs);
    case 'sending':
      return inProgress(visit);
    case 'unknown': {
      const doubt = await answerDoubt(visit, record);
      if (doubt.kind === 'answered') return doubt.delivery;
      const answer = await answerKnown(visit, doubt.record, doubt.nowMs);
      // Paid, and its work is owed: nothing is judged any more, since terms and windows are for payments unsent.
      return answer === 'go' ? claimOwed(visit, doubt.record) : answer;
    }
    case 'held':
    case 'settled':
      return answerMoved(visit, record, nowMs);
    case 'refused':
      return refusalTo(visit, refusedRefusal(record, money), mine(visit, record, money.reason));
    case 'voided':
      return refusalTo(visit, { code: 'settlement_refused' }, mine(visit, record, 'settlement_voided'));
    case 'refunded':
      return refusalTo(visit, { code: 'payment_already_used', money: 'unmoved' });
    case 'reversed':
      return refusalTo(visit, { code: 'settlement_reversed' }, mine(visit, record, 'settlement_reversed'));
    default:
      return money satisfies never;
  }
}

/** The payment bought, or may have bought, another request (S2). */
async function usedElsewhere<Parsed>(
  visit: Visit<Parsed>,
  record: ClaimRecord,
  money: MoneyAxis,
): Promise<Delivery> {
  const refused = money.state === 'refused' || money.state === 'voided' || money.state === 'reversed';
  const moved =
    money.state === 'settled' || money.state === 'held' ? 'moved' : refused ? 'unmoved' : 'unknown';
  const response = moved === 'moved' && sameSignature(visit, record) ? settledResponse(record) : undefined;
  return refusalTo(visit, { code: 'payment_already_used', money: moved, fields: ['request'] }, response);
}

async function answerUnsent<Parsed>(
  visit: Visit<Parsed>,
  record: ClaimRecord,
  nowMs: number,
): Promise<Delivery | 'go'> {
  if (leaseAlive(record, nowMs)) return inProgress(visit);
  switch (record.work.state) {
    case 'idle':
    case 'failed':
      return 'go';
    case 'running': {
      const graceMs = visit.shop.lease.graceMs;
      const resting = record.lease === undefined || nowMs >= record.lease.untilMs + graceMs;
      return resting ? 'go' : inProgress(visit);
    }
    case 'done':
      if (record.fingerprint !== visit.fingerprint) {
        return refusalTo(visit, { code: 'payment_already_used', money: 'unmoved', fields: ['request'] });
      }
      if (sameSignature(visit, record)) return sendKept(visit, record);
      return refusalTo(visit, { code: 'payment_already_used', money: 'unmoved', fields: ['signature'] });
    case 'exhausted':
      return refusalTo(visit, { code: 'attempts_exhausted' });
    default:
      return record.work satisfies never;
  }
}

/** Settled: its kept answer, once more the same, to the signature that paid. */
async function answerMoved<Parsed>(
  visit: Visit<Parsed>,
  record: ClaimRecord,
  nowMs: number,
): Promise<Delivery | 'go'> {
  const own = sameSignature(visit, record);
  const response = own ? settledResponse(record) : undefined;
  switch (record.work.state) {
    case 'done':
      return own ? redeliver(visit, record) : refusalTo(visit, { code: 'payment_already_used' });
    case 'exhausted':
      return refusalTo(visit, { code: 'work_owed' }, response);
    case 'running': {
      const graceMs = visit.shop.lease.graceMs;
      const busy =
        leaseAlive(record, nowMs) || (record.lease !== undefined && nowMs < record.lease.untilMs + graceMs);
      return busy ? inProgress(visit) : owed(visit, record);
    }
    case 'idle':
    case 'failed':
      return leaseAlive(record, nowMs) ? inProgress(visit) : owed(visit, record);
    default:
      return record.work satisfies never;
  }
}

function owed<Parsed>(visit: Visit<Parsed>, record: ClaimRecord): Promise<Delivery> | 'go' {
  // An operator has repaid or delivered by hand: doing the work as well would be a gift.
  if (record.closed !== undefined) return refusalTo(visit, { code: 'payment_already_used' });
  if (record.attempts < record.maxAttempts && sameSignature(visit, record)) return 'go';
  const response = sameSignature(visit, record) ? settledResponse(record) : undefined;
  return refusalTo(visit, { code: 'work_owed' }, response);
}

function mine<Parsed>(
  visit: Visit<Parsed>,
  record: ClaimRecord,
  reason: string,
): ReturnType<typeof unsettledResponse> | undefined {
  if (!sameSignature(visit, record)) return undefined;
  return unsettledResponse(record.network, reason, { payer: record.payer });
}
