/** A kept answer, once more the same, for a payment that has settled (design section 3 and 9.3). */
import type { ClaimRecord } from '../claim/index.ts';
import { openWithSignature, openWithStoreKey } from '../crypto/seal.ts';
import { paidAnswer } from './answer.ts';
import { decodeAnswer } from './kept.ts';
import type { Answer, Delivery } from './message.ts';
import { noted, refusalTo, settledResponse } from './reply.ts';
import type { Visit } from './visit.ts';

/** The same answer to the same signature, without any charge; or only its status, where the route says so. */
export async function redeliver<Parsed>(visit: Visit<Parsed>, record: ClaimRecord): Promise<Delivery> {
  const response = settledResponse(record);
  const answer = givesAnswer(visit, record) ? await openKept(visit, record) : undefined;
  if (answer !== undefined) return noted(visit, paidAnswer(answer, { response }), [record.key]);
  if (record.deliveredAtMs === undefined) return refusalTo(visit, { code: 'work_owed' }, response);
  const said = visit.route.redeliver === 'off' ? undefined : response;
  return refusalTo(visit, { code: 'payment_already_used' }, said);
}

/** A route may keep an answer to itself once it was written out whole; until then it is owed (S4). */
export function givesAnswer<Parsed>(visit: Visit<Parsed>, record: ClaimRecord): boolean {
  return visit.route.redeliver === 'answer' || record.deliveredAtMs === undefined;
}

/**
 * The kept answer: read with the presented signature, or with the seller's own key where another payment of the
 * same buyer made it (design 9.3).
 */
export async function openKept<Parsed>(
  visit: Visit<Parsed>,
  record: ClaimRecord,
): Promise<Answer | undefined> {
  const { shop, payment } = visit;
  const sealed = await shop.store.readAnswer(record.key);
  if (sealed === undefined) return undefined;
  const bound = record.key;
  const bytes =
    openWithSignature({ sealed, signature: payment.signature, bound }, shop.world) ??
    openWithStoreKey({ sealed, storeKey: shop.storeKey, bound }, shop.world);
  if (bytes === undefined) shop.observe({ event: 'alarm', alarm: 'kept_answer_unreadable', key: bound });
  return bytes === undefined ? undefined : decodeAnswer(bytes);
}
