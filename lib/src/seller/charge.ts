/**
 * The whole story of one request to a priced route, in the order of design section 4. Every branch is here or one
 * call away; whatever goes wrong, the work does not run unpaid (S5).
 */
import {
  type ClaimRecord,
  type Purchase,
  reorgWindowMs,
  type TakeOutcome,
  type TakeRequest,
} from '../claim/index.ts';
import { checkPayment, checkWindow, isCounterfactual, lastUsableMs } from '../payment/index.ts';
import { describe, type Outcome, type Refusal, refuse, succeed } from '../problem.ts';
import { saysNonceUsed } from '../settlement/index.ts';
import { matchRequirement } from '../terms/index.ts';
import type { PaymentRequirements } from '../wire/v2.ts';
import { exposedFields, problemAnswer } from './answer.ts';
import { authorize } from './authorization.ts';
import { answerEarlierUnknown, answerFromOlder, answerUnused } from './earlier.ts';
import { inProgress, isHeld, sealedPayload, type Won } from './flow.ts';
import { answerKnown } from './known.ts';
import { clearsTheWay, hasCode, maxRounds, startBlock } from './lookup.ts';
import type { Delivery, SellerRequest, Work } from './message.ts';
import { plain, quote, refusalTo, retryLater, retrySoon, unsettledResponse } from './reply.ts';
import type { Route } from './route.ts';
import { forwarded, questionOf } from './settle.ts';
import { type Shop, StoreUnavailable } from './shop.ts';
import { payFirst, workOwed } from './upfront.ts';
import {
  identify,
  type Presented,
  paymentText,
  purchaseOf,
  readCall,
  readPayment,
  type Visit,
} from './visit.ts';

/** Contract wallets cost a facilitator call before anything is taken; more at once would be a weapon (design 9.16). */
const maxContractChecks = 8;

/** What an adapter has for one request. */
export type Arrival<Parsed> = { readonly request: SellerRequest; readonly work: Work<Parsed> };

/** Answers one request to a priced route; never rejects. */
export async function charge<Parsed>(
  shop: Shop,
  route: Route<Parsed>,
  arrival: Arrival<Parsed>,
): Promise<Delivery> {
  try {
    return guardWritten(shop, await story(shop, route, arrival));
  } catch (fault) {
    const code = fault instanceof StoreUnavailable ? 'store_unavailable' : 'internal_error';
    shop.observe({ event: 'alarm', alarm: code, detail: describeFault(fault) });
    shop.observe({ event: 'refused', route: route.name, code });
    return plain(problemAnswer({ code, retryAfter: retryLater }));
  }
}

/** A TypeError is a programmer's mistake and says which; any other fault may carry what nobody should read. */
function describeFault(fault: unknown): string {
  if (fault instanceof TypeError) return fault.message;
  // A store's own code, such as store_busy, tells an operator what to look at.
  const cause = fault instanceof StoreUnavailable ? fault.cause : undefined;
  if (cause instanceof Error && 'code' in cause && typeof cause.code === 'string') return cause.code;
  return fault instanceof Error ? fault.name : 'unknown';
}

async function story<Parsed>(shop: Shop, route: Route<Parsed>, arrival: Arrival<Parsed>): Promise<Delivery> {
  const { request } = arrival;
  if (request.method === 'OPTIONS') return plain(optionsAnswer(route.method));
  const ready = await shop.readiness.check();
  if (ready.state !== 'ready')
    return plain(problemAnswer({ code: 'seller_not_ready', retryAfter: retryLater }));

  const text = paymentText(request.headers);
  if (!text.ok) return plain(problemAnswer(text.refusal));
  if (request.method === 'HEAD' && text.value !== undefined) return plain(headAnswer(route.method));
  const presented = text.value === undefined ? undefined : readPayment(text.value);
  if (presented?.ok === true && shop.inFlight.has(presented.value.payment.key)) {
    return copyInFlight(presented.value, route.inProgressStatus);
  }
  const call = await readCall(shop, route, arrival);
  if (!call.ok) return plain(problemAnswer(call.refusal));
  if (presented === undefined) return refusalTo(call.value, { code: 'payment_required' });
  if (!presented.ok) return refusalTo(call.value, presented.refusal);
  const visit = identify(call.value, presented.value);
  if (!visit.ok) return refusalTo(call.value, visit.refusal);

  const { key } = visit.value.payment;
  // A copy that arrived while this one's body was read is here first.
  if (shop.inFlight.has(key)) return inProgress(visit.value);
  shop.inFlight.add(key);
  try {
    return await serve(visit.value);
  } finally {
    shop.inFlight.delete(key);
    shop.tidy();
  }
}

