/**
 * What a hostile reviewer tried against request binding that no other test had thought of: terms that nobody could
 * pay, a commitment that a sibling did not look at, numbers that only a buyer would write.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runInNewContext } from 'node:vm';
import { answerOf, createRig, payTo, type Rig, read, requestOf, type Seen } from '../../test/rig.ts';
import { openTestShop } from '../../test/shop.ts';
import { signCommitted } from '../payment/index.ts';
import type { PaymentPayload, PaymentRequired } from '../wire/v2.ts';
import { RequestFault } from './read.ts';
import type { Route, RouteOptions, RouteRequest } from './route.ts';

const origin = 'https://api.example.com';

/** A client that commits to a GET of a path of ours. */
async function commit(rig: Rig, required: PaymentRequired, path: string): Promise<PaymentPayload> {
  const [requirement] = required.accepts;
  assert.ok(requirement !== undefined);
  const { world, buyer: signer } = rig;
  const { random, sha256 } = world;
  const request = { method: 'GET', url: `${origin}${path}`, headers: [], body: new Uint8Array(0) };
  const signed = await signCommitted({
    ...{ required, requirement, request, signer, random, sha256 },
    nowMs: world.nowMs(),
  });
  assert.ok(signed.ok, signed.ok ? '' : signed.refusal.code);
  return signed.value;
}

/** A stock client that was told to name another resource, and to forget what it had committed to. */
function renamed({ extensions: _, ...payment }: PaymentPayload, path: string): PaymentPayload {
  return { ...payment, resource: { url: `${origin}${path}` } };
}

type Shelf = {
  readonly rig: Rig;
  readonly visit: (path: string, payment?: PaymentPayload, status?: number) => Promise<Seen>;
};

/** Routes at one price, told apart by nothing but their path and their binding. */
function openShelf(routes: Readonly<Record<string, Partial<RouteOptions<RouteRequest>>>>): Shelf {
  const rig = createRig();
  const shelf = new Map<string, Route<RouteRequest>>();
  for (const [path, { parse: _, ...more }] of Object.entries(routes)) {
    shelf.set(path, rig.seller.route({ method: 'GET', path, price: '$0.01', ...more }));
  }
  return {
    rig,
    visit: (path, payment, status = 200) => {
      const route = shelf.get(path);
      assert.ok(route !== undefined);
      const request = requestOf({ target: path, ...(payment === undefined ? {} : { payment }) });
      return read(rig.seller.charge(route, request, async () => answerOf(path, status)));
    },
  };
}

async function termsOf(shelf: Shelf, path: string): Promise<PaymentRequired> {
  const { required } = await shelf.visit(path);
  assert.ok(required !== undefined);
  return required;
}

test('H01, B10: the price that HEAD is told can be paid with a GET', async () => {
  const shop = openTestShop({ route: { price: () => '$0.01', quoteMs: 60_000 } });
  const payment = await shop.payment({ for: { method: 'HEAD' } });
  const seen = await shop.ask({ payment });
  assert.deepEqual([seen.status, shop.runs()], [200, 1]);
});

test('H01, B05: the digest that HEAD is told is the one of the GET that can be bought', async () => {
  const shop = openTestShop({ route: { binding: 'required' } });
  const { required } = await shop.ask({ method: 'HEAD' });
  assert.ok(required !== undefined);
  const seen = await shop.ask({ payment: await commit(shop.rig, required, '/weather') });
  assert.deepEqual([seen.status, shop.runs()], [200, 1]);
});

test('B07, H09: whatever URL a 402 prices, the payment that echoes it is read', async () => {
  const shop = openTestShop();
  for (let length = 3_000; length <= 8_000; length += 250) {
    const target = `/weather?q=${'x'.repeat(length)}`;
    const { status, required, problem } = await shop.ask({ target });
    if (status !== 402) {
      assert.deepEqual([status, problem.code], [400, 'request_malformed'], `${length}`);
      continue;
    }
    assert.ok(required !== undefined);
    const seen = await shop.ask({ target, payment: await shop.rig.pay(required) });
    assert.equal(seen.status, 200, `${length}`);
  }
});

