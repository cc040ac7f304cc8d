import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  answerOf,
  buyerOf,
  createRig,
  type PayOptions,
  type Rig,
  read,
  requestOf,
  type Seen,
} from '../../test/rig.ts';
import { openTestShop } from '../../test/shop.ts';
import { signCommitted } from '../payment/index.ts';
import type { JsonObject, PaymentPayload, PaymentRequired } from '../wire/v2.ts';
import type { HeaderList } from './message.ts';
import type { Route, RouteOptions, RouteRequest } from './route.ts';

type Ask = Parameters<typeof requestOf>[0];

/** Two routes at one price, and how often each one ran. */
function openMarket(binding: 'off' | 'advisory' | 'echoed' | 'required') {
  const rig = createRig({ binding });
  const runs = { weather: 0, premium: 0, item: 0, chat: 0 };
  const define = (options: Omit<RouteOptions<RouteRequest>, 'price' | 'parse'>): Route<RouteRequest> =>
    rig.seller.route({ ...options, price: '$0.01' });
  const routes = {
    weather: define({ method: 'GET', path: '/weather' }),
    premium: define({ method: 'GET', path: '/premium' }),
    item: define({ method: 'GET', path: '/item/:id' }),
    chat: define({ method: 'POST', path: '/chat', boundHeaders: ['authorization'] }),
  };
  const ask = (name: keyof typeof routes, request: Ask): Promise<Seen> =>
    read(
      rig.seller.charge(routes[name], requestOf({ method: routes[name].method, ...request }), async () => {
        runs[name] += 1;
        return answerOf(name);
      }),
    );
  return { rig, runs, routes, ask };
}

/** What our own client signs: a nonce that commits to the request. */
async function commit(
  rig: Rig,
  required: PaymentRequired,
  request: Ask,
  how: PayOptions = {},
): Promise<PaymentPayload> {
  const [requirement] = required.accepts;
  assert.ok(requirement);
  const { method = 'GET', target = '/weather', headers = [], body = '' } = request ?? {};
  const payment = await signCommitted({
    requirement,
    signer: how.buyer ?? rig.buyer,
    nowMs: rig.clock.nowMs(),
    random: rig.world.random,
    sha256: rig.world.sha256,
    required,
    request: {
      method,
      url: `https://api.example.com${target}`,
      headers,
      body: new TextEncoder().encode(String(body)),
    },
  });
  assert.ok(payment.ok, payment.ok ? '' : payment.refusal.code);
  return payment.value;
}

test('B01, B02, B04: under echoed, an unused payment for one URL does not buy another, and is not spent on it', async () => {
  const { rig, runs, ask } = openMarket('echoed');
  const { required } = await ask('weather', { target: '/weather?tier=free' });
  assert.ok(required);
  const payment = await rig.pay(required);
  const others: readonly [Parameters<typeof ask>[0], string][] = [
    ['premium', '/premium'],
    ['weather', '/weather?tier=gold'],
    ['weather', '/weather'],
    ['weather', '/weather?tier=free&tier=gold'],
    ['item', '/item/999'],
  ];
  for (const [name, target] of others) {
    const seen = await ask(name, { target, payment });
    assert.deepEqual(
      [seen.status, seen.problem.code, seen.problem.money, seen.problem.fields],
      [402, 'resource_mismatch', 'unmoved', ['resource.url']],
      target,
    );
  }
  assert.deepEqual(runs, { weather: 0, premium: 0, item: 0, chat: 0 });
  assert.deepEqual([rig.calls.verify, rig.calls.settle], [0, 0]);
  const own = await ask('weather', { target: '/weather?tier=free', payment });
  assert.deepEqual([own.status, own.text], [200, 'weather']);
});

