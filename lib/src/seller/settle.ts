/**
 * Sends the money's authorization, writes down what is known, and says what to do next. Unknown is written before
 * any 503 leaves, so that a newer payment for the same request meets it (the model's finding E).
 */
import { type ClaimRecord, type Hold, type MoneyAxis, moneyNow } from '../claim/index.ts';
import { type FacilitatorQuestion, factOfAnswer, type SettleAnswer } from '../settlement/index.ts';
import { writePaymentRequirements } from '../wire/required.ts';
import { writePaymentPayload } from '../wire/signature.ts';
import type { JsonObject, PaymentPayload } from '../wire/v2.ts';
import { awaitProof } from './assurance.ts';
import { moneyEvent } from './event.ts';
import { lookUp } from './lookup.ts';
import { recordPatiently } from './patience.ts';
import type { Shop } from './shop.ts';

/**
 * The payment as it is forwarded: the buyer's message around our own reading of the payload. What the buyer asked for,
 * in the query of its resource, is no business of a facilitator's (H13).
 */
export function forwarded(
  message: PaymentPayload,
  payload: JsonObject,
  record: Pick<ClaimRecord, 'requirement'>,
): JsonObject {
  const { resource } = message;
  const told = resource === undefined ? {} : { resource: { ...resource, url: withoutQuery(resource.url) } };
  return writePaymentPayload({ ...message, ...told, accepted: record.requirement, payload });
}

function withoutQuery(url: string): string {
  return url.replace(/[?#].*$/s, '');
}

/** The question that a facilitator is asked about a record. */
export function questionOf(
  payment: JsonObject,
  record: Pick<ClaimRecord, 'requirement' | 'payer'>,
  timeoutMs: number,
): FacilitatorQuestion {
  const { requirement, payer } = record;
  return {
    payment,
    requirement: writePaymentRequirements(requirement),
    expected: { network: requirement.network, amount: requirement.amount, payer },
    timeoutMs,
  };
}

/** The record after one send, as its money must be read now. */
export type Settled = { readonly record: ClaimRecord; readonly money: MoneyAxis; readonly unsent: boolean };

/**
 * Settles a send that has begun; the record's money says which one it is. Where the record asks for the chain's word, a
 * success is believed only once the chain shows it, within the time that the question gives a settlement.
 */
export async function settle(
  shop: Shop,
  hold: Hold,
  send: { readonly record: ClaimRecord; readonly question: FacilitatorQuestion },
): Promise<Settled> {
  const { record, question } = send;
  const n = record.money.state === 'sending' ? record.money.n : 1;
  shop.observe({ event: 'settle_sent', key: record.key, n });
  const untilMs = shop.world.monotonicMs() + question.timeoutMs;
  const answer = await shop.facilitator.settle(question);
  const fact = factOfAnswer(answer, { n, sends: record.sends, hold });
  const told = await recordPatiently(shop, record.key, { fact, untilMs });
  if (answer.kind !== 'unsent' && (told.record === undefined || told.record.money.state === 'none'))
    return forgotten(shop, record, answer);
  const now = told.record ?? record;
  if (answer.kind === 'settled' && now.money.state === 'sending' && now.assurance !== undefined) {
    const proof = await awaitProof(shop, now, { n, transaction: answer.transaction, untilMs });
    return { record: proof.record, money: moneyNow(proof.record, proof.nowMs), unsent: false };
  }
  shop.observe(moneyEvent(now.key, now.money));
  if (answer.kind !== 'look_up')
    return { record: now, money: moneyNow(now, told.nowMs), unsent: answer.kind === 'unsent' };
  return lookFirst(shop, now, told.nowMs);
}

/**
 * The store does not know of a send that it had acknowledged. Bytes have left all the same: what is known of them is
 * known here, and the buyer is told that, and never that nothing moved.
 */
function forgotten(shop: Shop, record: ClaimRecord, answer: SettleAnswer): Settled {
  shop.observe({ event: 'alarm', alarm: 'store_lost_a_send', key: record.key, detail: answer.kind });
  const { phase, n } = record.money.state === 'sending' ? record.money : ({ phase: 'pay', n: 1 } as const);
  const money: MoneyAxis =
    // Where the answer is in hand, it was paid for.
    answer.kind === 'settled' && record.assurance === undefined && record.work.state === 'done'
      ? { state: 'settled', transaction: answer.transaction, amount: answer.amount, rank: 'facilitator' }
      : { state: 'unknown', phase, n };
  return { record: { ...record, money }, money, unsent: false };
}

/** It said no in words that prove nothing, as "nonce used": the chain decides, if it can be read (S06). */
async function lookFirst(shop: Shop, record: ClaimRecord, nowMs: number): Promise<Settled> {
  const resolution = await lookUp(shop, record);
  if (resolution === 'late') return { record, money: moneyNow(record, nowMs), unsent: false };
  const after = resolution.record;
  return { record: after, money: moneyNow(after, resolution.nowMs), unsent: false };
}

/** At verify: the nonce is spent and nothing was ever sent by us. The chain's word is written down, if it has one. */
export async function spentBefore(shop: Shop, record: ClaimRecord): Promise<void> {
  const resolution = await lookUp(shop, record);
  if (resolution !== 'late' && resolution.record.money.state !== 'none') return;
  shop.observe({ event: 'alarm', alarm: 'settle_nonce_used_elsewhere', key: record.key });
}