test('S2, B01 to B06: what committed to one request and failed there buys nothing from a sibling that asks for no commitment', async () => {
  const shelf = openShelf({ '/vault': { binding: 'required' }, '/cheap': {} });
  const payment = await commit(shelf.rig, await termsOf(shelf, '/vault'), '/vault');
  assert.equal((await shelf.visit('/vault', payment, 500)).status, 500);
  const elsewhere = await shelf.visit('/cheap', renamed(payment, '/cheap'));
  assert.deepEqual([elsewhere.status, elsewhere.problem.code], [409, 'payment_already_used']);
  assert.deepEqual([elsewhere.problem.money, elsewhere.problem.fields], ['unmoved', ['request']]);
  assert.equal(shelf.rig.calls.settle, 0);
  assert.equal((await shelf.visit('/vault', payment)).text, '/vault', 'what it was made for is still sold');
});

test('design 9.8: a payment that failed elsewhere and commits to this request is told so, not that it is in progress', async () => {
  const shelf = openShelf({ '/vault': { binding: 'required' }, '/cheap': {} });
  const payment = await commit(shelf.rig, await termsOf(shelf, '/vault'), '/vault');
  assert.equal((await shelf.visit('/cheap', renamed(payment, '/cheap'), 500)).status, 500);
  const { status, problem, required } = await shelf.visit('/vault', payment);
  assert.deepEqual(
    [status, problem.code, problem.money, problem.retry],
    [409, 'payment_already_used', 'unmoved', 'never'],
  );
  assert.equal(required, undefined);
});

test('P05, P07, B10: terms that no seller would quote are a mismatch, and no fault of ours', async () => {
  const shop = openTestShop({ route: { price: () => '$0.01', quoteMs: 60_000 } });
  const payment = await shop.payment();
  const { accepted } = payment;
  for (const odd of [0.5, JSON.parse(`${'['.repeat(26)}${']'.repeat(26)}`)]) {
    const extra = { ...accepted.extra, odd };
    const seen = await shop.ask({ payment: { ...payment, accepted: { ...accepted, extra } } });
    assert.deepEqual([seen.status, seen.problem.code], [402, 'requirement_mismatch']);
  }
  assert.deepEqual(
    shop.rig.events.filter(({ event }) => event === 'alarm'),
    [],
  );
});

test('S4, B10: paid work that is owed is served after its quote has ended, and an unpaid one is quoted anew', async () => {
  for (const flow of ['upfront', 'authorization'] as const) {
    const shop = openTestShop({ route: { price: () => '$0.01', quoteMs: 5_000, flow } });
    const payment = await shop.payment();
    shop.works(async () => answerOf('broken', 500));
    assert.equal((await shop.ask({ payment })).status, 500);
    await shop.rig.clock.advance(10_000);
    shop.works(async () => answerOf('sunny'));
    const { status, problem } = await shop.ask({ payment });
    assert.deepEqual([status, problem.code], flow === 'upfront' ? [200, ''] : [402, 'quote_expired']);
    assert.equal(shop.rig.calls.settle, flow === 'upfront' ? 1 : 0);
  }
});

test('S2, S4: a settled payment is answered from its record, whatever stands around its signature', async () => {
  const shop = openTestShop({ route: { paymentId: 'required' } });
  const identifier = { 'payment-identifier': { info: { required: true, id: 'pay_0123456789abcdef' } } };
  const payment = { ...(await shop.payment()), extensions: identifier };
  assert.equal((await shop.ask({ payment })).status, 200);
  const { resource, extensions: __, ...bare } = payment;
  const said: readonly PaymentPayload[] = [
    bare,
    { ...bare, resource: { url: 'https://evil.example/' } },
    { ...bare, extensions: { 'evm-request-commitment': { info: { salt: 'none' } } } },
    { ...bare, extensions: { 'payment-identifier': 7 } },
    { ...bare, accepted: { ...bare.accepted, amount: 1n, payTo: `0x${'9'.repeat(40)}` } },
  ];
  for (const other of said) assert.equal((await shop.ask({ payment: other })).text, 'sunny 1');
  assert.deepEqual([shop.runs(), shop.rig.calls.settle], [1, 1]);
  assert.equal([...shop.rig.ledger.landed.values()][0]?.payTo, payTo);
  assert.ok(resource !== undefined);
});

