import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRig, read, requestOf, type Seen } from '../../test/rig.ts';
import { openTestShop } from '../../test/shop.ts';
import { encodePaymentRequired } from '../wire/index.ts';
import type { RouteOptions, RouteRequest } from './route.ts';

function open(more: Partial<RouteOptions<RouteRequest>>): (target: string) => Promise<Seen> {
  const { seller } = createRig();
  const { parse: _parse, ...settings } = {
    method: 'GET',
    path: '/weather',
    price: '$0.01',
    ...more,
  } as const;
  const route = seller.route(settings);
  return (target) => read(seller.charge(route, requestOf({ target }), () => assert.fail('the work ran')));
}

test('each 402 names its own URL, whether its route asks every request alike or not', async () => {
  for (const more of [
    {},
    { price: () => '$0.01' },
    { binding: 'required' },
    { binding: 'off', paymentId: 'off' },
  ] as const) {
    const ask = open(more);
    for (const target of ['/weather', '/weather?city=%22Bern%22', '/weather?city=Bern']) {
      const seen = await ask(target);
      assert.ok(seen.required);
      assert.equal(seen.required.resource.url, `https://api.example.com${target}`);
      assert.equal(seen.header('payment-required'), encodePaymentRequired(seen.required));
    }
  }
});

test('a 402 that asks every request alike still says why it was sent this time', async () => {
  const shop = openTestShop();
  const payment = await shop.payment();
  assert.equal((await shop.ask()).required?.error, 'payment_required');
  const elsewhere = await shop.ask({ payment, target: '/weather?city=Bern' });
  assert.equal(elsewhere.required?.error, 'resource_mismatch');
  assert.equal((await shop.ask()).required?.error, 'payment_required');
});

test('H09: a URL that leaves no room for terms is the request’s fault, and terms without room are the seller’s', async () => {
  const long = await open({})(`/weather?q=${'x'.repeat(7_900)}`);
  assert.deepEqual(
    [long.status, long.problem.code, long.problem.fields],
    [400, 'request_malformed', ['target']],
  );
  const shortened = await open({ description: 'long '.repeat(90) })(`/weather?q=${'x'.repeat(1_500)}`);
  assert.equal(shortened.status, 402);
  assert.ok((shortened.header('payment-required') ?? '').length <= 3 * 1024);
});
