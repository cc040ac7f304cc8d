/**
 * From an answer to a money fact: the one place where "no", "silence" and "the chain says" become what a record
 * may believe (design section 4, facilitator reasons).
 */
import { type ClaimRecord, everSent, type MoneyFact } from '../claim/index.ts';
import type { AuthorizationFate } from './chain.ts';
import type { SettleAnswer } from './facilitator.ts';

/**
 * The fact that a facilitator's answer to send `n` is by itself; `sends` counts those of which bytes may have left. A
 * look-up may improve on `unknown`; nothing improves on silence within the same request (design 9.1).
 */
export function factOfAnswer(
  answer: SettleAnswer,
  send: {
    readonly n: number;
    readonly sends: number;
    readonly hold: { readonly key: string; readonly owner: string; readonly fence: number };
  },
): MoneyFact {
  const { n, sends, hold } = send;
  switch (answer.kind) {
    case 'settled':
      return { fact: 'settled', transaction: answer.transaction, amount: answer.amount, by: 'facilitator' };
    case 'refused':
      // Said about a re-send it proves nothing: an earlier send may be what moved the money.
      if (sends > 1) return { fact: 'unknown', n, reason: answer.reason };
      return { fact: 'refused', why: 'definite', reason: answer.reason, by: 'facilitator', n };
    case 'look_up':
      return unknownFact(n, answer.reason, answer.transaction);
    case 'pending':
      return unknownFact(n, 'settlement_pending', answer.transaction);
    case 'unsent':
      return { fact: 'unsent', n, hold };
    case 'lost':
      return unknownFact(n, answer.why);
    default:
      return answer satisfies never;
  }
}

function unknownFact(n: number, reason: string, transaction?: string): MoneyFact {
  return { fact: 'unknown', n, reason, ...(transaction === undefined ? {} : { transaction }) };
}

/**
 * The fact that the chain proves about a record, or undefined while it proves nothing. A use is ours only if the
 * record shows a send of ours; else somebody spent the authorization elsewhere.
 */
export function factOfFate(fate: AuthorizationFate, record: ClaimRecord): MoneyFact | undefined {
  switch (fate.kind) {
    case 'settled':
      // The record was read a while ago: whether it shows a send is decided where this is written.
      if (!everSent(record)) return { ...usedElsewhere(fate.transaction), ifNeverSent: true };
      return {
        fact: 'settled',
        transaction: fate.transaction,
        amount: record.amount,
        by: 'chain',
        block: fate.block,
        finality: fate.finality ?? 'latest',
      };
    case 'canceled':
      return {
        fact: 'refused',
        why: 'canceled',
        reason: 'authorization_canceled',
        by: 'chain',
        transaction: fate.transaction,
      };
    case 'expired':
      return { fact: 'refused', why: 'expired', reason: 'authorization_expired', by: 'chain' };
    case 'used_elsewhere':
      return usedElsewhere(fate.transaction);
    case 'shallow':
      return awaited(record, fate);
    case 'unused':
    case 'unread':
      return undefined;
    default:
      return fate satisfies never;
  }
}

/** On its way, and not as deep as is asked for: whoever waits is told which transaction to look at. */
function awaited(
  { money, sends }: ClaimRecord,
  { as, transaction }: AuthorizationFate & { readonly kind: 'shallow' },
): MoneyFact | undefined {
  if (as !== 'settled' || sends === 0 || money.state !== 'unknown') return undefined;
  return money.transaction === transaction
    ? undefined
    : unknownFact(money.n, 'settlement_pending', transaction);
}

function usedElsewhere(transaction: string): MoneyFact & { readonly fact: 'refused'; readonly by: 'chain' } {
  return {
    fact: 'refused',
    why: 'used_elsewhere',
    reason: 'authorization_used_elsewhere',
    by: 'chain',
    transaction,
  };
}
