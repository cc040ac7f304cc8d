import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  answerOf,
  buyerOf,
  read,
  requestOf,
  rest,
  type Seen,
  type SettleScript,
  said,
} from '../../../test/rig.ts';
import { openTestShop, type ShopOptions, type TestShop } from '../../../test/shop.ts';
import { signCommitted } from '../../payment/index.ts';
import { decodePaymentRequired } from '../../wire/index.ts';
import type { PaymentPayload, PaymentRequirements } from '../../wire/v2.ts';
import { exposureLimits, flowOf, payFirstTerms } from './unpaid.ts';

const drained: SettleScript = {
  says: said({ success: false, errorReason: 'insufficient_funds', transaction: '' }),
};

/** One payment whose money is refused after the work, or that is told to go first. */
async function burn(shop: TestShop, script: SettleScript = drained): Promise<Seen> {
  shop.rig.settles.splice(0, Number.POSITIVE_INFINITY, script);
  return shop.ask({ payment: await shop.payment() });
}

/** A shop whose buyer has burnt its runs, and the terms that it is offered now. */
async function burnt(options: ShopOptions = {}) {
  const shop = openTestShop(options);
  for (let run = 0; run < 3; run += 1) await burn(shop);
  const seen = await burn(shop);
  shop.rig.settles.length = 0;
  assert.ok(seen.required, seen.text);
  return { shop, seen, required: seen.required };
}

test('S01: of twenty payments that are canceled while the work runs, three run; then the payer is asked to go first', async () => {
  const shop = openTestShop({ seller: { limits: { refused: 'off' } } });
  const { rig } = shop;
  const codes: string[] = [];
  for (let turn = 0; turn < 20; turn += 1) {
    const payment = await shop.payment();
    const { from, nonce } = payment.payload.authorization as Record<string, string>;
    shop.works(async () => {
      rig.ledger.canceled.add(`${from?.toLowerCase()}/${nonce}`);
      return answerOf('sunny');
    });
    rig.settles.push({
      says: said({
        success: false,
        errorReason: 'invalid_exact_evm_nonce_already_used',
        transaction: '',
      }),
    });
    const seen = await shop.ask({ payment });
    codes.push(seen.problem.code);
    assert.deepEqual([seen.status, seen.problem.money, seen.problem.retry], [402, 'unmoved', 'new_payment']);
  }
  assert.deepEqual(codes.slice(0, 4), [...Array(3).fill('settlement_refused'), 'upfront_required']);
  assert.equal(shop.runs(), 3);
  assert.equal(rig.calls.verify, 3, 'nobody is asked about what is not run');
  const runs = rig.events.filter(({ event }) => event === 'run_unpaid');
  assert.equal(runs.length, 3);
});

for (const [id, what, reason] of [
  ['S02', 'a drained balance', 'invalid_exact_evm_insufficient_balance'],
  ['S03', 'a revoked allowance', 'permit2_allowance_required'],
] as const) {
  test(`${id}: after three runs that ${what} left unpaid, the payer is offered upfront only`, async () => {
    const shop = openTestShop();
    const says = said({ success: false, errorReason: reason, transaction: '' });
    for (let turn = 0; turn < 20; turn += 1) await burn(shop, { says });
    assert.deepEqual([shop.runs(), shop.rig.calls.settle], [3, 3]);
    const seen = await burn(shop);
    assert.deepEqual(
      [seen.status, seen.problem.code, seen.problem.money, seen.problem.retry],
      [402, 'upfront_required', 'unmoved', 'new_payment'],
    );
    assert.deepEqual(
      seen.required?.accepts.map(({ extra }) => extra.paymentFlow),
      ['upfront'],
    );
    assert.equal(seen.required?.error, 'upfront_required');
  });
}

