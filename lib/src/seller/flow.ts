/**
 * What both flows do after a claim was taken (design section 3): verify, work, keep, send, conclude. Each flow is an
 * order of these steps; the orders stand in authorization.ts and upfront.ts.
 */
import type { ClaimRecord, Hold, HoldOutcome } from '../claim/index.ts';
import { sealAnswer, sealRecord } from '../crypto/seal.ts';
import type { Refusal } from '../problem.ts';
import { encodeUtf8 } from '../wire/utf8.ts';
import { paidAnswer, unpaidAnswer } from './answer.ts';
import { encodeAnswer } from './kept.ts';
import type { LeaseKeeper } from './lease.ts';
import { countedAs } from './limits/limits.ts';
import type { Answer, Delivery } from './message.ts';
import {
  noted,
  plain,
  refusalTo,
  retryLater,
  retrySoon,
  settledResponse,
  statusText,
  unsettledResponse,
} from './reply.ts';
import { forwarded, type Settled } from './settle.ts';
import type { Visit } from './visit.ts';
import type { WorkResult } from './work.ts';

/** A right that a store gave, and the monotonic moment before it was asked: the lease counts from there. */
export type Won = { readonly hold: Hold; readonly record: ClaimRecord; readonly askedAtMs: number };

/** A claim that this request owns. */
export type Owned<Parsed> = {
  readonly visit: Visit<Parsed>;
  readonly hold: Hold;
  readonly record: ClaimRecord;
  readonly lease: LeaseKeeper;
};

/** The payload as it is stored for identical re-sends, sealed under the store key (design 9.4). */
export function sealedPayload<Parsed>(
  visit: Visit<Parsed>,
  record: Pick<ClaimRecord, 'key' | 'requirement'>,
): Uint8Array {
  const { shop } = visit;
  const plainText = encodeUtf8(JSON.stringify(forwarded(visit.message, visit.payment.payload, record)));
  return sealRecord({ plain: plainText, storeKey: shop.storeKey, bound: record.key }, shop.world);
}

/** The answer as it is kept, readable by who signed and by the seller (design 9.3). */
export function sealedAnswer<Parsed>(visit: Visit<Parsed>, record: ClaimRecord, answer: Answer): Uint8Array {
  const { shop, payment } = visit;
  return sealAnswer(
    {
      plain: encodeAnswer(answer),
      signature: payment.signature,
      storeKey: shop.storeKey,
      bound: record.key,
    },
    shop.world,
  );
}

/** Work that failed before anything was charged: its answer, or ours where it has none. */
export async function failedUnpaid<Parsed>(
  owned: Owned<Parsed>,
  result: Exclude<WorkResult, { kind: 'answer' }>,
): Promise<Delivery> {
  const { visit, hold } = owned;
  const outcome = await visit.shop.store.fail(hold);
  if (!isHeld(outcome)) return inProgress(visit);
  const { work, attempts } = outcome.record;
  const exhausted = work.state === 'exhausted';
  visit.shop.observe({ event: 'work_failed', key: hold.key, attempts, paid: false, ...faultOf(result) });
  const retry = exhausted ? 'new_payment' : 'same_payment';
  switch (result.kind) {
    case 'failed':
      return plain(
        unpaidAnswer(result.answer, { status: statusText({ code: 'work_failed', money: 'unmoved', retry }) }),
      );
    case 'threw':
      return refusalTo(visit, { code: 'work_failed', retry });
    case 'redirect':
      return refusalTo(visit, { code: 'redirect_not_sold' });
    case 'too_large':
      return refusalTo(visit, { code: 'answer_too_large', fields: [result.what] });
    default:
      return result satisfies never;
  }
}

function faultOf(result: WorkResult): { readonly fault?: unknown } {
  return result.kind === 'threw' && result.fault !== undefined ? { fault: result.fault } : {};
}