test('C13, H14: no event names a payment identifier, a salt or a signature', async () => {
  const shop = openTestShop({ route: { binding: 'required' } });
  const { required } = await shop.ask();
  assert.ok(required !== undefined);
  const committed = await commit(shop.rig, required, '/weather');
  const id = 'pay_0123456789abcdef';
  const extensions = { ...committed.extensions, 'payment-identifier': { info: { required: false, id } } };
  const payment = { ...committed, extensions };
  assert.equal((await shop.ask({ payment })).status, 200);
  assert.equal((await shop.ask({ payment, target: '/weather?other' })).status, 409);
  const told = JSON.stringify(shop.rig.events);
  const secrets = JSON.stringify([committed.payload.signature, committed.extensions]).match(/[0-9a-f]{64,}/g);
  assert.ok(secrets !== null && secrets.length >= 2);
  for (const secret of [id, ...secrets]) assert.ok(!told.includes(secret), secret);
});

test('S3: of a payment older than our memory nothing is known, whatever else is wrong with it', async () => {
  const shop = openTestShop({ route: { validate: ({ url }) => (url.includes('odd') ? 'odd' : undefined) } });
  const { required } = await shop.ask();
  assert.ok(required !== undefined);
  const old = await shop.rig.pay(required, { nowMs: shop.rig.clock.nowMs() - 40 * 86_400_000 });
  const foreign = { ...old, accepted: { ...old.accepted, maxTimeoutSeconds: 7 } };
  const unnamed = { ...old, extensions: { 'payment-identifier': { info: { id: 'short' } } } };
  for (const payment of [old, foreign, unnamed, renamed(old, '/other')]) {
    const { problem, required: terms } = await shop.ask({ payment, target: '/weather?odd' });
    assert.deepEqual([problem.code, problem.money], ['authorization_expired', 'unknown']);
    assert.deepEqual([problem.retry, terms], ['later', undefined]);
  }
});

test('design 4: a payment that came too late is told so before the route is asked', async () => {
  let asked = 0;
  const validate = (): undefined => {
    asked += 1;
  };
  const shop = openTestShop({ route: { validate } });
  const payment = await shop.payment();
  await shop.rig.clock.advance(400_000);
  asked = 0;
  assert.equal((await shop.ask({ payment })).problem.code, 'authorization_expired');
  assert.equal(asked, 0);
});

test('H14: what a route says of a request is a sentence, not a page', async () => {
  const shop = openTestShop({ route: { validate: () => 'no '.repeat(10_000) } });
  const { problem } = await shop.ask();
  assert.equal(String(problem.detail).length, 500);
});

test('B11: a reading that is still to come is waited for before it is priced, whichever realm its promise is of', async () => {
  const { seller } = createRig();
  const parse = (): Promise<{ readonly city: string }> =>
    runInNewContext('Promise.resolve({ city: "rome" })');
  const route = seller.route({
    ...{ method: 'GET', path: '/weather' },
    parse,
    price: ({ city }) => (city === 'rome' ? '$0.02' : '$0.01'),
  });
  const { required } = await read(seller.charge(route, requestOf(), async () => answerOf('sunny')));
  assert.equal(required?.accepts[0]?.amount, 20_000n);
});

