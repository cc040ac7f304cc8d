/**
 * Scenes for the table of answers (design section 4), and an answer written as a row of it: the status, whether
 * PAYMENT-REQUIRED (PR), PAYMENT-RESPONSE (PS) with its word, and Retry-After (RA) are there, then code, money, retry.
 */
import assert from 'node:assert/strict';
import type { ClaimRecord, MoneyFact } from '../src/claim/index.ts';
import type { TransportResult } from '../src/settlement/index.ts';
import type { PaymentPayload } from '../src/wire/v2.ts';
import { answerOf, network, rest, type Seen, type SettleScript, said, transactionOf } from './rig.ts';
import type { ShopOptions, TestShop } from './shop.ts';

export type Flow = 'authorization' | 'upfront';
export type Scene = (open: (options?: ShopOptions) => TestShop) => Promise<Seen>;
export type Row = readonly [situation: string, scene: Scene, said: string | Readonly<Record<Flow, string>>];

/** What a row of the table says, of an answer. */
export function rowOf(seen: Seen): string {
  const words = new Map(
    (seen.header('counterfoil-payment') ?? '').split('; ').map((part) => {
      const [name = '', value = ''] = part.split('=');
      return [name, value];
    }),
  );
  const word = (name: 'code' | 'money' | 'retry'): string => seen.problem[name] || words.get(name) || '';
  const { required, response, problem } = seen;
  const parts = [
    String(seen.status),
    required === undefined ? '' : 'PR',
    response === undefined ? '' : `PS{${response.success ? 'success' : response.errorReason}}`,
    seen.header('retry-after') === undefined ? '' : 'RA',
    word('code'),
    word('money'),
    word('retry'),
    problem.liveUntil === undefined ? '' : 'liveUntil',
  ];
  return parts.filter((part) => part !== '').join(' ');
}

export const poor: TransportResult = said({
  success: false,
  errorReason: 'insufficient_funds',
  transaction: '',
  network,
});
export const pending: TransportResult = said({
  success: false,
  errorReason: 'settlement_pending',
  transaction: transactionOf(7),
  network,
});

/** Presents one payment, and then the same one again. */
export async function twice(shop: TestShop, payment: PaymentPayload): Promise<Seen> {
  await shop.ask({ payment });
  return shop.ask({ payment });
}

/** A payment whose settle went by this script, presented once. */
export async function settledBy(shop: TestShop, script: SettleScript): Promise<PaymentPayload> {
  const payment = await shop.payment();
  shop.rig.settles.push(script);
  await shop.ask({ payment });
  return payment;
}

/** Starts a payment whose settle does not come back, and lets another process be asked the same. */
export async function whileSending(shop: TestShop, target: string): Promise<Seen> {
  const payment = await shop.payment();
  const gate = Promise.withResolvers<void>();
  shop.rig.settles.push({ says: 'success', before: gate.promise });
  const first = shop.ask({ payment });
  await rest();
  const seen = await shop.ask({ payment, target, seller: shop.rig.another() });
  gate.resolve();
  await first;
  return seen;
}

export async function whileRunning(shop: TestShop, where: 'here' | 'elsewhere'): Promise<Seen> {
  const payment = await shop.payment();
  const gate = Promise.withResolvers<void>();
  shop.works(async () => {
    await gate.promise;
    return answerOf('sunny');
  });
  const first = shop.ask({ payment });
  await rest();
  const seen = await shop.ask({ payment, ...(where === 'here' ? {} : { seller: shop.rig.another() }) });
  gate.resolve();
  await first;
  return seen;
}

async function onlyRecord(shop: TestShop): Promise<ClaimRecord> {
  const [record] = await shop.rig.options.store.list({ limit: 1 });
  assert.ok(record);
  return record;
}

export async function afterFact(shop: TestShop, payment: PaymentPayload, fact: MoneyFact): Promise<Seen> {
  await shop.rig.options.store.recordMoney((await onlyRecord(shop)).key, fact);
  return shop.ask({ payment });
}

export async function forged(shop: TestShop, payment: PaymentPayload): Promise<PaymentPayload> {
  const signature = String((await shop.payment()).payload.signature);
  return { ...payment, payload: { ...payment.payload, signature } };
}

export async function signedAt(shop: TestShop, offsetMs: number): Promise<Seen> {
  return shop.ask({ payment: await shop.payment({ nowMs: shop.rig.world.nowMs() + offsetMs }) });
}

export async function verifiedAs(shop: TestShop, verdict: TransportResult): Promise<Seen> {
  const payment = await shop.payment();
  shop.rig.verifies.push(verdict);
  return shop.ask({ payment });
}

export function fails(shop: TestShop): void {
  shop.works(async () => answerOf('broken', 500));
}
