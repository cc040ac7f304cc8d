/**
 * The whole story of one request to a priced route, in the order of design section 4. Every branch is here or one
 * call away; whatever goes wrong, the work does not run unpaid (S5).
 */
import type { Purchase, TakeOutcome, TakeRequest } from '../claim/index.ts';
import { lastUsableMs } from '../payment/index.ts';
import { describe, type Outcome, type Refusal } from '../problem.ts';
import { problemAnswer } from './answer.ts';
import { authorize } from './authorization.ts';
import { withCors } from './cors.ts';
import { answerEarlierUnknown, answerFromOlder, answerUnused } from './earlier.ts';
import { inProgress, isHeld, sealedPayload, type Won } from './flow.ts';
import { agreedBefore, isPaid, judge, judgeWindow, validate } from './judge.ts';
import { answerKnown } from './known.ts';
import { countedAs } from './limits/limits.ts';
import { clearsTheWay, maxRounds, startBlock } from './lookup.ts';
import type { Answer, Delivery, HeaderList, SellerRequest, Work } from './message.ts';
import { carriesPayment, checkMethod, optionsAnswer, refuseMethod } from './method.ts';
import { begin } from './patience.ts';
import { markHeader, probeHeader } from './probe.ts';
import { beforeLookup, plain, refusalTo, retryLater, retrySoon, unsettledResponse } from './reply.ts';
import type { Route } from './route.ts';
import { type Shop, StoreUnavailable } from './shop.ts';
import { payFirst, workOwed } from './upfront.ts';
import {
  type Agreed,
  identify,
  type Presented,
  paymentText,
  purchaseOf,
  readCall,
  readPayment,
  type Visit,
} from './visit.ts';

/** What an adapter has for one request. */
export type Arrival<Parsed> = { readonly request: SellerRequest; readonly work: Work<Parsed> };

/** Answers one request to a priced route; never rejects. */
export async function charge<Parsed>(
  shop: Shop,
  route: Route<Parsed>,
  arrival: Arrival<Parsed>,
): Promise<Delivery> {
  const delivery = await guarded(shop, route, arrival);
  const { headers } = arrival.request;
  return guardWritten(shop, { ...delivery, answer: stamped(shop, { route, headers }, delivery.answer) });
}