test('B07: a missing resource is refused under echoed by name, and taken where the seller chose advisory', async () => {
  for (const [binding, status] of [
    ['echoed', 402],
    ['advisory', 200],
    ['off', 200],
  ] as const) {
    const { rig, ask } = openMarket(binding);
    const { required } = await ask('weather', {});
    assert.ok(required);
    const { resource: _left, ...payment } = await rig.pay(required);
    const seen = await ask('weather', { payment });
    assert.equal(seen.status, status, binding);
    if (status === 402)
      assert.deepEqual([seen.problem.code, seen.problem.fields], ['resource_mismatch', ['resource']]);
  }
});

test('B07: a lying resource is refused wherever it is looked at, and an equal spelling of ours is not', async () => {
  const lies = [
    'https://other.example/weather',
    'https://api.example.com/weather/',
    'http://api.example.com/weather',
    'nonsense',
  ];
  const same = ['https://API.example.com:443/weather', 'https://api.example.com/%77eather'];
  for (const binding of ['advisory', 'echoed'] as const) {
    const { rig, ask } = openMarket(binding);
    for (const [urls, status] of [
      [lies, 402],
      [same, 200],
    ] as const) {
      for (const url of urls) {
        const { required } = await ask('weather', {});
        assert.ok(required);
        const payment = await rig.pay({ ...required, resource: { url } });
        assert.equal((await ask('weather', { payment })).status, status, url);
      }
    }
  }
});

test('B01 to B06: under required, a payment buys one method, URL, body and set of headers, and nothing else', async () => {
  const { rig, runs, ask } = openMarket('required');
  const headers: HeaderList = [
    ['content-type', 'application/json'],
    ['authorization', 'Bearer alice'],
  ];
  const asked = { method: 'POST', target: '/chat?n=1', body: '{"model":"small"}', headers } as const;
  const { required } = await ask('chat', asked);
  assert.ok(required);
  const payment = await commit(rig, required, asked);
  const others: readonly Ask[] = [
    { ...asked, body: '{"model":"large"}' },
    { ...asked, target: '/chat?n=2' },
    { ...asked, target: '/chat' },
    { ...asked, headers: [['content-type', 'text/plain'], headers[1] ?? ['', '']] },
    { ...asked, headers: [['content-type', 'application/json']] },
    { ...asked, headers: [headers[0] ?? ['', ''], ['authorization', 'Bearer mallory']] },
  ];
  for (const other of others) {
    const seen = await ask('chat', { ...other, payment });
    assert.equal(seen.status, 402, JSON.stringify(other));
    assert.match(seen.problem.code, /^(request_commitment_mismatch|resource_mismatch)$/);
  }
  const premium = await ask('premium', { target: '/premium', payment });
  assert.deepEqual([premium.status, premium.problem.code], [402, 'request_commitment_mismatch']);
  assert.deepEqual(runs, { weather: 0, premium: 0, item: 0, chat: 0 });
  assert.equal(rig.calls.settle, 0);
  const own = await ask('chat', { ...asked, payment });
  assert.deepEqual([own.status, runs.chat], [200, 1]);
});

test('under required, the 402 shows the digest, and a stock payment is told what it lacks', async () => {
  const { rig, runs, ask } = openMarket('required');
  const unpaid = await ask('weather', {});
  assert.ok(unpaid.required);
  const declared = unpaid.required.extensions?.['evm-request-commitment'] as JsonObject;
  const info = declared.info as JsonObject;
  assert.deepEqual([info.required, info.profile], [true, 'http:1']);
  assert.match(String(info.requestDigest), /^[0-9a-f]{64}$/);
  const seen = await ask('weather', { payment: await rig.pay(unpaid.required) });
  assert.deepEqual([seen.status, seen.problem.code], [402, 'request_commitment_missing']);
  assert.match(String(seen.problem.detail), /evm-request-commitment/);
  // A stock client echoes the declaration; without a salt that commits to nothing.
  const { extensions = {} } = unpaid.required;
  const echoed = await ask('weather', { payment: { ...(await rig.pay(unpaid.required)), extensions } });
  assert.deepEqual([echoed.status, echoed.problem.code], [402, 'request_commitment_missing']);
  assert.equal(runs.weather, 0);
});

