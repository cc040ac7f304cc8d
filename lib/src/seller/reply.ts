/**
 * Turns outcomes into deliveries. A refusal that invites a new payment carries the terms; if no price can be given
 * then, that is what is said instead.
 */
import type { ClaimRecord } from '../claim/index.ts';
import { commitmentDomain, commitmentExtension, declareCommitment, requestDigest } from '../payment/index.ts';
import { describe, type Outcome, type Refusal, refuse, succeed } from '../problem.ts';
import { encodePaymentRequired } from '../wire/required.ts';
import type { JsonObject, PaymentRequired, PaymentRequirements, SettlementResponse } from '../wire/v2.ts';
import { problemAnswer } from './answer.ts';
import { fitRequired } from './budget.ts';
import { within } from './limit.ts';
import type { Answer, Delivery } from './message.ts';
import { type QuoteScope, sealQuote } from './quoted.ts';
import { boundRequest, type Call, readLimitMs } from './visit.ts';

/** Seconds after which the same payment is worth presenting again. */
export const retrySoon = 1;
export const retryLater = 5;

/** Octets of a URL that every 402 has room for. */
const longestPricedUrl = 2048;

/** A delivery of which nobody needs to hear how it went. */
export function plain(answer: Answer): Delivery {
  return { answer, written: async () => {} };
}

/** What a quoted price holds for. */
export function quoteScope<Parsed>(
  { shop, route }: Pick<Call<Parsed>, 'shop' | 'route'>,
  fingerprint: string,
): QuoteScope {
  return { key: shop.quoteKey, route: route.name, request: fingerprint };
}

/** What is asked for this request. */
export async function quote<Parsed>(call: Call<Parsed>): Promise<Outcome<readonly PaymentRequirements[]>> {
  const parsed = await call.parsed();
  if (!parsed.ok) return parsed;
  const quoted = await within(call.shop.world, readLimitMs, Promise.resolve(call.route.quote(parsed.value)));
  if (quoted === 'late') return refuse('price_unavailable');
  return quoted.ok ? dated(call, quoted.value) : quoted;
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
  const terms = await quote(call);
  if (!terms.ok) return plain(problemAnswer(terms.refusal, { response }));
  const required = requiredOf(call, terms.value, row.reason ?? refusal.code);
  if (!required.ok) return plain(problemAnswer(required.refusal, { response }));
  const fitted = fitRequired(required.value, encodePaymentRequired);
  if ('tooLarge' in fitted) {
    // A long target alone can do it; then it is the request that has no terms.
    if (call.request.url.length > longestPricedUrl)
      return plain(problemAnswer({ code: 'request_malformed', fields: ['target'] }, { response }));
    call.shop.observe({ event: 'alarm', alarm: 'terms_too_large', detail: call.route.name });
    return plain(problemAnswer({ code: 'price_unavailable' }, { response }));
  }
  if (fitted.dropped.length > 0) call.shop.roster.noteShortened(call.route.name, fitted.dropped);
  return plain(problemAnswer(refusal, { required: fitted.header, response }));
}

/** The 402's message; its resource is our configured origin's URL, never the Host's. */
function requiredOf<Parsed>(
  call: Call<Parsed>,
  accepts: readonly PaymentRequirements[],
  error: string,
): Outcome<PaymentRequired> {
  const { route, request } = call;
  const extensions = extensionsOf(call);
  if (!extensions.ok) return extensions;
  return succeed({
    x402Version: 2,
    error,
    resource: { url: request.url, ...route.resource },
    accepts,
    ...(Object.keys(extensions.value).length === 0 ? {} : { extensions: extensions.value }),
  });
}

/** What the route declares; a required binding shows the digest, so that a mismatch is seen before anybody signs. */
function extensionsOf<Parsed>(call: Call<Parsed>): Outcome<JsonObject> {
  const { route, shop } = call;
  if (route.binding !== 'required') return succeed(route.extensions);
  const digest = requestDigest(boundRequest(call), commitmentDomain, shop.world.sha256);
  if (!digest.ok) return digest;
  const { boundHeaders } = route;
  const declared = declareCommitment({ required: true, boundHeaders, requestDigest: digest.value });
  return succeed({ ...route.extensions, [commitmentExtension]: declared });
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
