/**
 * A purchase with telling values, for the tests beside these files and for the conformance suite of the stores.
 * Two examples of different numbers are honest twins: one payer buys the same request with two authorizations.
 */
import type { Purchase } from './record.ts';
import type { LeaseTimes, TakeRequest } from './store.ts';

/** Noon of a day; every test clock starts here (Unix milliseconds). */
export const exampleNowMs = 1_800_000_000_000;
/** The defaults of design 9.17. */
export const exampleTimes: LeaseTimes = { leaseMs: 30_000, graceMs: 5_000 };

const asset = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913';
const payTo = '0x2222222222222222222222222222222222222222';

/** 64 hex digits that end in the number. */
export function exampleHex(n: number): string {
  return n.toString(16).padStart(64, '0');
}

/** A purchase of one cent; `n` gives it its own key, nonce and signature. */
export function examplePurchase(n: number, differing: Partial<Purchase> = {}): Purchase {
  return {
    key: exampleHex(n),
    network: 'eip155:8453',
    asset,
    payer: '0x1111111111111111111111111111111111111111',
    payTo,
    amount: 10_000n,
    nonce: exampleHex(n),
    fingerprint: exampleHex(0xf00d),
    signatureHash: exampleHex(n),
    requirement: {
      scheme: 'exact',
      network: 'eip155:8453',
      amount: 10_000n,
      asset,
      payTo,
      maxTimeoutSeconds: 300,
      extra: { name: 'USD Coin', version: '2' },
    },
    route: 'GET /weather',
    resourceUrl: 'https://shop.example/weather',
    flow: 'authorization',
    validAfterMs: 0,
    validBeforeMs: exampleNowMs + 300_000,
    maxAttempts: 2,
    ...differing,
  };
}

/** A take of such a purchase by one owner, under the default rules. */
export function exampleTake(purchase: Purchase, differing: Partial<TakeRequest> = {}): TakeRequest {
  return {
    purchase,
    owner: `owner of ${purchase.nonce.slice(-4)}`,
    times: exampleTimes,
    earlierPayment: 'serve',
    mayReplaceRequest: true,
    ...differing,
  };
}