test('a payment that commits by itself is served where that is optional, and is bound to its request there too', async () => {
  const { rig, runs, ask } = openMarket('echoed');
  const { required } = await ask('weather', {});
  assert.ok(required);
  const payment = await commit(rig, required, {});
  // The echo is unsigned and can be changed; the nonce cannot.
  const moved = { ...payment, resource: { url: 'https://api.example.com/premium' } };
  const seen = await ask('premium', { target: '/premium', payment: moved });
  assert.deepEqual([seen.status, seen.problem.code], [402, 'request_commitment_mismatch']);
  assert.equal((await ask('weather', { payment })).status, 200);
  assert.deepEqual(runs, { weather: 1, premium: 0, item: 0, chat: 0 });
  const [record] = await rig.options.store.list({ limit: 10 });
  assert.equal(record?.binding, 'signed');
});

test('B02: a parameter that the route declares free may change, and no other', async () => {
  const shop = openTestShop({ route: { freeParameters: ['utm_source'] } });
  const payment = await shop.payment({ for: { target: '/weather?utm_source=a&city=bern' } });
  const other = await shop.ask({ payment, target: '/weather?utm_source=a&city=rome' });
  assert.equal(other.problem.code, 'resource_mismatch');
  assert.equal((await shop.ask({ payment, target: '/weather?city=bern&utm_source=b' })).status, 200);
  // Afterwards it is the same request, so it gets the same answer.
  const again = await shop.ask({ payment, target: '/weather?city=bern' });
  assert.deepEqual([again.status, again.text, shop.runs()], [200, 'sunny 1', 1]);
});

test('a request that the route refuses costs nothing, paid or not, and leaves no claim', async () => {
  const rig = createRig();
  let runs = 0;
  const route = rig.seller.route({
    method: 'GET',
    path: '/weather',
    price: '$0.01',
    validate: ({ url }) => {
      if (url.includes('city=atlantis')) return 'There is no such city.';
      if (url.includes('city=rome')) return { status: 404, detail: 'Not today.', fields: ['city'] };
      if (url.includes('city=paid')) return { status: 402, detail: 'a status that a refusal cannot have' };
      if (url.includes('city=half')) return { status: 404.5, detail: 'a status that nothing can have' };
      return undefined;
    },
  });
  const ask = (target: string, payment?: PaymentPayload): Promise<Seen> =>
    read(
      rig.seller.charge(
        route,
        requestOf({ target, ...(payment === undefined ? {} : { payment }) }),
        async () => {
          runs += 1;
          return answerOf('sunny');
        },
      ),
    );
  const { required } = await ask('/weather?city=bern');
  assert.ok(required);
  for (const [city, status] of [
    ['atlantis', 400],
    ['rome', 404],
    ['paid', 400],
    ['half', 400],
  ] as const) {
    const target = `/weather?city=${city}`;
    const resource = { url: `https://api.example.com${target}` };
    for (const payment of [undefined, await rig.pay({ ...required, resource })]) {
      const seen = await ask(target, payment);
      assert.deepEqual(
        [seen.status, seen.problem.code, seen.problem.money],
        [status, 'request_invalid', 'unmoved'],
      );
      assert.equal(seen.required, undefined);
    }
  }
  assert.deepEqual([runs, rig.calls.settle, (await rig.options.store.list({ limit: 9 })).length], [0, 0, 0]);
  assert.equal((await ask('/weather?city=bern', await rig.pay(required))).status, 200);
});

