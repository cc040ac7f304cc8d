/**
 * Turns outcomes into deliveries. A refusal that invites a new payment carries the terms; if no price can be given
 * then, that is what is said instead.
 */
import type { ClaimRecord } from '../claim/index.ts';
import { describe, type Outcome, type Refusal, refuse, succeed } from '../problem.ts';
import type { PaymentRequirements, SettlementResponse } from '../wire/v2.ts';
import { problemAnswer } from './answer.ts';
import { askFor } from './ask.ts';
import { within } from './limit.ts';
import { payFirstTerms } from './limits/unpaid.ts';
import type { Answer, Delivery } from './message.ts';
import { type QuoteScope, sealQuote } from './quoted.ts';
import { type Call, readLimitMs } from './visit.ts';

/** Seconds after which the same payment is worth presenting again. */
export const retrySoon = 1;
export const retryLater = 5;

/** A delivery of which nobody needs to hear how it went. */
export function plain(answer: Answer): Delivery {
  return { answer, written: async () => {}, untracked: true };
}

/** What a quoted price holds for: a quote ends with the terms that it was made under. */
export function quoteScope<Parsed>(
  { shop, route }: Pick<Call<Parsed>, 'shop' | 'route'>,
  fingerprint: string,
): QuoteScope {
  const { name, flow, maxTimeoutSeconds } = route;
  const paid = shop.accepts.map(({ network, payTo }) => [network, payTo]);
  const terms = JSON.stringify([flow, maxTimeoutSeconds, paid]);
  return { key: shop.quoteKey, route: name, terms, request: fingerprint };
}

/**
 * A refusal that is given before the store was asked. Of a payment that came with the request nothing is known then:
 * it may have moved, and no new one is invited (I3).
 */
export function beforeLookup(refusal: Refusal, pays: boolean): Refusal {
  const { money, retry } = describe(refusal);
  if (!pays || money !== 'unmoved') return refusal;
  return { ...refusal, money: 'unknown', retry: retry === 'new_payment' ? 'same_payment' : retry };
}

/** What is asked for this request: in the route's flow, or, of a payer that must go first, in `upfront`. */
export async function quote<Parsed>(
  call: Call<Parsed>,
  whom: 'anybody' | 'payer_first' = 'anybody',
): Promise<Outcome<readonly PaymentRequirements[]>> {
  const parsed = await call.parsed();
  if (!parsed.ok) return parsed;
  const quoted = await within(call.shop.world, readLimitMs, call.route.quote(parsed.value));
  if (quoted === 'late') return refuse('price_unavailable');
  if (!quoted.ok) return quoted;
  return dated(call, whom === 'payer_first' ? payFirstTerms(quoted.value) : quoted.value);
}

/** The entries with the time for which they hold, where the route says so. */
function dated<Parsed>(
  call: Call<Parsed>,
  requirements: readonly PaymentRequirements[],
): Outcome<readonly PaymentRequirements[]> {
  const { shop, route } = call;
  if (route.quoteMs === undefined) return succeed(requirements);
  const request = call.digest();
  if (!request.ok) return request;
  const untilMs = shop.world.nowMs() + route.quoteMs;
  return succeed(sealQuote(requirements, quoteScope(call, request.value), untilMs));
}

/** A refusal, with the terms where a new payment is invited. */
export async function refusalTo<Parsed>(
  call: Call<Parsed>,
  refusal: Refusal,
  response?: SettlementResponse,
): Promise<Delivery> {
  const row = describe(refusal);
  call.shop.observe({ event: 'refused', route: call.route.name, code: refusal.code });
  if (row.status !== 402 || row.retry !== 'new_payment') return plain(problemAnswer(refusal, { response }));
  const terms = await quote(call, refusal.code === 'upfront_required' ? 'payer_first' : 'anybody');
  if (!terms.ok) return plain(problemAnswer(terms.refusal, { response }));
  const required = askFor(call, terms.value, row.reason ?? refusal.code);
  if (!required.ok) return plain(problemAnswer(required.refusal, { response }));
  return plain(problemAnswer(refusal, { required: required.value, response }));
}

/** PAYMENT-RESPONSE for a settled record. */
export function settledResponse(record: ClaimRecord): SettlementResponse {
  const moved =
    record.money.state === 'settled' || record.money.state === 'held' || record.money.state === 'reversed';
  return {
    success: true,
    payer: record.payer,
    transaction: moved ? record.money.transaction : '',
    network: record.network,
    ...(record.money.state === 'settled' ? { amount: record.money.amount } : {}),
  };
}

/** PAYMENT-RESPONSE for a payment that did not settle, or is not known to have. */
export function unsettledResponse(
  network: string,
  reason: string,
  more: { readonly payer?: string; readonly transaction?: string } = {},
): SettlementResponse {
  return {
    success: false,
    errorReason: reason,
    ...(more.payer === undefined ? {} : { payer: more.payer }),
    transaction: more.transaction ?? '',
    network,
  };
}

/** An answer whose writing is noted on the records that it settles. */
export function noted<Parsed>(
  call: Pick<Call<Parsed>, 'shop' | 'route'>,
  answer: Answer,
  keys: readonly string[],
): Delivery {
  const { shop, route } = call;
  return {
    answer,
    written: async (how) => {
      for (const key of keys) {
        shop.observe({ event: 'delivered', key, how });
        const note =
          how === 'complete'
            ? ({ kind: 'complete', keepMs: route.keepMs } as const)
            : ({ kind: 'abandoned' } as const);
        await shop.store.deliver(key, note);
      }
    },
  };
}

/** Names what a body that is not ours cannot say. */
export function statusText(parts: {
  readonly code: string;
  readonly money: string;
  readonly retry: string;
}): string {
  return `code=${parts.code}; money=${parts.money}; retry=${parts.retry}`;
}
