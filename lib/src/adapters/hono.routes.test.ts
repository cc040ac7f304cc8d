/** One gate before a whole Hono application: prefixes, mounted applications, and what each route has parsed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Hono } from 'hono';
import { paidRoutes, probe } from './hono.ts';
import { openHono } from './rig/hono.ts';
import { codeOf } from './rig/shop.ts';

const terms = { price: '$0.01', binding: 'off' } as const;

test('H05: in a sub-application the gate still finds what the client has asked for', async (t) => {
  let runs = 0;
  const shop = await openHono(
    t,
    (app, seller, route) => {
      const api = new Hono();
      api.use(paidRoutes(seller, [route], { closed: ['/api'] }));
      api.get('/weather', (c) => {
        runs += 1;
        return c.text('sunny');
      });
      api.get('/secret', (c) => c.text('secret'));
      app.route('/api', api);
    },
    { path: '/api/weather' },
  );
  assert.equal((await shop.ask({ target: '/api/weather' })).status, 402);
  assert.equal(codeOf(await shop.ask({ target: '/api/secret' })), 'not_sold');
  assert.equal(runs, 0);
  assert.equal((await shop.buy({ target: '/api/weather' })).text, 'sunny');
});

test('H05: the self-test finds a gate that stands in a mounted application and sees no prefix', async (t) => {
  await openHono(
    t,
    (app, seller, route) => {
      const inner = new Hono();
      inner.use(paidRoutes(seller, [route], { closed: [] }));
      inner.get('/weather', (c) => c.text('sunny'));
      app.mount('/api', inner.fetch);
      t.after(() =>
        assert.rejects(seller.ready({ probe: probe(app) }), /GET \/api\/weather: .*without passing its gate/),
      );
    },
    { path: '/api/weather' },
  );
});

test('B11: each handler is told what its own route has parsed', async (t) => {
  const shop = await openHono(t, (app, seller) => {
    const count = seller.route({ ...terms, method: 'GET', path: '/count', parse: ({ url }) => url.length });
    const upper = seller.route({
      ...terms,
      method: 'POST',
      path: '/upper',
      parse: ({ body }) => new TextDecoder().decode(body).toUpperCase(),
    });
    const gate = paidRoutes(seller, [count, upper], { closed: [] });
    app.use(gate);
    app.on(['GET', 'POST'], ['/count', '/upper'], (c) => {
      const { parsed } = gate.context(c);
      return c.text(typeof parsed === 'number' ? `${parsed} characters` : parsed);
    });
  });
  assert.equal((await shop.buy({ target: '/count' })).text, '29 characters');
  assert.equal((await shop.buy({ method: 'POST', target: '/upper', body: 'sunny' })).text, 'SUNNY');
});

test('fields that were set before the gate stay on what it refuses', async (t) => {
  const shop = await openHono(t, (app, seller, route) => {
    app.use(async (c, next) => {
      c.header('Access-Control-Allow-Origin', '*');
      c.header('Cache-Control', 'public');
      await next();
    });
    app.use(paidRoutes(seller, [route], { closed: ['/'] }));
  });
  const { status, header } = await shop.ask({ target: '/secret' });
  assert.deepEqual(
    [status, header('access-control-allow-origin'), header('cache-control')],
    [404, '*', 'no-store'],
  );
});

test('a probe gives an application the bindings that it needs before the gate', async (t) => {
  await openHono(t, (app, seller, route) => {
    app.use(async (c, next) => {
      c.header('x-region', String(Reflect.get(Object(c.env), 'REGION')));
      await next();
    });
    app.use(paidRoutes(seller, [route], { closed: [] }));
    t.after(() => seller.ready({ probe: probe(app, { REGION: 'north' }) }));
  });
});
