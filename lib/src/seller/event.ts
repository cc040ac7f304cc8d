/**
 * What a seller tells whoever watches it. No event carries a signature, a payload or a body; a `fault` is what the
 * handler itself threw, and may say what a log should not.
 */
import type { ClaimRecord, MoneyAxis } from '../claim/index.ts';
import type { ProblemCode } from '../problem.ts';

export type SellerEvent =
  | { readonly event: 'taken'; readonly key: string; readonly route: string; readonly attempt: number }
  | { readonly event: 'lost'; readonly key: string; readonly route: string }
  | { readonly event: 'settle_sent'; readonly key: string; readonly n: number }
  | { readonly event: 'money'; readonly key: string; readonly state: MoneyAxis['state'] }
  | {
      readonly event: 'work_failed';
      readonly key: string;
      readonly attempts: number;
      readonly paid: boolean;
      /** What the handler threw; no buyer is told. */
      readonly fault?: unknown;
    }
  | { readonly event: 'delivered'; readonly key: string; readonly how: 'complete' | 'cut' }
  /** Routes that ask for the same terms: a payment for one fits the others. */
  | { readonly event: 'siblings'; readonly routes: readonly string[] }
  /** Parts of what a route says of itself, or of an answer's header, that were left out to keep to a budget. */
  | { readonly event: 'shortened'; readonly route: string; readonly fields: readonly string[] }
  | { readonly event: 'refused'; readonly route: string; readonly code: ProblemCode }
  | { readonly event: 'alarm'; readonly alarm: Alarm; readonly key?: string; readonly detail?: string };

/** What a person should look at. */
export type Alarm =
  /** An authorization was spent and the record shows no send of ours: a second store, or the payer itself. */
  | 'settle_nonce_used_elsewhere'
  /** The chain contradicts a facilitator: a transfer that it had refused, or none where it had settled. */
  | 'evidence_overridden'
  /** The chain's time and this machine's differ, so windows are judged wrongly (T05). */
  | 'clock_skew'
  | 'facilitator_uncovered'
  | 'facilitator_unavailable'
  | 'store_unavailable'
  | 'price_failed'
  /** What a route declares does not fit into a header that proxies let through. */
  | 'terms_too_large'
  /** A paid answer whose fields, even shortened, are more than proxies let through. */
  | 'headers_too_large'
  | 'kept_answer_unreadable'
  | 'internal_error';

/** The alarms that a change of money deserves. */
export function alarmOf(before: ClaimRecord, after: ClaimRecord): Alarm | undefined {
  if (after.money.state === 'refused' && after.money.why === 'used_elsewhere')
    return 'settle_nonce_used_elsewhere';
  if (before.money.state === 'refused' && after.money.state === 'settled') return 'evidence_overridden';
  if (before.money.state === 'settled' && after.money.state === 'refused') return 'evidence_overridden';
  return undefined;
}