test('S01: of twenty payments at once no more run than may be open, over two sellers that share a store', async () => {
  const shop = openTestShop({ seller: { unpaidRuns: { open: 3 } } });
  const second = shop.rig.another();
  const gate = Promise.withResolvers<void>();
  shop.works(async () => {
    await gate.promise;
    return answerOf('sunny');
  });
  const payments = await Promise.all(Array.from({ length: 20 }, () => shop.payment()));
  const asked = payments.map((payment, at) =>
    shop.ask({ payment, ...(at % 2 === 0 ? {} : { seller: second }) }),
  );
  await rest();
  assert.equal(shop.runs(), 3);
  gate.resolve();
  const seen = await Promise.all(asked);
  assert.equal(seen.filter(({ status }) => status === 200).length, 3);
  assert.equal(seen.filter(({ problem }) => problem.code === 'upfront_required').length, 17);
  const later = await shop.ask({ payment: await shop.payment() });
  assert.equal(later.status, 200, 'what was paid for is no loan any more');
});

test('who pays first is served: the money moves before the work, nothing is verified, and the record says so', async () => {
  const { shop, required } = await burnt();
  const { rig } = shop;
  const verified = rig.calls.verify;
  const payment = await rig.pay(required);
  let landed = 0;
  shop.works(async () => {
    landed = rig.ledger.landed.size;
    return answerOf('sunny');
  });
  const seen = await shop.ask({ payment });
  assert.deepEqual([seen.status, seen.text, seen.response?.success], [200, 'sunny', true]);
  assert.deepEqual([landed, rig.calls.verify], [1, verified]);
  assert.equal((await shop.ask({ payment })).text, 'sunny', 'and is answered again like any other');
  const records = await rig.options.store.list({ limit: 100 });
  assert.equal(
    records.filter(({ flow, money }) => flow === 'upfront' && money.state === 'settled').length,
    1,
  );
  shop.works(async () => answerOf('broken', 500));
  const owed = await shop.ask({ payment: await rig.pay(required) });
  assert.match(owed.header('counterfoil-payment') ?? '', /code=work_owed; money=moved/);
});

test('the payment that was told to go first may itself be presented under those terms', async () => {
  const { shop } = await burnt();
  const payment = await shop.payment();
  const told = await shop.ask({ payment });
  const [accepted] = told.required?.accepts ?? [];
  assert.ok(accepted && told.problem.code === 'upfront_required');
  assert.equal((await shop.ask({ payment: { ...payment, accepted } })).status, 200);
  assert.equal(shop.rig.ledger.landed.size, 1);
});

test('anybody may choose to pay first on a route that may offer it, and its window is that of upfront', async () => {
  const shop = openTestShop();
  const payment = await shop.payment({ nowMs: shop.rig.world.nowMs() - 200_000 });
  const short = await shop.ask({ payment });
  assert.equal(short.problem.code, 'authorization_window_too_short');
  const seen = await shop.ask({ payment: first(payment) });
  assert.deepEqual([seen.status, shop.rig.calls.verify], [200, 0]);
});

/** The same payment under the terms of paying first. */
function first(payment: PaymentPayload, extra: object = {}): PaymentPayload {
  const { accepted } = payment;
  return {
    ...payment,
    accepted: { ...accepted, extra: { ...accepted.extra, paymentFlow: 'upfront', ...extra } },
  };
}

test('B08: terms of paying first are our own entry with that one member, and nothing else', async () => {
  const shop = openTestShop();
  const payment = first(await shop.payment());
  const bent: readonly Partial<PaymentRequirements>[] = [
    { amount: 1n },
    { payTo: '0x00000000000000000000000000000000000000aa' },
    { maxTimeoutSeconds: 301 },
    { extra: { ...payment.accepted.extra, paymentFlow: 'escrow' } },
    { extra: { ...payment.accepted.extra, paymentFlow: 'UPFRONT' } },
    { extra: { ...payment.accepted.extra, facilitator: 'https://evil.example' } },
  ];
  for (const change of bent) {
    const seen = await shop.ask({ payment: { ...payment, accepted: { ...payment.accepted, ...change } } });
    assert.equal(seen.problem.code, 'requirement_mismatch', JSON.stringify(Object.keys(change)));
  }
  assert.deepEqual([shop.runs(), shop.rig.calls.settle], [0, 0]);
  assert.equal((await shop.ask({ payment })).status, 200);
});

