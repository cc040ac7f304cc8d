/**
 * A payment that is presented again while its settlement is unknown, or whose answer is kept and was never sent for:
 * the chain is asked first, and only the identical octets are ever sent again, a bounded number of times.
 */
import { type ClaimRecord, moneyNow } from '../claim/index.ts';
import { openRecord } from '../crypto/seal.ts';
import { isJsonObject, parseJson } from '../wire/json.ts';
import type { JsonObject } from '../wire/v2.ts';
import { answerEarlierUnknown, answerFromOlder } from './earlier.ts';
import { inProgress, unsettled, type Won } from './flow.ts';
import { keepLease } from './lease.ts';
import { clearsTheWay, lookUp, maxRounds, startBlock } from './lookup.ts';
import type { Delivery } from './message.ts';
import { begin } from './patience.ts';
import { redeliver } from './redeliver.ts';
import { refusalTo, retryLater, unsettledResponse } from './reply.ts';
import { questionOf, settle } from './settle.ts';
import type { Shop } from './shop.ts';
import { workPaid } from './upfront.ts';
import { sameSignature, type Visit } from './visit.ts';

/** One send and two identical ones: more would hammer a facilitator for a payment that an operator must look at. */
export const maxSends = 3;
/** A stored payload is a header's worth of JSON. */
const maxPayloadLength = 64 * 1024;

export type Doubt =
  | { readonly kind: 'resolved'; readonly record: ClaimRecord; readonly nowMs: number }
  | { readonly kind: 'answered'; readonly delivery: Delivery };

/** Looks the payment up; what the chain resolves is answered from the record, alive and unused is sent again. */
export async function answerDoubt<Parsed>(visit: Visit<Parsed>, record: ClaimRecord): Promise<Doubt> {
  const resolution = await lookUp(visit.shop, record);
  if (resolution === 'late') return answered(stillUnknown(visit, record));
  const { record: now, nowMs, fate } = resolution;
  if (moneyNow(now, nowMs).state !== 'unknown') return { kind: 'resolved', record: now, nowMs };
  // What an operator has closed was dealt with outside: nothing of it is ever sent again.
  const open = now.closed === undefined && alive(visit, now, nowMs);
  const resend = fate.kind === 'unused' && sameSignature(visit, now) && open;
  return answered(resend ? sendAgain(visit, now) : stillUnknown(visit, now));
}

async function answered(delivery: Promise<Delivery>): Promise<Doubt> {
  return { kind: 'answered', delivery: await delivery };
}

/** The first send of an answer that is kept: only a re-presentation sends it (restart table, done and none). */
export async function sendKept<Parsed>(visit: Visit<Parsed>, record: ClaimRecord): Promise<Delivery> {
  const { store, world } = visit.shop;
  if (alive(visit, record, world.nowMs())) return sendAgain(visit, record);
  const told = await store.recordMoney(record.key, { fact: 'retired' });
  if (!told.changed) return inProgress(visit);
  // Its last seconds are left out here, and the buyer itself could still spend it.
  return refusalTo(visit, {
    code: 'authorization_expired',
    liveUntil: Math.floor(record.validBeforeMs / 1000),
  });
}

/** The octets could still move money, with time for the chain to take them. */
function alive<Parsed>(visit: Visit<Parsed>, record: ClaimRecord, nowMs: number): boolean {
  return record.validBeforeMs > nowMs + visit.route.budget.skewMs;
}

async function sendAgain<Parsed>(
  visit: Visit<Parsed>,
  record: ClaimRecord,
  rounds: number = maxRounds,
): Promise<Delivery> {
  const { shop, route } = visit;
  const payment = await storedPayload(shop, record.key);
  if (payment === undefined) return stillUnknown(visit, record);
  const block = await startBlock(shop, record);
  const askedAtMs = shop.world.monotonicMs();
  const send = {
    owner: visit.owner,
    leaseMs: Math.max(shop.lease.leaseMs, route.budget.settleMs + shop.lease.marginMs),
    maxSends,
    earlierPayment: route.earlierPayment,
    ...(block === undefined ? {} : { startBlock: block }),
  };
  const begun = await begin(shop, { key: record.key, owner: visit.owner }, () =>
    shop.store.beginSend(record.key, send),
  );
  switch (begun.kind) {
    case 'begun':
      return conclude(visit, { ...begun, askedAtMs }, payment);
    case 'earlier_unknown': {
      const cleared = rounds > 1 && (await clearsTheWay(shop, begun.older));
      return cleared ? sendAgain(visit, record, rounds - 1) : answerEarlierUnknown(visit);
    }
    case 'superseded':
      return answerFromOlder(visit, begun.record, begun.older);
    case 'alias_conflict':
      return refusalTo(visit, { code: 'payment_id_conflict' });
    case 'known': {
      const money = begun.record === undefined ? undefined : moneyNow(begun.record, begun.nowMs);
      return money?.state === 'sending' ? inProgress(visit) : stillUnknown(visit, begun.record ?? record);
    }
    default:
      return begun satisfies never;
  }
}

async function conclude<Parsed>(visit: Visit<Parsed>, won: Won, payment: JsonObject): Promise<Delivery> {
  const { shop, route } = visit;
  const { hold, record, askedAtMs } = won;
  const lease = keepLease(shop, hold, askedAtMs);
  try {
    const question = questionOf(payment, record, route.budget.settleMs);
    const settled = await settle(shop, hold, { record, question });
    if (settled.money.state !== 'settled') return await unsettled(visit, settled);
    if (settled.record.work.state === 'done') return await redeliver(visit, settled.record);
    lease.stop();
    return await workPaid(visit, hold, settled.record);
  } finally {
    lease.stop();
  }
}

/** What was sent the first time, to be sent again as it was. */
export async function storedPayload(shop: Shop, key: string): Promise<JsonObject | undefined> {
  const sealed = await shop.store.readPayload(key);
  if (sealed === undefined) return undefined;
  const plain = openRecord({ sealed, storeKey: shop.storeKey, bound: key }, shop.world);
  const parsed = plain === undefined ? undefined : parseJson(plain, { maxLength: maxPayloadLength });
  return parsed?.ok === true && isJsonObject(parsed.value) ? parsed.value : undefined;
}

async function stillUnknown<Parsed>(visit: Visit<Parsed>, record: ClaimRecord): Promise<Delivery> {
  const { money } = record;
  const known = money.state === 'unknown' && sameSignature(visit, record) ? money.transaction : undefined;
  const response =
    known === undefined
      ? undefined
      : unsettledResponse(record.network, 'settlement_pending', { payer: record.payer, transaction: known });
  return refusalTo(visit, { code: 'settlement_unknown', retryAfter: retryLater }, response);
}