/** Known keys first; then the terms, the claim, and the flow. */
async function serve<Parsed>(visit: Visit<Parsed>): Promise<Delivery> {
  const { shop } = visit;
  const found = await shop.store.find(visit.payment.key);
  if (found.record !== undefined) {
    const answer = await answerKnown(visit, found.record, found.nowMs);
    if (answer !== 'go') return answer;
  }
  const requirement = isPaid(found.record) ? succeed(found.record.requirement) : await judge(visit);
  if (!requirement.ok) return turnAway(visit, requirement.refusal);
  for (let round = 0; round < maxRounds; round += 1) {
    const answer = await proceed(visit, await take(visit, requirement.value));
    if (answer !== 'again') return answer;
  }
  return answerEarlierUnknown(visit);
}

/**
 * Judging takes time, and a buyer who is told to pay anew must be able to rely on it: what another process did with
 * this payment meanwhile is the answer, and an owner that only its lease has left loses its fence (I3).
 */
async function turnAway<Parsed>(visit: Visit<Parsed>, refusal: Refusal): Promise<Delivery> {
  const { store } = visit.shop;
  const { record, nowMs } = await store.find(visit.payment.key);
  if (record === undefined) return refuseUnsent(visit, refusal);
  const answer = await answerKnown(visit, record, nowMs);
  if (answer !== 'go') return answer;
  if (record.money.state !== 'none') return inProgress(visit);
  if (record.lease === undefined) return refuseUnsent(visit, refusal);
  const stale = { key: record.key, owner: record.lease.owner, fence: record.lease.fence };
  return isHeld(await store.fail(stale)) ? refuseUnsent(visit, refusal) : inProgress(visit);
}

/** A payment older than our memory may have settled once; it is told so as a failed settlement is, and not asked anew. */
function refuseUnsent<Parsed>(visit: Visit<Parsed>, refusal: Refusal): Promise<Delivery> {
  const { money, reason = refusal.code } = describe(refusal);
  const forgotten = money === 'unknown' ? unsettledResponse(visit.payment.network, reason) : undefined;
  return refusalTo(visit, refusal, forgotten);
}

/** Owed work is judged by its record; everything else by what is asked now. */
function isPaid(record: ClaimRecord | undefined): record is ClaimRecord {
  return record !== undefined && (record.money.state === 'settled' || record.supersededBy !== undefined);
}

/** Terms, window and signature of a payment that was never sent. */
async function judge<Parsed>(visit: Visit<Parsed>): Promise<Outcome<PaymentRequirements>> {
  const { shop, payment } = visit;
  const window = judgeWindow(visit, shop.world.nowMs());
  // What is older than our memory may have moved under the terms of its day.
  if (window?.money === 'unknown') return { ok: false, refusal: window };
  const terms = await quote(visit);
  if (!terms.ok) return terms;
  const requirement = matchRequirement(visit.message.accepted, terms.value);
  if (!requirement.ok) return requirement;
  const misfit = checkPayment(payment, requirement.value);
  if (misfit !== undefined) return { ok: false, refusal: misfit };
  if (window !== undefined) return { ok: false, refusal: window };
  return visit.signedBy === 'payer' ? requirement : verifyContract(visit, requirement.value);
}

function judgeWindow<Parsed>({ route, payment }: Visit<Parsed>, nowMs: number): Refusal | undefined {
  const { flow, maxTimeoutSeconds, budget } = route;
  // A store forgets by its own clock, which may be ahead of ours by the skew that this leaves.
  return checkWindow(payment, { flow, nowMs, maxTimeoutSeconds, budget, retentionMs: reorgWindowMs });
}

/** Only a contract at the payer can say whether it signed: its word is asked through the facilitator, within a quota. */
async function verifyContract<Parsed>(
  visit: Visit<Parsed>,
  requirement: PaymentRequirements,
): Promise<Outcome<PaymentRequirements>> {
  const { contracts } = visit.shop;
  if (contracts.running >= maxContractChecks) {
    return refuse('facilitator_unavailable', { retryAfter: retrySoon });
  }
  contracts.running += 1;
  try {
    return await askContract(visit, requirement);
  } finally {
    contracts.running -= 1;
  }
}

async function askContract<Parsed>(
  visit: Visit<Parsed>,
  requirement: PaymentRequirements,
): Promise<Outcome<PaymentRequirements>> {
  const { shop, payment } = visit;
  // Where there is no code nobody but the key could have signed, unless the contract is yet to be made (EIP-6492).
  const code = await hasCode(shop, payment.network, payment.payer);
  if (code === false && !isCounterfactual(payment)) return refuse('signature_invalid');
  const record = { requirement, payer: payment.payer };
  const message = forwarded(visit.message, payment.payload, record);
  const verdict = await shop.facilitator.verify(questionOf(message, record, visit.route.budget.settleMs));
  if (verdict.kind === 'valid') return succeed(requirement);
  // The key is unknown here or was never sent, so a spent nonce paid for something else.
  if (verdict.kind === 'invalid' && saysNonceUsed(verdict.reason)) return refuse('payment_already_used');
  if (verdict.kind === 'invalid') return refuse('payment_refused', { reason: verdict.reason });
  return refuse('facilitator_unavailable', { retryAfter: retryLater });
}

