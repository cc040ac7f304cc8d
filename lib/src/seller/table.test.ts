/** The table of answers (design section 4), row by row, as a buyer meets it in both flows. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf, createRig, network, said, transactionOf } from '../../test/rig.ts';
import { openTestShop } from '../../test/shop.ts';
import {
  afterFact,
  fails,
  forged,
  pending,
  poor,
  type Row,
  rowOf,
  settledBy,
  signedAt,
  twice,
  verifiedAs,
  whileRunning,
  whileSending,
} from '../../test/table.ts';
import { createMemoryStore } from '../stores/memory.ts';

const before: readonly Row[] = [
  ['no payment', async (open) => open().ask(), '402 PR payment_required unmoved new_payment'],
  [
    'a broken header',
    async (open) => open().ask({ payment: 'e30=' }),
    '400 payment_malformed unmoved new_payment',
  ],
  [
    'two headers',
    async (open) => open().ask({ payment: 'e30=', headers: [['payment-signature', 'e30=']] }),
    '400 duplicate_payment_header unknown same_payment',
  ],
  [
    'version 1',
    async (open) => open().ask({ headers: [['x-payment', 'e30=']] }),
    '400 payment_version_unsupported unmoved new_payment',
  ],
  [
    'a header beyond 12 KiB',
    async (open) => open().ask({ payment: 'A'.repeat(13_000) }),
    '431 header_too_large unmoved never',
  ],
  [
    'a body too large',
    async (open) => open().ask({ body: { kind: 'too_large' } }),
    '413 body_too_large unmoved never',
  ],
  [
    'a body too slow',
    async (open) => open().ask({ body: { kind: 'too_slow' } }),
    '408 body_too_slow unmoved same_payment',
  ],
  [
    'HEAD with a payment',
    async (open) => {
      const shop = open();
      return shop.ask({ method: 'HEAD', payment: await shop.payment() });
    },
    '405 method_not_allowed unknown same_payment',
  ],
  [
    '/supported not known at boot, unpaid too',
    async (open) => {
      const facilitator = createRig().options.facilitator;
      const down = { ...facilitator, supported: async () => ({ kind: 'unavailable', why: 'down' }) as const };
      return open({ seller: { facilitator: down } }).ask();
    },
    '503 RA seller_not_ready unknown same_payment',
  ],
];

const known: readonly Row[] = [
  [
    'running in this process',
    (open) => whileRunning(open(), 'here'),
    '402 PS{payment_in_progress} RA payment_in_progress unknown same_payment',
  ],
  [
    'running in another process',
    (open) => whileRunning(open(), 'elsewhere'),
    '402 PS{payment_in_progress} RA payment_in_progress unknown same_payment',
  ],
  [
    'running, where the route says 409',
    (open) => whileRunning(open({ route: { inProgressStatus: 409 } }), 'elsewhere'),
    '409 PS{payment_in_progress} RA payment_in_progress unknown same_payment',
  ],
  [
    'sending',
    (open) => whileSending(open(), '/weather'),
    '402 PS{payment_in_progress} RA payment_in_progress unknown same_payment',
  ],
  [
    'sending, other request',
    (open) => whileSending(open(), '/premium'),
    '409 payment_already_used unknown never',
  ],
  [
    'unknown',
    async (open) => {
      const shop = open({ seller: { chain: 'none' } });
      return shop.ask({ payment: await settledBy(shop, { lands: true, says: 'lost' }) });
    },
    '503 RA settlement_unknown unknown same_payment',
  ],
  [
    'unknown, and a transaction was named',
    async (open) => {
      const shop = open({ seller: { chain: 'none' } });
      return shop.ask({ payment: await settledBy(shop, { says: pending }) });
    },
    '503 PS{settlement_pending} RA settlement_unknown unknown same_payment',
  ],
  [
    'unknown, other signature',
    async (open) => {
      const shop = open({ seller: { chain: 'none' } });
      const payment = await settledBy(shop, { says: pending });
      return shop.ask({ payment: await forged(shop, payment) });
    },
    '503 RA settlement_unknown unknown same_payment',
  ],
  [
    'unknown, other request',
    async (open) => {
      const shop = open();
      const payment = await settledBy(shop, { lands: true, says: 'lost' });
      return shop.ask({ payment, target: '/premium' });
    },
    '409 payment_already_used unknown never',
  ],
  [
    'settled, same request',
    async (open) => {
      const shop = open();
      return twice(shop, await shop.payment());
    },
    '200 PS{success}',
  ],
  [
    'settled, its answer gone',
    async (open) => {
      const shop = open({ route: { redeliver: 'status' } });
      return twice(shop, await shop.payment());
    },
    '409 PS{success} payment_already_used moved never',
  ],
  [
    'settled, other request',
    async (open) => {
      const shop = open();
      const payment = await settledBy(shop, { says: 'success' });
      return shop.ask({ payment, target: '/premium' });
    },
    '409 PS{success} payment_already_used moved never',
  ],
  [
    'settled, other signature',
    async (open) => {
      const shop = open();
      const payment = await settledBy(shop, { says: 'success' });
      return shop.ask({ payment: await forged(shop, payment) });
    },
    '409 payment_already_used moved never',
  ],
  [
    'settled, other request and other signature',
    async (open) => {
      const shop = open();
      const payment = await settledBy(shop, { says: 'success' });
      return shop.ask({ payment: await forged(shop, payment), target: '/premium' });
    },
    '409 payment_already_used moved never',
  ],
  [
    'refused',
    async (open) => {
      const shop = open();
      return shop.ask({ payment: await settledBy(shop, { says: poor }) });
    },
    '402 PR PS{insufficient_funds} settlement_refused unmoved new_payment liveUntil',
  ],
  [
    'refused, other request',
    async (open) => {
      const shop = open();
      const payment = await settledBy(shop, { says: poor });
      return shop.ask({ payment, target: '/premium' });
    },
    '409 payment_already_used unmoved never',
  ],
  [
    'voided',
    async (open) => {
      const shop = open({ seller: { chain: 'none' } });
      const payment = await settledBy(shop, { says: 'lost' });
      return afterFact(shop, payment, { fact: 'voided', transaction: transactionOf(7), by: 'chain' });
    },
    '402 PR PS{settlement_voided} settlement_refused unmoved new_payment',
  ],
  [
    'reversed',
    async (open) => {
      const shop = open();
      const payment = await settledBy(shop, { says: 'success' });
      return afterFact(shop, payment, { fact: 'reversed', transaction: transactionOf(1) });
    },
    '409 PS{settlement_reversed} settlement_reversed unmoved new_payment',
  ],
  [
    'every attempt failed',
    async (open) => {
      const shop = open({ route: { attempts: 1 } });
      fails(shop);
      return twice(shop, await shop.payment());
    },
    {
      authorization: '402 PR attempts_exhausted unmoved new_payment',
      upfront: '502 PS{success} work_owed moved later',
    },
  ],
];

const earlier: readonly Row[] = [
  [
    'an earlier payment unknown',
    async (open) => {
      const shop = open();
      await settledBy(shop, { says: 'lost' });
      return shop.ask({ payment: await shop.payment() });
    },
    '503 RA earlier_payment_unresolved unmoved same_payment',
  ],
  [
    'an earlier payment settled and undelivered',
    async (open) => {
      const shop = open();
      await settledBy(shop, { lands: true, says: 'lost' });
      return shop.ask({ payment: await shop.payment() });
    },
    '200 PS{success} served_by_earlier_payment unmoved',
  ],
];

const judged: readonly Row[] = [
  [
    'other terms',
    async (open) => {
      const shop = open();
      const payment = await shop.payment();
      return shop.ask({ payment: { ...payment, accepted: { ...payment.accepted, amount: 1n } } });
    },
    '402 PR requirement_mismatch unmoved new_payment',
  ],
  [
    'another scheme',
    async (open) => {
      const shop = open();
      const payment = await shop.payment();
      return shop.ask({ payment: { ...payment, accepted: { ...payment.accepted, scheme: 'upto' } } });
    },
    '402 PR scheme_unsupported unmoved new_payment',
  ],
  [
    'a signature that nobody made',
    async (open) => {
      const shop = open();
      const payment = await shop.payment();
      const signature = `0x${'f'.repeat(128)}1b`;
      return shop.ask({ payment: { ...payment, payload: { ...payment.payload, signature } } });
    },
    '402 PR signature_invalid unmoved new_payment',
  ],
  [
    'an authorization with too little life',
    (open) => signedAt(open(), -200_000),
    {
      authorization: '402 PR authorization_window_too_short unmoved new_payment liveUntil',
      upfront: '200 PS{success}',
    },
  ],
  [
    'an expired one',
    (open) => signedAt(open(), -400_000),
    '402 PR authorization_expired unmoved new_payment',
  ],
  [
    'one that lives too long',
    (open) => signedAt(open(), 31_000),
    '402 PR authorization_window_too_long unmoved new_payment liveUntil',
  ],
  [
    'one that is older than our memory',
    (open) => signedAt(open(), -8_000_000),
    '402 PS{invalid_exact_evm_payload_authorization_valid_before} authorization_expired unknown later',
  ],
  [
    'no price for this request',
    async (open) => {
      const shop = open({
        route: {
          price: () => {
            throw new Error('none');
          },
        },
      });
      return shop.ask();
    },
    '400 price_unavailable unmoved never',
  ],
];

const carriedOut: readonly Row[] = [
  [
    'settle refused, for a definite reason',
    async (open) => {
      const shop = open();
      shop.rig.settles.push({ says: poor });
      return shop.ask({ payment: await shop.payment() });
    },
    '402 PR PS{insufficient_funds} settlement_refused unmoved new_payment liveUntil',
  ],
  [
    'settle refused in words that prove nothing',
    async (open) => {
      const shop = open();
      const words = { success: false, errorReason: 'unexpected_settle_error', transaction: '', network };
      shop.rig.settles.push({ says: said(words) });
      return shop.ask({ payment: await shop.payment() });
    },
    '503 RA settlement_unknown unknown same_payment',
  ],
  [
    'settle before any byte was sent',
    async (open) => {
      const shop = open();
      shop.rig.settles.push({ says: 'unsent' });
      return shop.ask({ payment: await shop.payment() });
    },
    '503 RA facilitator_unavailable unmoved same_payment',
  ],
  [
    'settle failed after bytes were sent',
    async (open) => {
      const shop = open();
      shop.rig.settles.push({ says: 'lost' });
      return shop.ask({ payment: await shop.payment() });
    },
    '503 RA settlement_unknown unknown same_payment',
  ],
  [
    'the store down',
    async (open) => {
      const shop = open();
      const down = () => Promise.reject(new Error('down'));
      const seller = shop.rig.another({ store: { ...shop.rig.options.store, find: down } });
      return shop.ask({ payment: await shop.payment(), seller });
    },
    '503 RA store_unavailable unknown same_payment',
  ],
  [
    'the store full',
    async (open) => {
      const store = createMemoryStore({ world: createRig().world, capacity: 1 });
      const shop = open({ seller: { store } });
      await shop.ask({ payment: await shop.payment() });
      return shop.ask({ payment: await shop.payment() });
    },
    '503 RA store_full unmoved same_payment',
  ],
  [
    'the handler said 500',
    async (open) => {
      const shop = open();
      fails(shop);
      return shop.ask({ payment: await shop.payment() });
    },
    {
      authorization: '500 work_failed unmoved same_payment',
      upfront: '500 PS{success} work_owed moved same_payment',
    },
  ],
  [
    'the handler said 500 for the last time',
    async (open) => {
      const shop = open({ route: { attempts: 1 } });
      fails(shop);
      return shop.ask({ payment: await shop.payment() });
    },
    {
      authorization: '500 work_failed unmoved new_payment',
      upfront: '500 PS{success} work_owed moved later',
    },
  ],
  [
    'the handler threw',
    async (open) => {
      const shop = open();
      shop.works(() => Promise.reject(new Error('inside')));
      return shop.ask({ payment: await shop.payment() });
    },
    {
      authorization: '500 work_failed unmoved same_payment',
      upfront: '502 PS{success} work_owed moved same_payment',
    },
  ],
  [
    'an answer over maxAnswerBytes',
    async (open) => {
      const shop = open({ route: { maxAnswerBytes: 3 } });
      return shop.ask({ payment: await shop.payment() });
    },
    {
      authorization: '500 answer_too_large unmoved never',
      upfront: '500 PS{success} answer_too_large moved same_payment',
    },
  ],
  [
    'a redirect',
    async (open) => {
      const shop = open();
      shop.works(async () => answerOf('', 302));
      return shop.ask({ payment: await shop.payment() });
    },
    {
      authorization: '502 redirect_not_sold unmoved never',
      upfront: '502 PS{success} work_owed moved same_payment',
    },
  ],
];

const verified: readonly Row[] = [
  [
    'verify refused',
    (open) => verifiedAs(open(), said({ isValid: false, invalidReason: 'insufficient_funds' })),
    '402 PR payment_refused unmoved new_payment',
  ],
  [
    'verify says that the nonce is used',
    (open) =>
      verifiedAs(open(), said({ isValid: false, invalidReason: 'invalid_exact_evm_nonce_already_used' })),
    '409 payment_already_used moved never',
  ],
  [
    'the facilitator unreachable at verify',
    (open) => verifiedAs(open(), { kind: 'unsent' }),
    '503 RA facilitator_unavailable unmoved same_payment',
  ],
];

for (const flow of ['authorization', 'upfront'] as const) {
  const rows = [...before, ...known, ...earlier, ...judged, ...carriedOut];
  for (const [situation, scene, expected] of flow === 'authorization' ? [...rows, ...verified] : rows) {
    test(`the answers table, ${flow}: ${situation}`, async () => {
      const seen = await scene((options = {}) =>
        openTestShop({ ...options, route: { ...options.route, flow } }),
      );
      assert.equal(rowOf(seen), typeof expected === 'string' ? expected : expected[flow]);
      const invites = seen.status === 402 && seen.problem.retry === 'new_payment';
      assert.equal(
        seen.required !== undefined,
        invites,
        'PR is sent if and only if a new payment is invited',
      );
      assert.match(seen.header('cache-control') ?? '', /no-store/);
      assert.match(seen.header('vary') ?? '', /PAYMENT-SIGNATURE/);
    });
  }
}
