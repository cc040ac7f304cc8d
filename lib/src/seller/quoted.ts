/**
 * A dynamic price that holds for a while (B10): each entry of the 402 carries when its quote ends and an authenticator
 * over the entry, the route and the request. A payment that echoes it is served at the price that was signed, whatever
 * the price function says by then; another request, route or amount makes it worthless.
 */
import { canonicalJson } from '../crypto/jcs.ts';
import { macOf, sameMac } from '../crypto/mac.ts';
import { type Outcome, refuse, succeed } from '../problem.ts';
import { decodeHex, encodeHex } from '../wire/hex.ts';
import { writePaymentRequirements } from '../wire/required.ts';
import type { PaymentRequirements } from '../wire/v2.ts';

/** Where a quote travels: stock clients echo `extra` with the entry that they pay. */
const member = 'quote';

export type QuoteScope = {
  readonly key: Uint8Array;
  readonly route: string;
  /** Everything else that the seller may change at a deploy: who is paid, where, and in which flow. */
  readonly terms: string;
  /** The request's fingerprint: a price that was given for one request is none for another. */
  readonly request: string;
};

/** The entries with a quote that ends at `untilMs`. */
export function sealQuote(
  requirements: readonly PaymentRequirements[],
  scope: QuoteScope,
  untilMs: number,
): readonly PaymentRequirements[] {
  const until = Math.ceil(untilMs / 1000);
  return requirements.map((requirement) => {
    const mac = authenticate(requirement, scope, until);
    if (mac === undefined) throw new TypeError('Terms are plain JSON.');
    const quote = `${until}.${encodeHex(mac).slice(2)}`;
    return { ...requirement, extra: { ...requirement.extra, [member]: quote } };
  });
}

/** Our own entry behind an accepted one; `quote_expired` when its time is over, else what a foreign entry gets. */
export function openQuote(
  accepted: PaymentRequirements,
  scope: QuoteScope,
  nowMs: number,
): Outcome<PaymentRequirements> {
  const { [member]: quote, ...extra } = accepted.extra;
  const parts = typeof quote === 'string' ? /^([1-9][0-9]{8,11})\.([0-9a-f]{32})$/.exec(quote) : null;
  const until = Number(parts?.[1]);
  const mac = decodeHex(`0x${parts?.[2] ?? ''}`);
  const ours = parts === null ? undefined : authenticate({ ...accepted, extra }, scope, until);
  if (mac === undefined || ours === undefined || !sameMac(mac, ours)) {
    return refuse('requirement_mismatch', { fields: [`extra.${member}`] });
  }
  return nowMs < until * 1000 ? succeed(accepted) : refuse('quote_expired');
}

/** Undefined for terms that have no canonical text: a buyer may write such ones, we do not. */
function authenticate(
  requirement: PaymentRequirements,
  scope: QuoteScope,
  until: number,
): Uint8Array | undefined {
  const { route, request, terms } = scope;
  const said = { request, requirement: writePaymentRequirements(requirement), route, terms, until };
  const text = canonicalJson(said);
  return text === undefined ? undefined : macOf(scope.key, text);
}