/** Work that failed after the money moved is owed: the same payment may run it again (design section 4). */
export async function failedPaid<Parsed>(
  owned: Owned<Parsed>,
  result: Exclude<WorkResult, { kind: 'answer' }>,
): Promise<Delivery> {
  const { visit, hold } = owned;
  const outcome = await visit.shop.store.fail(hold);
  if (!isHeld(outcome)) return inProgress(visit);
  const { record } = outcome;
  visit.shop.observe({
    event: 'work_failed',
    key: hold.key,
    attempts: record.attempts,
    paid: true,
    ...faultOf(result),
  });
  const retry = record.work.state === 'exhausted' ? 'later' : 'same_payment';
  const response = settledResponse(record);
  const money = moneyOfPresented(visit, record);
  if (result.kind === 'failed') {
    const status = statusText({ code: 'work_owed', money, retry });
    return noted(visit, unpaidAnswer(result.answer, { response, status }), []);
  }
  const code = result.kind === 'too_large' ? 'answer_too_large' : 'work_owed';
  const fields = result.kind === 'too_large' ? { fields: [result.what] } : {};
  return refusalTo(visit, { code, money, retry, ...fields }, response);
}

/** Every attempt at the work was used up: an operator finds it on the owed list. */
export function stillOwed<Parsed>(visit: Visit<Parsed>, record: ClaimRecord): Promise<Delivery> {
  const money = moneyOfPresented(visit, record);
  return refusalTo(visit, { code: 'work_owed', money }, settledResponse(record));
}

/** A newer payment may be presented in place of the one that moved (design 9.7). */
function moneyOfPresented<Parsed>(visit: Visit<Parsed>, settled: ClaimRecord): 'moved' | 'unmoved' {
  return settled.key === visit.payment.key ? 'moved' : 'unmoved';
}

/** The answer that was just paid for. */
export function deliverPaid<Parsed>(visit: Visit<Parsed>, record: ClaimRecord, answer: Answer): Delivery {
  return noted(visit, paidAnswer(answer, { response: settledResponse(record) }), [record.key]);
}

/** What a buyer is told when its send did not settle. */
export async function unsettled<Parsed>(visit: Visit<Parsed>, settled: Settled): Promise<Delivery> {
  const { record, money } = settled;
  const { network, payer } = record;
  switch (money.state) {
    case 'none':
      return refusalTo(visit, { code: 'facilitator_unavailable', retryAfter: retryLater });
    case 'refused': {
      noteUnpaid(visit, record);
      const refusal = refusedRefusal(record, money);
      return refusalTo(visit, refusal, unsettledResponse(network, money.reason, { payer }));
    }
    case 'sending':
    case 'unknown': {
      const transaction = money.state === 'unknown' ? money.transaction : undefined;
      const response =
        transaction === undefined
          ? undefined
          : unsettledResponse(network, 'settlement_pending', { payer, transaction });
      return refusalTo(visit, { code: 'settlement_unknown', retryAfter: retryLater }, response);
    }
    case 'held':
    case 'settled':
    case 'voided':
    case 'reversed':
    case 'refunded':
      return refusalTo(visit, { code: 'payment_already_used' });
    default:
      return money satisfies never;
  }
}

/** Work or calls that a payer has cost and not paid for. */
function noteUnpaid<Parsed>(visit: Visit<Parsed>, record: ClaimRecord): void {
  const { shop } = visit;
  shop.limits.refused.spend(countedAs(visit));
  if (record.flow !== 'authorization' || record.attempts === 0) return;
  shop.observe({ event: 'run_unpaid', key: record.key, route: record.route, payer: record.payer });
}

/** A spent authorization is no invitation to pay again; any other refusal is, and says how long the bytes live. */
export function refusedRefusal(
  record: ClaimRecord,
  money: ClaimRecord['money'] & { state: 'refused' },
): Refusal {
  if (money.why === 'used_elsewhere') return { code: 'payment_already_used' };
  const asserted = money.rank === 'facilitator' ? { liveUntil: Math.floor(record.validBeforeMs / 1000) } : {};
  return { code: 'settlement_refused', reason: money.reason, ...asserted };
}

/** The claim passed to somebody else, or is busy: never an invitation to pay. */
export async function inProgress<Parsed>(visit: Visit<Parsed>): Promise<Delivery> {
  const { route, payment } = visit;
  const response = unsettledResponse(payment.network, 'payment_in_progress');
  return refusalTo(
    visit,
    { code: 'payment_in_progress', status: route.inProgressStatus, retryAfter: retrySoon },
    response,
  );
}

/** True when the outcome still belongs to this request. */
export function isHeld(outcome: HoldOutcome): outcome is HoldOutcome & { kind: 'held' } {
  return outcome.kind === 'held';
}