test('where nothing is counted a payer may run up anything, and nobody may pay first', async () => {
  const options = [{ seller: { unpaidRuns: 'off' } }, { route: { unpaidRuns: 'off' } }] as const;
  for (const each of options) {
    const shop = openTestShop(each);
    for (let turn = 0; turn < 8; turn += 1) await burn(shop);
    assert.equal(shop.runs(), 8);
    const seen = await shop.ask({ payment: first(await shop.payment()) });
    assert.equal(seen.problem.code, 'requirement_mismatch');
  }
});

test('a route says for itself how many runs it lends', async () => {
  const shop = openTestShop({ seller: { unpaidRuns: 'off' }, route: { unpaidRuns: { limit: 1 } } });
  for (let turn = 0; turn < 5; turn += 1) await burn(shop);
  assert.equal(shop.runs(), 1);
});

test('another payer is not asked to go first, and work that failed is nobody’s debt', async () => {
  const { shop } = await burnt();
  assert.equal((await shop.ask({ payment: await shop.payment({ buyer: buyerOf(0x22) }) })).status, 200);
  const third = buyerOf(0x33);
  shop.works(async () => answerOf('broken', 500));
  for (let turn = 0; turn < 5; turn += 1) await shop.ask({ payment: await shop.payment({ buyer: third }) });
  shop.works(async () => answerOf('sunny'));
  assert.equal((await shop.ask({ payment: await shop.payment({ buyer: third }) })).status, 200);
});

test('S08: money that the facilitator could not send is nobody’s debt', async () => {
  const shop = openTestShop({ seller: { breaker: 'off' }, route: { earlierPayment: 'off' } });
  for (let turn = 0; turn < 6; turn += 1) await burn(shop, { says: turn % 2 === 0 ? 'unsent' : 'lost' });
  shop.rig.settles.length = 0;
  assert.equal((await shop.ask({ payment: await shop.payment() })).status, 200);
});

test('B10: a quoted price is quoted for paying first too, and neither quote is worth the other', async () => {
  let price = 2;
  const { shop, required } = await burnt({ route: { price: () => `$0.0${price}`, quoteMs: 60_000 } });
  price = 5;
  const payment = await shop.rig.pay(required);
  const { paymentFlow, ...plain } = payment.accepted.extra;
  assert.equal(paymentFlow, 'upfront');
  const stripped = { ...payment, accepted: { ...payment.accepted, extra: plain } };
  assert.equal((await shop.ask({ payment: stripped })).problem.code, 'requirement_mismatch');
  const added = first(await shop.payment());
  assert.equal((await shop.ask({ payment: added })).problem.code, 'requirement_mismatch');
  const served = await shop.ask({ payment });
  assert.deepEqual([served.status, served.response?.amount], [200, 20_000n]);
});

test('B10: a quote for paying first is worth nothing once the route offers that no more', async () => {
  const options = { price: () => '$0.02', quoteMs: 60_000 };
  const { shop, required } = await burnt({ route: options });
  const payment = await shop.rig.pay(required);
  const redeployed = shop.rig.another({ unpaidRuns: 'off' });
  const route = redeployed.route({ method: 'GET', path: '/weather', ...options });
  const seen = await read(redeployed.charge(route, requestOf({ payment }), async () => answerOf('never')));
  assert.deepEqual([seen.problem.code, seen.problem.fields], ['requirement_mismatch', ['extra.paymentFlow']]);
});

