/** What a buyer makes of a 402. */
import { decodePaymentRequired, encodePaymentSignature, type PaymentRequired } from '../../wire/index.ts';
import type { Shop } from './shop.ts';
import type { Received } from './wire.ts';

/** The terms of an answer, which must have some. */
export function requiredOf(answer: Received): PaymentRequired {
  const required = decodePaymentRequired(answer.header('payment-required') ?? '');
  if (!required.ok) throw new Error(`no terms in ${answer.status} ${answer.text}`);
  return required.value;
}

/** A buyer who asks a shop for the terms of a target once and pays by them ever after. */
export function payerOf(shop: Shop): (target: string) => Promise<string> {
  const terms = new Map<string, PaymentRequired>();
  return async (target) => {
    const required = terms.get(target) ?? requiredOf(await shop.ask({ target }));
    terms.set(target, required);
    return encodePaymentSignature(await shop.rig.pay(required));
  };
}
