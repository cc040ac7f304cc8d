/**
 * A newer payment of the same buyer for the same request, while an older one is unknown or was never delivered
 * (design 9.1, 9.5 to 9.7): the newer is not sent, and gets the older one's answer.
 */
import type { ClaimRecord } from '../claim/index.ts';
import { moneyMoved, moneyNow } from '../claim/index.ts';
import { paidAnswer, statusHeader } from './answer.ts';
import type { Delivery } from './message.ts';
import { givesAnswer, openKept } from './redeliver.ts';
import { noted, refusalTo, retryLater, settledResponse } from './reply.ts';
import { claimOwed } from './upfront.ts';
import { sameSignature, type Visit } from './visit.ts';

/** The older payment is still in doubt; this one was not sent. */
export async function answerEarlierUnknown<Parsed>(visit: Visit<Parsed>): Promise<Delivery> {
  return refusalTo(visit, { code: 'earlier_payment_unresolved', retryAfter: retryLater });
}

/** Answers a superseded payment from the older one, for ever. */
export async function answerFromOlder<Parsed>(
  visit: Visit<Parsed>,
  newer: ClaimRecord,
  older: ClaimRecord,
): Promise<Delivery> {
  const { shop } = visit;
  if (newer.fingerprint !== visit.fingerprint) return answerUnused(visit, newer, ['request']);
  // The older one's answer belongs to its buyer; whoever knows a nonce of that buyer need not be it.
  if (!sameSignature(visit, newer)) return answerUnused(visit, newer, ['signature']);
  const found = await shop.store.find(older.key);
  const record = found.record ?? older;
  const money = moneyNow(record, found.nowMs);
  // A person dealt with the older one, so that it has nothing to give; this one was never sent, and a new one is free.
  const given = moneyMoved(money) && record.work.state === 'done';
  if (record.closed !== undefined && !given) return answerUnused(visit, newer);
  if (money.state === 'unknown' || money.state === 'sending') return answerEarlierUnknown(visit);
  if (!moneyMoved(money))
    return refusalTo(visit, {
      code: 'settlement_refused',
      reason: 'earlier_payment_dead',
      ...unmoved(newer),
    });
  if (record.work.state === 'done') return deliverOlder(visit, newer, record);
  if (record.flow === 'authorization' || record.work.state === 'exhausted')
    return owedToNewer(visit, newer, record);
  return marked(await claimOwed(visit, record), newer);
}

/** This payment was never sent and never will be, since an older one stood in for it; that one has nothing to give. */
export function answerUnused<Parsed>(
  visit: Visit<Parsed>,
  newer: ClaimRecord,
  fields?: readonly string[],
): Promise<Delivery> {
  const differing = fields === undefined ? {} : { fields };
  return refusalTo(visit, { code: 'payment_already_used', ...differing, ...unmoved(newer) });
}

/** Whatever the older payment's work answers, the newer one was not sent (design 9.7). */
function marked(delivery: Delivery, newer: ClaimRecord): Delivery {
  const { answer } = delivery;
  const headers = answer.headers.filter(([name]) => name !== statusHeader);
  return { ...delivery, answer: { ...answer, headers: [...headers, [statusHeader, unusedText(newer)]] } };
}

async function deliverOlder<Parsed>(
  visit: Visit<Parsed>,
  newer: ClaimRecord,
  older: ClaimRecord,
): Promise<Delivery> {
  const answer = givesAnswer(visit, older) ? await openKept(visit, older) : undefined;
  if (answer === undefined && older.deliveredAtMs === undefined) return owedToNewer(visit, newer, older);
  const response = settledResponse(older);
  if (answer === undefined)
    return refusalTo(visit, { code: 'payment_already_used', ...unmoved(newer) }, response);
  const envelope = { response, status: unusedText(newer) };
  return noted(visit, paidAnswer(answer, envelope), [older.key]);
}

function owedToNewer<Parsed>(
  visit: Visit<Parsed>,
  newer: ClaimRecord,
  older: ClaimRecord,
): Promise<Delivery> {
  return refusalTo(visit, { code: 'work_owed', ...unmoved(newer) }, settledResponse(older));
}

/** The presented payment was not sent; until when its octets could still be, by whoever holds them. */
function unusedText(newer: ClaimRecord): string {
  return `code=served_by_earlier_payment; money=unmoved; live-until=${Math.floor(newer.validBeforeMs / 1000)}`;
}

/** What a refusal says of the presented payment, whatever became of the older one. */
function unmoved(newer: ClaimRecord): { readonly money: 'unmoved'; readonly liveUntil: number } {
  return { money: 'unmoved', liveUntil: Math.floor(newer.validBeforeMs / 1000) };
}
