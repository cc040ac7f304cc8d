import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf, createRig, read, requestOf } from '../../test/rig.ts';
import { openTestShop } from '../../test/shop.ts';
import { encodePaymentSignature } from '../wire/index.ts';

test('H08: two payment headers are refused, whatever they say and in whichever order', async () => {
  const shop = openTestShop();
  const one = encodePaymentSignature(await shop.payment());
  const two = encodePaymentSignature(await shop.payment());
  for (const pair of [
    [one, two],
    [two, one],
    [one, one],
    [one, 'x'],
  ]) {
    const headers = pair.map((value) => ['payment-signature', value] as const);
    const seen = await shop.ask({ headers });
    assert.deepEqual([seen.status, seen.problem.code], [400, 'duplicate_payment_header']);
  }
  for (const headers of [
    [
      ['x-payment', one],
      ['payment-signature', two],
    ],
    [
      ['payment-signature', two],
      ['x-payment', one],
    ],
  ] as const) {
    assert.equal((await shop.ask({ headers })).problem.code, 'duplicate_payment_header');
  }
  assert.deepEqual([shop.runs(), shop.rig.calls.verify], [0, 0]);
});

test('a payment of version 1 is named and refused, uncharged', async () => {
  const shop = openTestShop();
  const seen = await shop.ask({ headers: [['x-payment', 'eyJ4NDAyVmVyc2lvbiI6MX0=']] });
  assert.deepEqual(
    [seen.status, seen.problem.code, seen.problem.money],
    [400, 'payment_version_unsupported', 'unmoved'],
  );
});

test('a payment header that cannot be read is refused with what is wrong, and is not an invitation', async () => {
  const shop = openTestShop();
  for (const payment of ['not base64!', 'bm90LWpzb24=', 'e30=', 'bnVsbA==', '']) {
    const seen = await shop.ask({ payment });
    assert.deepEqual(
      [seen.status, seen.problem.code, seen.required],
      [400, 'payment_malformed', undefined],
      payment,
    );
    assert.equal(typeof seen.problem.detail, 'string');
  }
  assert.equal(shop.rig.calls.verify, 0);
});

test('H01: HEAD never runs the work: unpaid it is a 402, paid it is refused without spending the payment', async () => {
  const shop = openTestShop();
  const unpaid = await shop.ask({ method: 'HEAD' });
  assert.equal(unpaid.status, 402);
  const payment = await shop.payment();
  const paid = await shop.ask({ method: 'HEAD', payment });
  assert.deepEqual([paid.status, paid.problem.code], [405, 'method_not_allowed']);
  assert.equal(paid.header('allow'), 'GET, HEAD, OPTIONS');
  assert.equal(shop.runs(), 0);
  assert.equal((await shop.ask({ payment })).status, 200);
});

test('OPTIONS is answered without the work and without a price', async () => {
  const shop = openTestShop();
  const seen = await shop.ask({ method: 'OPTIONS' });
  assert.deepEqual([seen.status, seen.required, shop.runs()], [204, undefined, 0]);
});

test('H12: the body is read before anything is claimed, bounded in size and time', async () => {
  const shop = openTestShop({ route: { method: 'POST' } });
  const payment = await shop.payment();
  const slow = await shop.ask({ payment, body: { kind: 'too_slow' } });
  assert.deepEqual(
    [slow.status, slow.problem.code, slow.problem.retry],
    [408, 'body_too_slow', 'same_payment'],
  );
  const large = await shop.ask({ payment, body: { kind: 'too_large' } });
  assert.deepEqual([large.status, large.problem.code, large.problem.retry], [413, 'body_too_large', 'never']);
  assert.equal((await shop.rig.options.store.list({ limit: 1 })).length, 0);
  assert.equal((await shop.ask({ payment })).status, 200);
});