test('C13: two sellers that share a store do not meet in an identifier', async () => {
  const rig = createRig();
  const other = rig.another({ origin: 'https://api.example.net' });
  for (const [seller, host] of [
    [rig.seller, 'api.example.com'],
    [other, 'api.example.net'],
  ] as const) {
    const route = seller.route({ method: 'GET', path: '/weather', price: '$0.01' });
    const visit = (payment?: PaymentPayload): Promise<Seen> => {
      const request = requestOf({ headers: [['host', host]], ...(payment === undefined ? {} : { payment }) });
      return read(seller.charge(route, request, async () => answerOf(host)));
    };
    const { required } = await visit();
    assert.ok(required !== undefined);
    const extensions = { 'payment-identifier': { info: { required: false, id: 'pay_0123456789abcdef' } } };
    assert.equal((await visit({ ...(await rig.pay(required)), extensions })).status, 200, host);
  }
});

test('B04, H07: a header that the work does not see is bound all the same where the route says so', async () => {
  const shop = openTestShop({ route: { boundHeaders: ['if-none-match'] } });
  const payment = await shop.payment();
  assert.equal((await shop.ask({ payment, headers: [['if-none-match', '"a"']] })).status, 200);
  const { status, problem } = await shop.ask({ payment, headers: [['if-none-match', '"b"']] });
  assert.deepEqual([status, problem.code, problem.money], [409, 'payment_already_used', 'moved']);
});

test('H07: a route that sells ranges shows its work no condition, so that no 304 is sold', async () => {
  const shop = openTestShop({ route: { ranges: 'sell' } });
  const payment = await shop.payment();
  const seen: string[] = [];
  shop.works(async ({ request }) => {
    seen.push(...request.headers.map(([name]) => name));
    return answerOf('part', 206);
  });
  const conditions = ['if-match', 'if-none-match', 'if-modified-since', 'if-unmodified-since'];
  const headers = [...conditions, 'range', 'if-range'].map((name) => [name, 'x'] as const);
  assert.equal((await shop.ask({ payment, headers })).status, 206);
  assert.deepEqual(seen, ['host', 'range', 'if-range']);
});

test('H14: why a route cannot read a request is told only in words that it chose for the buyer', async () => {
  for (const [fault, says] of [
    [new Error('db: secret'), 'The route cannot read this request.'],
    [new TypeError('secret.key'), 'The route cannot read this request.'],
    [new RequestFault('Name a city.'), 'Name a city.'],
  ] as const) {
    const { seller } = createRig();
    const parse = (): never => {
      throw fault;
    };
    const route = seller.route({ method: 'GET', path: '/weather', price: '$0.01', parse });
    const { problem } = await read(seller.charge(route, requestOf(), async () => answerOf('sunny')));
    assert.deepEqual([problem.code, problem.detail], ['request_malformed', says]);
  }
});

test('I3: a payment in doubt that comes with a request refused unread is called unknown, and no new one is invited', async () => {
  const shop = openTestShop({ route: { maxBodyBytes: 8 } });
  const payment = await shop.payment();
  shop.rig.settles.push({ lands: true, says: 'lost' });
  assert.equal((await shop.ask({ payment })).problem.code, 'settlement_unknown');
  const refused = [
    await shop.ask({ payment, headers: [['host', 'elsewhere.example']] }),
    await shop.ask({ payment, headers: [['x-payment', 'e30=']] }),
    await shop.ask({ payment, headers: [['x-http-method-override', 'PUT']] }),
    await shop.ask({ payment, target: `/${'x'.repeat(9_000)}` }),
    await shop.ask({ payment, body: { kind: 'too_large' } }),
    await shop.ask({ payment, body: { kind: 'gone' } }),
    await shop.ask({ payment, method: 'HEAD' }),
    await shop.ask({ payment, headers: [['content-type', 'téxt/plain']] }),
  ];
  assert.deepEqual(
    refused.map(({ status }) => status),
    [421, 400, 400, 400, 413, 408, 405, 400],
  );
  for (const { problem, required } of refused) {
    assert.equal(problem.money, 'unknown', problem.code);
    assert.ok(problem.retry !== 'new_payment' && required === undefined, problem.code);
  }
  const unpaid = await shop.ask({ headers: [['host', 'elsewhere.example']] });
  assert.equal(unpaid.problem.money, 'unmoved');
});
