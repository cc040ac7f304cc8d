/**
 * Flow `authorization`: verify, work, keep the answer and begin the send in one step, settle, deliver. The money
 * moves last, so nothing that the buyer sent is spent on work that failed.
 */
import type { ClaimRecord } from '../claim/index.ts';
import type { Refusal } from '../problem.ts';
import { saysNonceUsed } from '../settlement/index.ts';
import {
  deliverPaid,
  failedUnpaid,
  inProgress,
  isHeld,
  type Owned,
  refusedRefusal,
  sealedAnswer,
  sealedPayload,
  unsettled,
  type Won,
} from './flow.ts';
import { keepLease } from './lease.ts';
import { countedAs } from './limits/limits.ts';
import { startBlock } from './lookup.ts';
import type { Delivery } from './message.ts';
import { begin } from './patience.ts';
import { refusalTo, retryLater } from './reply.ts';
import { forwarded, questionOf, settle, spentBefore } from './settle.ts';
import type { Visit } from './visit.ts';
import { runWork } from './work.ts';

/** Runs the whole flow for a claim that was just taken. */
export async function authorize<Parsed>(visit: Visit<Parsed>, won: Won): Promise<Delivery> {
  const { hold, record, askedAtMs } = won;
  const lease = keepLease(visit.shop, hold, askedAtMs);
  try {
    return await flow({ visit, hold, record, lease });
  } finally {
    lease.stop();
  }
}

async function flow<Parsed>(owned: Owned<Parsed>): Promise<Delivery> {
  const { visit, hold, record, lease } = owned;
  const { shop, route } = visit;
  const payment = forwarded(visit.message, visit.payment.payload, record);
  const question = questionOf(payment, record, route.budget.settleMs);

  // Noted before anybody else hears of the payment: whoever spends it from here on spends it for us (S06). Asked for
  // while the facilitator and the work are busy, it costs no time.
  const block = startBlock(shop, record);
  if (visit.signedBy === 'payer') {
    const refusal = await verifyOnce(visit, record, question);
    if (refusal !== undefined) return giveBack(owned, refusal);
  }
  const result = await runWork(visit, record, lease);
  if (result.kind !== 'answer') return failedUnpaid(owned, result);

  const send = {
    answer: sealedAnswer(visit, record, result.answer),
    payload: sealedPayload(visit, record),
    phase: 'pay',
    leaseMs: Math.max(shop.lease.leaseMs, route.budget.settleMs + shop.lease.marginMs),
    ...startAt(await block),
  } as const;
  const kept = await begin(shop, hold, () => shop.store.keepAndBeginSend(hold, send));
  if (!isHeld(kept)) return inProgress(visit);

  const settled = await settle(shop, hold, { record: kept.record, question });
  if (settled.money.state === 'settled') return deliverPaid(visit, settled.record, result.answer);
  return unsettled(visit, settled);
}

/** Nothing is known any more of a claim that has passed on meanwhile, unless its record is dead: then it says why. */
async function giveBack<Parsed>({ visit, hold }: Owned<Parsed>, refusal: Refusal): Promise<Delivery> {
  const outcome = await visit.shop.store.release(hold);
  if (isHeld(outcome)) return refusalTo(visit, refusal);
  const { record } = outcome;
  if (record?.money.state !== 'refused') return inProgress(visit);
  return refusalTo(visit, refusedRefusal(record, record.money));
}

/** Asks the facilitator before the work; says why not, or nothing. */
async function verifyOnce<Parsed>(
  visit: Visit<Parsed>,
  record: ClaimRecord,
  question: ReturnType<typeof questionOf>,
): Promise<Refusal | undefined> {
  const verdict = await visit.shop.facilitator.verify(question);
  switch (verdict.kind) {
    case 'valid':
      return undefined;
    case 'unavailable':
      visit.shop.observe({
        event: 'alarm',
        alarm: 'facilitator_unavailable',
        key: record.key,
        detail: verdict.why,
      });
      return { code: 'facilitator_unavailable', retryAfter: retryLater };
    case 'invalid':
      visit.shop.limits.refused.spend(countedAs(visit));
      if (!saysNonceUsed(verdict.reason)) return { code: 'payment_refused', reason: verdict.reason };
      await spentBefore(visit.shop, record);
      return { code: 'payment_already_used' };
    default:
      return verdict satisfies never;
  }
}

function startAt(block: number | undefined): { readonly startBlock?: number } {
  return block === undefined ? {} : { startBlock: block };
}