async function guarded<Parsed>(
  shop: Shop,
  route: Route<Parsed>,
  arrival: Arrival<Parsed>,
): Promise<Delivery> {
  try {
    return await story(shop, route, arrival);
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
  if (cause instanceof Error && 'code' in cause && typeof cause.code === 'string') {
    // A store of ours says why in words without secrets; of any other error only the code is told.
    return cause.name === 'StoreError' ? `${cause.code}: ${cause.message}` : cause.code;
  }
  return fault instanceof Error ? fault.name : 'unknown';
}

async function story<Parsed>(shop: Shop, route: Route<Parsed>, arrival: Arrival<Parsed>): Promise<Delivery> {
  const { request } = arrival;
  if (request.method === 'OPTIONS') return plain(optionsAnswer(shop, route, request.headers));
  const origin = shop.places.locate(request);
  const pays = carriesPayment(request.headers);
  if (!origin.ok) return turnedAway(shop, route, beforeLookup(origin.refusal, pays));
  const ready = await shop.readiness.check();
  if (ready.state !== 'ready')
    return turnedAway(shop, route, { code: 'seller_not_ready', retryAfter: retryLater });

  const method = checkMethod(route, request);
  if (!method.ok) return plain(refuseMethod(route, beforeLookup(method.refusal, pays)));
  const text = paymentText(request.headers);
  if (!text.ok) return turnedAway(shop, route, text.refusal);
  const copied = text.value === undefined ? undefined : shop.inFlightTexts.get(text.value);
  if (copied !== undefined) return copyInFlight(copied, route.inProgressStatus);
  const placed = { ...arrival, origin: origin.value };
  if (text.value === undefined) return ask(shop, route, placed);
  const presented = readPayment(text.value);
  if (presented.ok && shop.inFlight.has(presented.value.payment.key)) {
    return copyInFlight(presented.value.payment.network, route.inProgressStatus);
  }
  const { quota, addressOf } = shop.limits;
  const address = addressOf(request);
  const crowd = quota.enter(address);
  if (crowd !== undefined) return turnedAway(shop, route, crowd);
  try {
    return await meet(shop, route, { ...placed, header: text.value, presented });
  } finally {
    quota.leave(address);
  }
}

type Placed<Parsed> = Arrival<Parsed> & { readonly origin: string };

/** No payment came with it: what it costs, or why it cannot be served at any price. */
async function ask<Parsed>(shop: Shop, route: Route<Parsed>, placed: Placed<Parsed>): Promise<Delivery> {
  const call = await readCall(shop, route, placed);
  if (!call.ok) return turnedAway(shop, route, call.refusal);
  const invalid = await validate(call.value);
  return refusalTo(call.value, invalid ?? { code: 'payment_required' });
}

/** A payment came with it, and there is room for its address. */
async function meet<Parsed>(
  shop: Shop,
  route: Route<Parsed>,
  met: Placed<Parsed> & { readonly header: string; readonly presented: Outcome<Presented> },
): Promise<Delivery> {
  const { presented, header } = met;
  const { quota } = shop.limits;
  const full = presented.ok ? quota.judge(presented.value.payment.payer) : undefined;
  if (full !== undefined) return turnedAway(shop, route, full);
  const call = await readCall(shop, route, met);
  if (!call.ok) return turnedAway(shop, route, beforeLookup(call.refusal, presented.ok));
  if (!presented.ok) return refusalTo(call.value, presented.refusal);
  const digest = call.value.digest();
  if (!digest.ok) return turnedAway(shop, route, beforeLookup(digest.refusal, true));
  const visit = identify(call.value, { ...presented.value, fingerprint: digest.value });
  if (!visit.ok) return refusalTo(call.value, visit.refusal);

  const { key, network } = visit.value.payment;
  // A copy that arrived while this one's body was read is here first.
  if (shop.inFlight.has(key)) return inProgress(visit.value);
  // Counted only now that it is known who signed: nobody fills another payer's room with forgeries.
  const payer = countedAs(visit.value);
  const crowd = quota.enterPayer(payer);
  if (crowd !== undefined) return turnedAway(shop, route, crowd);
  shop.inFlight.add(key);
  shop.inFlightTexts.set(header, network);
  try {
    return await serve(visit.value);
  } finally {
    shop.inFlight.delete(key);
    shop.inFlightTexts.delete(header);
    quota.leavePayer(payer);
    shop.tidy();
  }
}

/** Refused before the payment was looked at. */
function turnedAway<Parsed>(shop: Shop, route: Route<Parsed>, refusal: Refusal): Delivery {
  shop.observe({ event: 'refused', route: route.name, code: refusal.code });
  return plain(problemAnswer(refusal));
}

/** Known keys first; then the terms, the claim, and the flow. */
async function serve<Parsed>(visit: Visit<Parsed>): Promise<Delivery> {
  const { shop } = visit;
  const found = await shop.store.find(visit.payment.key);
  if (found.record !== undefined) {
    const answer = await answerKnown(visit, found.record, found.nowMs);
    if (answer !== 'go') return answer;
  }
  if (isPaid(found.record)) return claim(visit, agreedBefore(found.record));
  const { refused, breaker } = shop.limits;
  const waitMs = refused.waitMs(countedAs(visit));
  if (waitMs > 0)
    return refusalTo(visit, { code: 'too_many_requests', retryAfter: Math.ceil(waitMs / 1000) });
  const pass = breaker.admit();
  if (typeof pass === 'object') {
    // What is older than our memory may have moved.
    const forgotten = judgeWindow(visit, shop.world.nowMs())?.money === 'unknown';
    return refusalTo(visit, forgotten ? { ...pass, money: 'unknown' } : pass);
  }
  try {
    const agreed = await judge(visit);
    return agreed.ok ? await claim(visit, agreed.value) : await turnAway(visit, agreed.refusal);
  } finally {
    breaker.leave(pass);
  }
}

/** Takes what was agreed, and follows the flow; an older payment in doubt is looked up first. */
async function claim<Parsed>(visit: Visit<Parsed>, agreed: Agreed): Promise<Delivery> {
  for (let round = 0; round < maxRounds; round += 1) {
    const answer = await proceed(visit, await take(visit, agreed));
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

type Taken = { readonly outcome: TakeOutcome; readonly askedAtMs: number };

async function take<Parsed>(visit: Visit<Parsed>, agreed: Agreed): Promise<Taken> {
  const { shop, route, payment } = visit;
  const purchase = purchaseOf(visit, agreed);
  const first = visit.flow === 'upfront' ? await beginning(visit, purchase) : undefined;
  const askedAtMs = shop.world.monotonicMs();
  const request: TakeRequest = {
    purchase,
    owner: visit.owner,
    times: shop.lease,
    earlierPayment: route.earlierPayment,
    mayReplaceRequest: route.binding !== 'required',
    notAfterMs: lastUsableMs(payment, { flow: visit.flow, budget: route.budget }),
    ...(route.unpaid === undefined ? {} : { exposure: route.unpaid }),
    ...(first === undefined ? {} : { begin: first }),
  };
  const send = { key: payment.key, owner: visit.owner };
  const outcome = await begin(shop, send, () => shop.store.take(request));
  return { outcome, askedAtMs };
}

/** What becomes durable with the claim where the money moves first. */
async function beginning<Parsed>(
  visit: Visit<Parsed>,
  purchase: Purchase,
): Promise<NonNullable<TakeRequest['begin']>> {
  const block = await startBlock(visit.shop, purchase);
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
      // Unsent and free, but it stays with the request that it was taken for.
      if (outcome.record.fingerprint !== visit.fingerprint)
        return answerUnused(visit, outcome.record, ['request']);
      return inProgress(visit);
    }
    case 'earlier_unknown':
      return (await clearsTheWay(shop, outcome.older)) ? 'again' : answerEarlierUnknown(visit);
    case 'superseded':
      return answerFromOlder(visit, outcome.record, outcome.older);
    case 'alias_conflict':
      return refusalTo(visit, { code: 'payment_id_conflict' });
    case 'pay_first':
      return refusalTo(visit, { code: 'upfront_required' });
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
function copyInFlight(network: string, status: 402 | 409): Delivery {
  const response = unsettledResponse(network, 'payment_in_progress');
  return plain(problemAnswer({ code: 'payment_in_progress', status, retryAfter: retrySoon }, { response }));
}

/** What every answer carries: who may read it, and, for this boot's own self-test, whose gate this is. */
function stamped<Parsed>(
  shop: Shop,
  asked: { readonly route: Route<Parsed>; readonly headers: HeaderList },
  answer: Answer,
): Answer {
  const { route, headers } = asked;
  const marked = headers.some(([name, value]) => name === probeHeader && value === shop.mark)
    ? { ...answer, headers: [...answer.headers, [markHeader, `${shop.mark} ${route.name}`] as const] }
    : answer;
  return withCors(marked, shop.cors.fieldsFor(headers));
}

/** How the writing went is bookkeeping: a store that is down then must not break an answer that has left. */
function guardWritten(shop: Shop, delivery: Delivery): Delivery {
  if (delivery.untracked === true) return delivery;
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