test('B01: siblings that are told apart by their price are told apart when they are paid first', async () => {
  const shop = openTestShop({ seller: { siblings: 'dither' } });
  const other = shop.rig.seller.route({ method: 'GET', path: '/premium', price: '$0.01' });
  const { required } = await shop.ask();
  assert.ok(required);
  const payment = first(await shop.rig.pay(required));
  const request = requestOf({ payment, target: '/premium' });
  const seen = await read(shop.rig.seller.charge(other, request, async () => answerOf('never')));
  assert.equal(seen.problem.code, 'requirement_mismatch');
  assert.equal((await shop.ask({ payment })).status, 200);
});

test('under a required binding who pays first commits to the request all the same', async () => {
  const shop = openTestShop({ seller: { limits: { refused: 'off' } }, route: { binding: 'required' } });
  const { rig } = shop;
  const commit = async (required: NonNullable<Seen['required']>): Promise<PaymentPayload> => {
    const [requirement] = required.accepts;
    assert.ok(requirement);
    const signed = await signCommitted({
      requirement,
      required,
      signer: rig.buyer,
      nowMs: rig.clock.nowMs(),
      random: rig.world.random,
      sha256: rig.world.sha256,
      request: { method: 'GET', url: 'https://api.example.com/weather', headers: [], body: new Uint8Array() },
    });
    assert.ok(signed.ok);
    return signed.value;
  };
  let last: Seen | undefined;
  for (let turn = 0; turn < 4; turn += 1) {
    const { required } = await shop.ask();
    assert.ok(required);
    rig.settles.splice(0, Number.POSITIVE_INFINITY, drained);
    last = await shop.ask({ payment: await commit(required) });
  }
  assert.ok(last?.required && last.problem.code === 'upfront_required');
  rig.settles.length = 0;
  const stock = await shop.ask({ payment: await rig.pay(last.required) });
  assert.equal(stock.problem.code, 'request_commitment_missing');
  assert.equal((await shop.ask({ payment: await commit(last.required) })).status, 200);
});

test('H09: the terms of paying first keep to the same budget of header octets', async () => {
  const example = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`field${at}`, 'x'.repeat(20)]));
  const { seen } = await burnt({
    route: {
      description: 'd'.repeat(2_000),
      discovery: { input: { query: { example } }, output: { type: 'json', example } },
    },
  });
  const header = seen.header('payment-required') ?? '';
  assert.ok(header.length <= 3_072, String(header.length));
  const message = decodePaymentRequired(header);
  assert.ok(message.ok && message.value.accepts[0]?.extra.paymentFlow === 'upfront');
});

test('the entries of paying first are made once for one list, and never change it', () => {
  const asked: readonly PaymentRequirements[] = Object.freeze([
    {
      scheme: 'exact',
      network: 'eip155:1',
      amount: 1n,
      asset: '0xa',
      payTo: '0xb',
      maxTimeoutSeconds: 300,
      extra: Object.freeze({ name: 'Dollar', version: '2' }),
    },
  ]);
  const terms = payFirstTerms(asked);
  assert.equal(payFirstTerms(asked), terms);
  assert.deepEqual(terms[0], {
    ...asked[0],
    extra: { name: 'Dollar', version: '2', paymentFlow: 'upfront' },
  });
  assert.equal(Object.hasOwn(asked[0]?.extra ?? {}, 'paymentFlow'), false);
});

test('a flow is chosen by the payment only where the route lends, and only towards paying first', () => {
  const accepted = (extra: object): PaymentRequirements => ({ extra }) as PaymentRequirements;
  const lends = { flow: 'authorization', unpaid: exposureLimits() } as const;
  assert.equal(flowOf(lends, accepted({ paymentFlow: 'upfront' })), 'upfront');
  assert.equal(flowOf(lends, accepted({})), 'authorization');
  assert.equal(flowOf(lends, accepted({ paymentFlow: 'escrow' })), 'authorization');
  const upfront = { flow: 'upfront', unpaid: undefined } as const;
  assert.equal(flowOf(upfront, accepted({ paymentFlow: 'authorization' })), 'upfront');
  assert.deepEqual(exposureLimits(), { unpaid: 3, open: 32 });
  assert.equal(exposureLimits('off'), undefined);
});