type Taken = { readonly outcome: TakeOutcome; readonly askedAtMs: number };

async function take<Parsed>(visit: Visit<Parsed>, requirement: PaymentRequirements): Promise<Taken> {
  const { shop, route, payment } = visit;
  const purchase = purchaseOf(visit, requirement);
  const begin = route.flow === 'upfront' ? await beginning(visit, purchase) : undefined;
  const askedAtMs = shop.world.monotonicMs();
  const outcome = await shop.store.take({
    purchase,
    owner: visit.owner,
    times: shop.lease,
    earlierPayment: route.earlierPayment,
    mayReplaceRequest: true,
    notAfterMs: lastUsableMs(payment, route),
    ...(begin === undefined ? {} : { begin }),
  });
  return { outcome, askedAtMs };
}

/** What becomes durable with the claim where the money moves first. */
async function beginning<Parsed>(
  visit: Visit<Parsed>,
  purchase: Purchase,
): Promise<NonNullable<TakeRequest['begin']>> {
  const block = await startBlock(visit.shop, purchase.network);
  return {
    phase: 'pay',
    payload: sealedPayload(visit, purchase),
    ...(block === undefined ? {} : { startBlock: block }),
  };
}

/** Follows what `take` decided; `again` after an older payment's doubt was looked up. */
async function proceed<Parsed>(visit: Visit<Parsed>, taken: Taken): Promise<Delivery | 'again'> {
  const { shop, route } = visit;
  const { outcome, askedAtMs } = taken;
  switch (outcome.kind) {
    case 'taken':
      return run(visit, { ...outcome, askedAtMs });
    case 'known': {
      shop.observe({ event: 'lost', key: visit.payment.key, route: route.name });
      const answer = await answerKnown(visit, outcome.record, outcome.nowMs);
      if (answer !== 'go') return answer;
      // Superseded, and the older payment was delivered and has been forgotten since.
      if (outcome.record.supersededBy !== undefined) return answerUnused(visit, outcome.record);
      return inProgress(visit);
    }
    case 'earlier_unknown':
      return (await clearsTheWay(shop, outcome.older)) ? 'again' : answerEarlierUnknown(visit);
    case 'superseded':
      return answerFromOlder(visit, outcome.record, outcome.older);
    case 'late':
      return refuseUnsent(
        visit,
        judgeWindow(visit, outcome.nowMs) ?? { code: 'authorization_window_too_short' },
      );
    case 'full':
      return refusalTo(visit, { code: 'store_full', retryAfter: retryLater });
    default:
      return outcome satisfies never;
  }
}

async function run<Parsed>(visit: Visit<Parsed>, won: Won): Promise<Delivery> {
  const { record } = won;
  if (record.money.state === 'sending') return payFirst(visit, won);
  if (record.money.state !== 'none') return workOwed(visit, won);
  visit.shop.observe({ event: 'taken', key: record.key, route: visit.route.name, attempt: record.attempts });
  return authorize(visit, won);
}

/**
 * A copy of a payment that this process is at work on: said before any signature is checked, so it names neither
 * payer nor transaction (design 9.15).
 */
function copyInFlight(presented: Presented, status: 402 | 409): Delivery {
  const { network } = presented.payment;
  const response = unsettledResponse(network, 'payment_in_progress');
  return plain(problemAnswer({ code: 'payment_in_progress', status, retryAfter: retrySoon }, { response }));
}

/** HEAD asks for the terms and buys nothing. */
function headAnswer(method: string): Delivery['answer'] {
  const answer = problemAnswer({ code: 'method_not_allowed' });
  return { ...answer, headers: [...answer.headers, ['allow', `${method}, OPTIONS`]] };
}

/** Answered without the handler; what a browser may read of our answers is said here too. */
function optionsAnswer(method: string): Delivery['answer'] {
  return {
    status: 204,
    headers: [
      ['allow', `${method}, OPTIONS`],
      ['cache-control', 'no-store'],
      ['access-control-expose-headers', exposedFields],
    ],
    body: new Uint8Array(0),
  };
}

/** How the writing went is bookkeeping: a store that is down then must not break an answer that has left. */
function guardWritten(shop: Shop, delivery: Delivery): Delivery {
  return {
    answer: delivery.answer,
    written: async (how) => {
      try {
        await delivery.written(how);
      } catch {
        shop.observe({ event: 'alarm', alarm: 'store_unavailable', detail: 'delivery note' });
      }
    },
  };
}