test('a validation that throws or never ends lets nothing through', async () => {
  const cases: readonly [() => Promise<undefined>, number, string][] = [
    [() => Promise.reject(new Error('db: secret')), 500, 'internal_error'],
    [() => new Promise(() => {}), 400, 'request_invalid'],
  ];
  for (const [validate, status, code] of cases) {
    const rig = createRig();
    const route = rig.seller.route({ method: 'GET', path: '/weather', price: '$0.01', validate });
    const asked = read(rig.seller.charge(route, requestOf(), async () => assert.fail('it ran')));
    await rig.clock.advance(30_000);
    const seen = await asked;
    assert.deepEqual([seen.status, seen.problem.code], [status, code]);
    assert.doesNotMatch(seen.text, /secret/);
  }
});

test('B13: a payment of version 1, in either header, reaches no looser matcher', async () => {
  const shop = openTestShop();
  const payment = await shop.payment();
  const v1 = { ...payment, x402Version: 1 as unknown as 2 };
  for (const ask of [{ payment: v1 }, { headers: [['x-payment', 'eyJ4NDAyVmVyc2lvbiI6MX0=']] as const }]) {
    const seen = await shop.ask(ask);
    assert.deepEqual([seen.status, seen.problem.code], [400, 'payment_version_unsupported']);
  }
  assert.deepEqual([shop.runs(), shop.rig.calls.verify, shop.rig.calls.settle], [0, 0, 0]);
});

/** A payment with an identifier, signed anew each time. */
async function named(
  shop: ReturnType<typeof openTestShop>,
  id: unknown,
  how: PayOptions = {},
): Promise<PaymentPayload> {
  const payment = await shop.payment(how);
  return {
    ...payment,
    extensions: { 'payment-identifier': { info: { required: false, id } } } as JsonObject,
  };
}

const id = 'pay_7d5d747be160e280';

test('C13: one identifier is charged once, and a second authorization under it is refused unsent', async () => {
  const shop = openTestShop();
  const first = await named(shop, id);
  assert.equal((await shop.ask({ payment: first })).status, 200);
  const second = await shop.ask({ payment: await named(shop, id) });
  assert.deepEqual(
    [second.status, second.problem.code, second.problem.money, second.problem.retry],
    [409, 'payment_id_conflict', 'unmoved', 'never'],
  );
  assert.equal(second.response, undefined);
  assert.deepEqual([shop.runs(), shop.rig.ledger.landed.size], [1, 1]);
  // The same payment under its own name is itself.
  assert.equal((await shop.ask({ payment: first })).text, 'sunny 1');
  assert.equal((await shop.ask({ payment: await named(shop, `${id}2`) })).text, 'sunny 2');
});

test('C13: another payer’s identifier is nothing to anybody else, and its answer neither', async () => {
  const shop = openTestShop();
  assert.equal((await shop.ask({ payment: await named(shop, id) })).text, 'sunny 1');
  const other = await shop.ask({ payment: await named(shop, id, { buyer: buyerOf(0x22) }) });
  assert.deepEqual([other.status, other.text], [200, 'sunny 2']);
});

test('C13: an identifier is missing or malformed before anything is claimed', async () => {
  const shop = openTestShop({ route: { paymentId: 'required' } });
  const missing = await shop.ask({ payment: await shop.payment() });
  assert.deepEqual([missing.status, missing.problem.code], [400, 'payment_id_required']);
  for (const wrong of ['short', 'x'.repeat(129), 'sixteen letters!', 7, {}]) {
    const seen = await shop.ask({ payment: await named(shop, wrong) });
    assert.deepEqual([seen.status, seen.problem.code], [400, 'payment_malformed'], String(wrong));
  }
  assert.equal(shop.runs(), 0);
  const unpaid = await shop.ask();
  const declared = unpaid.required?.extensions?.['payment-identifier'] as JsonObject;
  assert.deepEqual({ ...(declared.info as JsonObject) }, { required: true });
  assert.equal((await shop.ask({ payment: await named(shop, id) })).status, 200);
  const off = openTestShop({ route: { paymentId: 'off' } });
  assert.equal((await off.ask({ payment: await named(off, 'short') })).status, 200);
});
