import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf, createRig } from '../../test/rig.ts';
import { openTestShop } from '../../test/shop.ts';
import { maxPaymentResponseLength } from './budget.ts';
import type { HeaderList } from './message.ts';
import type { RouteOptions, RouteRequest } from './route.ts';
import { limitsOf } from './settings.ts';

const base = { method: 'GET', path: '/weather', price: '$0.01' } as const;

function define(more: object): () => unknown {
  const { seller } = createRig();
  return () => seller.route({ ...base, ...more } as RouteOptions<RouteRequest> & { parse?: undefined });
}

test('what no route can be is a TypeError at the start that names it', () => {
  const wrong: readonly [object, RegExp][] = [
    [{ binding: 'strict' }, /binding/],
    [{ binding: 'required', freeParameters: ['utm'] }, /freeParameters/],
    [{ boundHeaders: ['Host'] }, /[Hh]eader/],
    [{ boundHeaders: ['x-forwarded-for'] }, /proxies/],
    [{ boundHeaders: ['payment-signature'] }, /[Hh]eader/],
    [{ quoteMs: 60_000 }, /quoteMs/],
    [{ quoteMs: 10, price: () => '$1' }, /quoteMs/],
    [{ quoteMs: 1e9, price: () => '$1' }, /quoteMs/],
    [{ maxHeaderBytes: 0 }, /maxHeaderBytes/],
    [{ maxHeaderBytes: 2_047 }, /at least 2048/],
    [{ paymentId: 'requierd' }, /paymentId/],
    [{ earlierPayment: 'on' }, /earlierPayment/],
    [{ redeliver: 'never' }, /redeliver/],
    [{ inProgressStatus: 200 }, /inProgressStatus/],
    [{ redirects: 'follow' }, /redirects/],
    [{ ranges: 'sold' }, /ranges/],
    [{ boundHeaders: 'cookie' }, /boundHeaders/],
    [{ freeParameters: 'utm' }, /freeParameters/],
    [{ freeParameters: [7] }, /freeParameters/],
    [{ path: 'weather' }, /path/i],
    [{ path: '/a*b*' }, /\*/],
    [{ description: 7 }, /description/],
    [{ validator: () => undefined }, /validator/],
  ];
  for (const [more, says] of wrong)
    assert.throws(
      define(more),
      (fault) => fault instanceof TypeError && says.test(fault.message),
      JSON.stringify(more),
    );
});

test('B01: what the seller says of all its routes is checked with each of them', () => {
  const misspelt = createRig({ binding: 'requierd' as 'required' });
  assert.throws(() => misspelt.seller.route(base), /binding is one of/);
  const strict = createRig({ binding: 'required' });
  assert.throws(() => strict.seller.route({ ...base, freeParameters: ['utm'] }), /freeParameters/);
  assert.equal(
    strict.seller.route({ ...base, binding: 'echoed', freeParameters: ['utm'] }).binding,
    'echoed',
  );
});

test('a route binds what changes the meaning of a body, and what it declares', () => {
  assert.deepEqual(limitsOf(base).boundHeaders, ['content-encoding', 'content-type']);
  assert.deepEqual(limitsOf({ ...base, boundHeaders: ['authorization'] }).boundHeaders, [
    'authorization',
    'content-encoding',
    'content-type',
  ]);
  assert.deepEqual(limitsOf({ ...base, ranges: 'sell' }).boundHeaders, [
    'content-encoding',
    'content-type',
    'if-range',
    'range',
  ]);
});

test('H07: a route that sells ranges shows them to its work, and a payment for one range buys no other', async () => {
  const shop = openTestShop({ route: { ranges: 'sell' } });
  shop.works(async ({ request }) => {
    const range = request.headers.find(([name]) => name === 'range')?.[1] ?? 'whole';
    return answerOf(range, range === 'whole' ? 200 : 206);
  });
  const range = (value: string): HeaderList => [['range', value]];
  const payment = await shop.payment();
  const first = await shop.ask({ payment, headers: range('bytes=0-9') });
  assert.deepEqual([first.status, first.text], [206, 'bytes=0-9']);
  assert.equal(first.header('cache-control'), 'private, no-store, no-transform');
  const second = await shop.ask({ payment, headers: range('bytes=10-19') });
  assert.deepEqual([second.status, second.problem.code], [409, 'payment_already_used']);
});

test('H09: an answer whose fields proxies would turn into a 502 is refused before it is charged', async () => {
  for (const [octets, status] of [
    [2_000, 200],
    [3_600, 500],
  ] as const) {
    const shop = openTestShop();
    shop.works(async () => answerOf('sunny', 200, [['x-large', 'x'.repeat(octets)]]));
    const seen = await shop.ask({ payment: await shop.payment() });
    assert.equal(seen.status, status);
    if (status === 200) {
      assert.ok((seen.header('payment-response') ?? '').length <= maxPaymentResponseLength);
      continue;
    }
    assert.deepEqual(
      [seen.problem.code, seen.problem.fields, seen.problem.money],
      ['answer_too_large', ['headers'], 'unmoved'],
    );
    assert.equal(shop.rig.calls.settle, 0);
  }
});

test('H09: once the money has moved, the largest fields are left out instead, and the observer is told', async () => {
  const shop = openTestShop({ route: { flow: 'upfront' } });
  shop.works(async () =>
    answerOf('sunny', 200, [
      ['x-large', 'x'.repeat(3_600)],
      ['x-small', 'kept'],
      ['surrogate-key', 'y'.repeat(3_600)],
    ]),
  );
  const seen = await shop.ask({ payment: await shop.payment() });
  assert.deepEqual(
    [seen.status, seen.text, seen.header('x-large'), seen.header('x-small')],
    [200, 'sunny', undefined, 'kept'],
  );
  assert.deepEqual(
    shop.rig.events.filter(({ event }) => event === 'shortened'),
    [{ event: 'shortened', route: 'GET /weather', fields: ['x-large'] }],
  );
});

test('H13: a facilitator is not told what was asked for in a query', async () => {
  const shop = openTestShop();
  const target = '/weather?patient=alice';
  let told = '';
  const { facilitator } = shop.rig.options;
  const seller = shop.rig.another({
    facilitator: {
      ...facilitator,
      settle: (question) => {
        told = JSON.stringify(question.payment);
        return facilitator.settle(question);
      },
    },
  });
  const payment = await shop.payment({ for: { target } });
  assert.equal((await shop.ask({ payment, target, seller })).status, 200);
  assert.match(told, /api\.example\.com\/weather"/);
  assert.doesNotMatch(told, /alice/);
});

test('H09, H13: a 402 says what the seller declared and nothing else, within 3 KiB', async () => {
  const shop = openTestShop({
    route: {
      description: 'Weather — jeder Stadt ☀',
      mimeType: 'text/plain',
      serviceName: 'Weather',
      tags: ['sky'],
      iconUrl: 'http://127.0.0.1/icon.png',
    },
  });
  const { required, header } = await shop.ask();
  assert.deepEqual(
    { ...required?.resource },
    {
      url: 'https://api.example.com/weather',
      description: 'Weather — jeder Stadt ☀',
      mimeType: 'text/plain',
      serviceName: 'Weather',
      tags: ['sky'],
    },
  );
  assert.ok((header('payment-required') ?? '').length < 3 * 1024);
  assert.match(header('payment-required') ?? '', /^[A-Za-z0-9+/]+=*$/);
  assert.deepEqual(
    shop.rig.events.filter(({ event }) => event === 'shortened'),
    [{ event: 'shortened', route: 'GET /weather', fields: ['iconUrl'] }],
  );
});
