/**
 * What a seller tells whoever watches it. No event carries a signature, a payload or a body; a `fault` is what the
 * handler itself threw, and may say what a log should not.
 */
import type { ClaimRecord, MoneyAxis } from '../claim/index.ts';
import type { ProblemCode } from '../problem.ts';
import { type Basis, basisOf, type ReconcileSummary } from '../settlement/index.ts';
import type { BreakerState } from './limits/breaker.ts';

export type SellerEvent =
  | { readonly event: 'taken'; readonly key: string; readonly route: string; readonly attempt: number }
  | { readonly event: 'lost'; readonly key: string; readonly route: string }
  | { readonly event: 'settle_sent'; readonly key: string; readonly n: number }
  | {
      readonly event: 'money';
      readonly key: string;
      readonly state: MoneyAxis['state'];
      /** On whose word, where it moved or was refused; of the chain, how deep it was seen. */
      readonly basis?: Basis;
    }
  /** The background has looked at something; see `reconcile` of the settlement folder. */
  | { readonly event: 'reconciled'; readonly summary: ReconcileSummary }
  | {
      readonly event: 'work_failed';
      readonly key: string;
      readonly attempts: number;
      readonly paid: boolean;
      /** What the handler threw; no buyer is told. */
      readonly fault?: unknown;
    }
  /** Work ran, and its money was refused or canceled before it moved (S01 to S03). */
  | { readonly event: 'run_unpaid'; readonly key: string; readonly route: string; readonly payer: string }
  /** While `open` no new payment starts any work; `half_open` lets one at a time find out. */
  | { readonly event: 'breaker'; readonly state: BreakerState }
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
  /** A facilitator says that it settled, and the chain does not show it: it lies, or the chain is slow (S07, F01). */
  | 'success_without_transfer'
  /** A settlement is not on the chain any more, or never was; the same bytes may still land (S05, F01). */
  | 'settlement_missing'
  /** The chain has undone a settlement for good: what was bought with it was not paid for (S05). */
  | 'settlement_reversed'
  /** The chain's time and this machine's differ, so windows are judged wrongly (T05). */
  | 'clock_skew'
  | 'facilitator_uncovered'
  | 'facilitator_unavailable'
  | 'store_unavailable'
  /** A store does not know any more that it began a send: it lost what it had acknowledged, as in a failover. */
  | 'store_lost_a_send'
  | 'price_failed'
  /** What a route declares does not fit into a header that proxies let through. */
  | 'terms_too_large'
  /** A paid answer whose fields, even shortened, are more than proxies let through. */
  | 'headers_too_large'
  | 'kept_answer_unreadable'
  | 'internal_error';

/** What a record says of its money now, and on whose word. */
export function moneyEvent(key: string, money: MoneyAxis): SellerEvent {
  const basis = basisOf(money);
  return { event: 'money', key, state: money.state, ...(basis === undefined ? {} : { basis }) };
}

/** The alarms that a change of money deserves. */
export function alarmOf(before: ClaimRecord, after: ClaimRecord): Alarm | undefined {
  if (after.money.state === 'refused' && after.money.why === 'used_elsewhere')
    return 'settle_nonce_used_elsewhere';
  if (before.money.state === 'refused' && after.money.state === 'settled') return 'evidence_overridden';
  if (before.money.state === 'settled' && after.money.state === 'refused') return 'evidence_overridden';
  if (before.money.state === 'settled' && after.money.state === 'reversed') return 'settlement_reversed';
  const asserted = before.sendLog.some(({ said, by }) => said === 'settled' && by === 'facilitator');
  if (asserted && before.money.state !== 'refused' && after.money.state === 'refused')
    return 'success_without_transfer';
  return undefined;
}
