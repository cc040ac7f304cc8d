/** The gate on the platforms that Hono runs on, and among middlewares that hand a request on as another one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import { etag } from 'hono/etag';
import { methodOverride } from 'hono/method-override';
import type { RouteRequest, Seller, SellerRequest } from '../seller/index.ts';
import { decodePaymentRequired, encodePaymentSignature } from '../wire/index.ts';
import { type Gate, paid } from './hono.ts';
import { bridge } from './rig/bridge.ts';
import { openHono, serveHono } from './rig/hono.ts';
import { openShop, paying } from './rig/shop.ts';

test('an application with its own bindings and variables takes a gate as it is', async (t) => {
  type Env = { readonly Bindings: HttpBindings; readonly Variables: { readonly user: string } };
  const shop = await openShop(t, (seller, route) => {
    const app = new Hono<Env>();
    const gate: Gate<RouteRequest> = paid(seller, route);
    app.use('/weather', async (c, next) => {
      c.set('user', 'ada');
      await next();
    });
    app.get('/weather', gate, (c) => c.text(`${c.var.user} from ${c.env.incoming.socket.remoteAddress}`));
    return serveHono(app as unknown as Hono);
  });
  assert.equal((await shop.buy()).text, 'ada from 127.0.0.1');
});

test('H03: a method override before the gate decides what is judged, and one behind it fails closed', async (t) => {
  const ran: string[] = [];
  const header = 'X-HTTP-Method-Override';
  const shop = await openShop(
    t,
    (seller, route) => {
      const app = new Hono();
      app.use('/before/*', methodOverride({ app, header }));
      const gate = paid(seller, route);
      for (const path of ['/before/weather', '/behind/weather'])
        app.delete(path, gate, (c) => {
          ran.push(`${gate.context(c).request.method} ${c.req.method}`);
          return c.text('gone');
        });
      app.post('/behind/weather', methodOverride({ app, header }), (c) => c.text('free'));
      return bridge(async (request) => app.fetch(request));
    },
    { method: 'DELETE' },
  );
  const asked = { method: 'POST', body: '', headers: [[header, 'DELETE']] as const };
  const before = await shop.buy({ ...asked, target: '/before/weather' });
  assert.deepEqual([before.status, ran, shop.rig.calls.settle], [200, ['DELETE DELETE'], 1]);
  assert.equal((await shop.ask({ ...asked, target: '/behind/weather' })).status, 402);
});

test('H03: a method override behind the gate is paid for nothing', async (t) => {
  let runs = 0;
  const shop = await openShop(
    t,
    (seller, route) => {
      const app = new Hono();
      app.use('/weather', paid(seller, route));
      app.use('/weather', methodOverride({ app, form: '_method' }));
      app.on(['POST', 'DELETE'], '/weather', (c) => {
        runs += 1;
        return c.text(c.req.method);
      });
      return bridge(async (request) => app.fetch(request));
    },
    { method: 'POST' },
  );
  const answer = await shop.buy({
    method: 'POST',
    body: '_method=DELETE',
    headers: [['content-type', 'application/x-www-form-urlencoded']],
  });
  assert.notEqual(answer.status, 200);
  assert.deepEqual([runs, shop.rig.calls.settle, shop.rig.ledger.landed.size], [0, 0, 0]);
});

test('H07: an etag middleware behind the gate answers no condition of a buyer', async (t) => {
  const shop = await openHono(t, (app, seller, route) =>
    app.get('/weather', paid(seller, route), etag(), (c) => c.text('sunny')),
  );
  const known = (await shop.buy()).header('etag') ?? '';
  assert.match(known, /"/);
  const answer = await shop.buy({ headers: [['If-None-Match', known]] });
  assert.deepEqual([answer.status, answer.text], [200, 'sunny']);
});

/** A seller that only looks at what it is handed. */
function looking(seen: SellerRequest[]): Pick<Seller, 'charge'> {
  return {
    charge: async (_route, request) => {
      seen.push(request);
      return { answer: { status: 402, headers: [], body: new Uint8Array() }, written: async () => {} };
    },
  };
}

test('H10: the seller is told the peer by Node’s server, or by whoever knows better', async (t) => {
  const seen: SellerRequest[] = [];
  const shop = await openHono(t, (app, _seller, route) => {
    app.get('/weather', paid(looking(seen), route));
    app.get('/known', paid(looking(seen), route, { peer: (c) => c.req.header('x-peer') }));
  });
  await shop.ask();
  await shop.ask({ target: '/known', headers: [['X-Peer', '192.0.2.1']] });
  await shop.ask({ target: '/known' });
  assert.deepEqual(
    seen.map(({ peer }) => peer),
    ['127.0.0.1', '192.0.2.1', undefined],
  );
  const { route } = shop;
  assert.throws(() => paid(looking(seen), route, { pear: 1 } as object), TypeError);
});

test('on a platform without Node the bindings and the execution context are left as they are', async (t) => {
  const shop = await openHono(t, () => {});
  const env = { KV: { get: () => 'sunny' } };
  const execution = { waitUntil: () => {}, passThroughOnException: () => {}, props: {} };
  const app = new Hono<{ readonly Bindings: typeof env }>();
  app.get('/weather', paid(shop.rig.seller, shop.route), (c) => {
    assert.equal(c.env, env);
    assert.equal(c.executionCtx, execution);
    return c.text(c.env.KV.get());
  });
  const url = 'https://api.example.com/weather';
  const required = (await app.fetch(new Request(url), env, execution)).headers.get('payment-required');
  assert.ok(required);
  const terms = decodePaymentRequired(required);
  assert.ok(terms.ok);
  const payment = encodePaymentSignature(await shop.rig.pay(terms.value));
  const paying = new Request(url, { headers: { 'PAYMENT-SIGNATURE': payment } });
  const answer = await app.fetch(paying, env, execution);
  assert.deepEqual([answer.status, await answer.text()], [200, 'sunny']);
});

test('the server’s own Request and Response, which it puts in the place of the global ones, are as good', async (t) => {
  const own = { Request: globalThis.Request, Response: globalThis.Response };
  t.after(() => {
    for (const [name, value] of Object.entries(own)) Object.defineProperty(globalThis, name, { value });
  });
  const shop = await openShop(
    t,
    (seller, route) => {
      const app = new Hono();
      app.use(async (c, next) => {
        c.header('x-id', '7');
        await next();
      });
      app.post('/weather', paid(seller, route), async (c) => c.text((await c.req.text()).toUpperCase()));
      return getRequestListener(app.fetch);
    },
    { method: 'POST' },
  );
  assert.notEqual(globalThis.Response, own.Response);
  const asked = { method: 'POST', body: 'sunny' };
  const payment = await shop.payment(asked);
  for (const answer of [await shop.ask(paying(payment, asked)), await shop.ask(paying(payment, asked))])
    assert.deepEqual([answer.status, answer.text, answer.header('x-id')], [200, 'SUNNY', '7']);
  assert.equal(shop.rig.calls.settle, 1);
});
