/**
 * What a hostile reviewer tried against request binding that no other test had thought of: terms that nobody could
 * pay, a commitment that a sibling did not look at, numbers that only a buyer would write.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf, createRig, payTo, type Rig, read, requestOf, type Seen } from '../../test/rig.ts';
import { openTestShop } from '../../test/shop.ts';
import { signCommitted } from '../payment/index.ts';
import type { PaymentPayload, PaymentRequired } from '../wire/v2.ts';
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
