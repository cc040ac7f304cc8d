/**
 * Whether a payment that was never sent may be taken: terms, binding, window, the route's own validation and, for a
 * contract wallet, the facilitator's word. What is judged here was looked up in the store before and found unsent.
 */
import { type ClaimRecord, reorgWindowMs } from '../claim/index.ts';
import { checkBinding, checkPayment, checkWindow, isCounterfactual } from '../payment/index.ts';
import { type Outcome, type Refusal, refuse, succeed } from '../problem.ts';
import { saysNonceUsed } from '../settlement/index.ts';
import { matchRequirement } from '../terms/index.ts';
import type { PaymentRequirements } from '../wire/v2.ts';
import { within } from './limit.ts';
import { countedAs } from './limits/limits.ts';
import { payFirstTerms } from './limits/unpaid.ts';
import { hasCode } from './lookup.ts';
import { openQuote } from './quoted.ts';
import { quote, quoteScope, retryLater, retrySoon } from './reply.ts';
import type { Invalid } from './route.ts';
import { forwarded, questionOf } from './settle.ts';
import { type Agreed, aliasOf, boundRequest, boundUrl, type Call, readLimitMs, type Visit } from './visit.ts';

/** Contract wallets cost a facilitator call before anything is taken; more at once would be a weapon (design 9.16). */
const maxContractChecks = 8;
/** A seller's own words in a refusal; more is no sentence. */
const maxDetail = 500;

/** Owed work is judged by its record; everything else by what is asked now. */
export function isPaid(record: ClaimRecord | undefined): record is ClaimRecord {
  return record !== undefined && (record.money.state === 'settled' || record.supersededBy !== undefined);
}

/** What was agreed when the payment was first taken; work that is paid is not judged again. */
export function agreedBefore(record: ClaimRecord): Agreed {
  const { requirement, binding = 'none', alias } = record;
  return { requirement, binding, alias };
}

/** Everything that can be said of an unsent payment without the store, in the order of design section 4. */
export async function judge<Parsed>(visit: Visit<Parsed>): Promise<Outcome<Agreed>> {
  const { shop, route, payment, message } = visit;
  const window = judgeWindow(visit, shop.world.nowMs());
  // What is older than our memory may have moved under the terms of its day.
  if (window?.money === 'unknown') return { ok: false, refusal: window };
  const alias = aliasOf(visit);
  if (!alias.ok) return alias;
  const requirement = await agreedTerms(visit);
  if (!requirement.ok) return requirement;
  const binding = checkBinding(
    {
      binding: route.binding,
      message,
      nonce: payment.nonce,
      request: boundRequest(visit),
      comparable: (url) => boundUrl(route, url),
    },
    shop.world.sha256,
  );
  if (!binding.ok) return binding;
  const misfit = checkPayment(payment, requirement.value) ?? window ?? (await validate(visit));
  if (misfit !== undefined) return { ok: false, refusal: misfit };
  const agreed = { requirement: requirement.value, binding: binding.value, alias: alias.value };
  if (visit.signedBy === 'payer') return succeed(agreed);
  const refusal = await verifyContract(visit, requirement.value);
  return refusal === undefined ? succeed(agreed) : { ok: false, refusal };
}

/** Our own entry for what the buyer accepted: as it was quoted to it, where the route quotes, else as it is asked now. */
async function agreedTerms<Parsed>(visit: Visit<Parsed>): Promise<Outcome<PaymentRequirements>> {
  const { shop, route, flow, message } = visit;
  const { accepted } = message;
  if (route.quoteMs !== undefined) {
    const named = accepted.extra.paymentFlow ?? 'authorization';
    // A quote of the days when this route offered to be paid first.
    if (named !== flow) return refuse('requirement_mismatch', { fields: ['extra.paymentFlow'] });
    return openQuote(accepted, quoteScope(visit, visit.fingerprint), shop.world.nowMs());
  }
  const terms = await quote(visit);
  if (!terms.ok) return terms;
  const goesFirst = flow === 'upfront' && route.flow === 'authorization';
  return matchRequirement(accepted, goesFirst ? payFirstTerms(terms.value) : terms.value);
}

/** The route's own word on the request, before anything is claimed: a refusal here never costs money. */
export async function validate<Parsed>(
  call: Pick<Call<Parsed>, 'shop' | 'route' | 'request' | 'parsed'>,
): Promise<Refusal | undefined> {
  const { shop, route, request } = call;
  if (route.validate === undefined) return undefined;
  const parsed = await call.parsed();
  if (!parsed.ok) return parsed.refusal;
  const asked = async (): Promise<{ readonly said: Invalid | undefined }> => ({
    said: await route.validate?.(parsed.value, request),
  });
  const heard = await within(shop.world, readLimitMs, asked());
  const { said } = heard === 'late' ? { said: 'The route took too long to judge this request.' } : heard;
  if (said === undefined) return undefined;
  const invalid = typeof said === 'string' ? { detail: said } : said;
  const { detail, status = 400, fields }: Exclude<Invalid, string> = invalid;
  const known = Number.isInteger(status) && status >= 400 && status < 500 && status !== 402;
  return {
    code: 'request_invalid',
    detail: detail.slice(0, maxDetail),
    ...(known ? { status } : {}),
    ...(fields === undefined ? {} : { fields }),
  };
}

/** The authorization's times against what the flow needs. */
export function judgeWindow<Parsed>(
  { route, payment, flow }: Pick<Visit<Parsed>, 'route' | 'payment' | 'flow'>,
  nowMs: number,
): Refusal | undefined {
  const { maxTimeoutSeconds, budget } = route;
  // A store forgets by its own clock, which may be ahead of ours by the skew that this leaves.
  return checkWindow(payment, { flow, nowMs, maxTimeoutSeconds, budget, retentionMs: reorgWindowMs });
}

/** Only a contract at the payer can say whether it signed: its word is asked through the facilitator, within a quota. */
async function verifyContract<Parsed>(
  visit: Visit<Parsed>,
  requirement: PaymentRequirements,
): Promise<Refusal | undefined> {
  const { contracts } = visit.shop;
  if (contracts.running >= maxContractChecks) {
    return { code: 'facilitator_unavailable', retryAfter: retrySoon };
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
): Promise<Refusal | undefined> {
  const { shop, payment } = visit;
  // Where there is no code nobody but the key could have signed, unless the contract is yet to be made (EIP-6492).
  const code = await hasCode(shop, payment.network, payment.payer);
  if (code === false && !isCounterfactual(payment)) return { code: 'signature_invalid' };
  const record = { requirement, payer: payment.payer };
  const message = forwarded(visit.message, payment.payload, record);
  const verdict = await shop.facilitator.verify(questionOf(message, record, visit.route.budget.settleMs));
  if (verdict.kind === 'valid') return undefined;
  if (verdict.kind === 'invalid') shop.limits.refused.spend(countedAs(visit));
  // The key is unknown here or was never sent, so a spent nonce paid for something else.
  if (verdict.kind === 'invalid' && saysNonceUsed(verdict.reason)) return { code: 'payment_already_used' };
  if (verdict.kind === 'invalid') return { code: 'payment_refused', reason: verdict.reason };
  return { code: 'facilitator_unavailable', retryAfter: retryLater };
}