test('B11: the price and the work see one and the same parsed request', async () => {
  const rig = createRig();
  let parses = 0;
  const priced: unknown[] = [];
  const route = rig.seller.route({
    method: 'POST',
    path: '/chat',
    parse: ({ body }) => {
      parses += 1;
      return { model: new TextDecoder().decode(body), id: {} };
    },
    price: (parsed) => {
      priced.push(parsed.id);
      return parsed.model === 'large' ? '$0.05' : '$0.01';
    },
  });
  const ask = requestOf({ method: 'POST', target: '/chat', body: 'large' });
  const { required } = await read(rig.seller.charge(route, ask, async () => answerOf('')));
  assert.equal(required?.accepts[0]?.amount, 50_000n);
  assert.ok(required);
  const payment = await rig.pay(required);
  parses = 0;
  priced.length = 0;
  let worked: unknown;
  const seen = await read(
    rig.seller.charge(
      route,
      requestOf({ method: 'POST', target: '/chat', body: 'large', payment }),
      async ({ parsed }) => {
        worked = parsed.id;
        return answerOf('done');
      },
    ),
  );
  assert.equal(seen.text, 'done');
  assert.equal(parses, 1);
  assert.deepEqual(priced, [worked]);
  assert.equal(priced[0], worked);
});

test('a request that the route cannot read costs nothing, and a price function that throws is no default price', async () => {
  const rig = createRig();
  const unreadable = rig.seller.route({
    method: 'POST',
    path: '/chat',
    price: '$0.01',
    parse: () => {
      throw new Error('not JSON');
    },
  });
  const first = await read(
    rig.seller.charge(unreadable, requestOf({ method: 'POST' }), async () => answerOf('')),
  );
  assert.deepEqual(
    [first.status, first.problem.code, first.problem.money],
    [400, 'request_malformed', 'unmoved'],
  );
  const unpriced = rig.seller.route({
    method: 'POST',
    path: '/chat',
    parse: (request) => request,
    price: () => {
      throw new Error('no such model');
    },
  });
  const second = await read(
    rig.seller.charge(unpriced, requestOf({ method: 'POST' }), async () => answerOf('')),
  );
  assert.deepEqual(
    [second.status, second.problem.code, second.required],
    [400, 'price_unavailable', undefined],
  );
});

test('the resource in the terms is the configured origin, and another Host gets none', async () => {
  const shop = openTestShop();
  const foreign = await shop.ask({ headers: [['host', 'bank.example.net']] });
  assert.deepEqual(
    [foreign.status, foreign.problem.code, foreign.required],
    [421, 'foreign_host', undefined],
  );
  const seen = await shop.ask({ headers: [['host', 'API.example.com:443']], target: '/weather?city=Lima' });
  assert.equal(seen.required?.resource.url, 'https://api.example.com/weather?city=Lima');
});

test('a payment that differs in one member of the terms is refused and says which', async () => {
  const shop = openTestShop();
  const payment = await shop.payment();
  const changes = [
    ['amount', { amount: 9_999n }],
    ['payTo', { payTo: `0x${'ab'.repeat(20)}` }],
    ['network', { network: 'eip155:1' }],
    ['maxTimeoutSeconds', { maxTimeoutSeconds: 86_400 }],
  ] as const;
  for (const [field, change] of changes) {
    const seen = await shop.ask({ payment: { ...payment, accepted: { ...payment.accepted, ...change } } });
    assert.equal(seen.status, 402, field);
    assert.equal(
      seen.problem.code === 'requirement_mismatch' || seen.problem.code === 'signature_invalid',
      true,
      `${field}: ${seen.problem.code}`,
    );
    assert.ok(seen.required);
  }
  assert.deepEqual([shop.runs(), shop.rig.calls.verify], [0, 0]);
});

test('H07: questions that a 304 or a part would answer are not seen by the work, so the whole is sold', async () => {
  const shop = openTestShop();
  let names: readonly string[] = [];
  shop.works(async ({ request }) => {
    names = request.headers.map(([name]) => name);
    return answerOf('whole');
  });
  const asks = ['if-none-match', 'if-modified-since', 'if-match', 'if-unmodified-since', 'if-range', 'range'];
  const headers = [...asks.map((name) => [name, 'x'] as const), ['accept', 'text/plain'] as const];
  const seen = await shop.ask({ payment: await shop.payment(), headers });
  assert.deepEqual([seen.status, seen.text, names], [200, 'whole', ['host', 'accept']]);
});

test('H08: two payments that a framework joined with a comma are two payments', async () => {
  const shop = openTestShop();
  const one = encodePaymentSignature(await shop.payment());
  const seen = await shop.ask({ payment: `${one}, ${one}` });
  assert.deepEqual([seen.status, seen.problem.code], [400, 'duplicate_payment_header']);
});
