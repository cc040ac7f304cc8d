/** H04 and H05: what a framework, or another one mounted in it, makes of the path that a mount prefix leaves. */
import assert from 'node:assert/strict';
import type { RequestListener } from 'node:http';
import { type TestContext, test } from 'node:test';
import express, { type Express } from 'express';
import { Hono } from 'hono';
import { createRig } from '../../test/rig.ts';
import { paidRoutes as expressGate } from './express.ts';
import { paidRoutes as honoGate } from './hono.ts';
import { serveHono } from './rig/hono.ts';
import { octets, open, serve } from './rig/wire.ts';

type Street = { readonly ask: (target: string) => Promise<number>; readonly runs: () => number };

/** Serves an application whose priced handler counts its runs. */
async function openStreet(t: TestContext, make: (run: () => void) => RequestListener): Promise<Street> {
  let runs = 0;
  const port = await serve(
    t,
    make(() => {
      runs += 1;
    }),
  );
  return {
    ask: async (target) => {
      const wire = open(port);
      wire.send(octets({ target }));
      await wire.closed;
      return Number(wire.soFar().split(' ')[1]);
    },
    runs: () => runs,
  };
}

/** An application with `/api/weather` and `/:tenant/weather` behind mount prefixes, gated or not. */
function mounted(run: () => void, isGated: boolean): Express {
  const app = express().set('env', 'test');
  const { seller } = createRig();
  const routes = ['/api/weather', '/:tenant/weather'].map((path) =>
    seller.route({ method: 'GET', path, price: '$0.01' }),
  );
  if (isGated) app.use(expressGate(seller, routes, { closed: [] }));
  const router = express.Router().get('/weather', (_request, response) => {
    run();
    response.send('sunny');
  });
  return app.use('/api', router).use('/:tenant', router);
}

/** Express runs the handler behind the prefix for each of these, though the path is another as it stands. */
const desynced = [
  '/api//u@h/weather#',
  '/api\\u@h/weather#',
  '/{xx/Aweather#',
  '/a"b/Aweather#',
  "http://api.example.com/'xx/A/weather",
  'http://api.example.com/{xx/A/weather',
  'http://api.example.com/api\\weather',
  'http://u@api.example.com/api/weather',
  'ws://api.example.com/api/weather',
];

test('H04: a target by which Express measures a prefix in one spelling and cuts it off in another is refused', async (t) => {
  const bare = await openStreet(t, (run) => mounted(run, false));
  const gated = await openStreet(t, (run) => mounted(run, true));
  for (const [at, target] of desynced.entries()) {
    assert.deepEqual([await bare.ask(target), bare.runs()], [200, at + 1], `${target} without a gate`);
    assert.deepEqual([await gated.ask(target), gated.runs()], [400, 0], target);
  }
  assert.equal(await gated.ask('/api/weather'), 402);
  assert.equal(await gated.ask('/anywhere/weather'), 402);
});

/** A fetch application mounted in Express, whose parser of URLs resolves what the prefix leaves. */
function honoInExpress(run: () => void, isGated: boolean): Express {
  const app = express().set('env', 'test');
  const { seller } = createRig();
  const weather = seller.route({ method: 'GET', path: '/api/weather', price: '$0.01' });
  if (isGated) app.use(expressGate(seller, [weather], { closed: [] }));
  const inner = new Hono().get('/weather', (c) => {
    run();
    return c.text('sunny');
  });
  return app.use('/api', serveHono(inner));
}

test('H05: dots that do not climb above a mounted application are no way around the gate', async (t) => {
  const bare = await openStreet(t, (run) => honoInExpress(run, false));
  const gated = await openStreet(t, (run) => honoInExpress(run, true));
  const bent = [
    '/api/weather',
    '/api/../weather',
    '/api/%2e%2e/weather',
    '/api/x/../../weather',
    '/api/x%2fy/../weather',
    '/api/./weather',
    '/api/%77eather',
  ];
  for (const [at, target] of bent.entries()) {
    assert.deepEqual([await bare.ask(target), bare.runs()], [200, at + 1], `${target} without a gate`);
    assert.deepEqual([await gated.ask(target), gated.runs()], [402, 0], target);
  }
});

/** A listener of one's own behind a prefix, that resolves what is left against a base. */
function listenerInExpress(run: () => void, isGated: boolean): Express {
  const app = express().set('env', 'test');
  const { seller } = createRig();
  const weather = seller.route({ method: 'GET', path: '/api/weather', price: '$0.01' });
  if (isGated) app.use(expressGate(seller, [weather], { closed: [] }));
  return app.use('/api', (request, response) => {
    if (new URL(request.url, 'http://localhost').pathname !== '/weather')
      return void response.sendStatus(404);
    run();
    response.send('sunny');
  });
}

test('H05: a path that begins like a reference to another host is read as one behind a prefix', async (t) => {
  const bare = await openStreet(t, (run) => listenerInExpress(run, false));
  const gated = await openStreet(t, (run) => listenerInExpress(run, true));
  for (const [at, target] of ['/api//host/weather', '/api///u@h:80/weather'].entries()) {
    assert.deepEqual([await bare.ask(target), bare.runs()], [200, at + 1], `${target} without a gate`);
    assert.deepEqual([await gated.ask(target), gated.runs()], [402, 0], target);
  }
});

test('H05: in applications of Hono that are routed or nested the gate goes by the whole target', async (t) => {
  const street = await openStreet(t, (run) => {
    const { seller } = createRig();
    const routes = ['/api/weather', '/api/deep/weather'].map((path) =>
      seller.route({ method: 'GET', path, price: '$0.01' }),
    );
    const sunny = new Hono().get('/weather', (c) => {
      run();
      return c.text('sunny');
    });
    const api = new Hono().use(honoGate(seller, routes, { closed: ['/api'] }));
    return serveHono(new Hono().route('/api', api.route('/', sunny).route('/deep', sunny)));
  });
  for (const [target, status] of Object.entries({
    '/api/weather': 402,
    '/api/deep/weather': 402,
    '/api/deep/../weather': 402,
    '/api/deep/%2e%2e/%77eather': 402,
    '/api/deeper/weather': 404,
    // The gate is of the application under /api, and so is what it guards.
    '/weather': 404,
  })) {
    assert.deepEqual([await street.ask(target), street.runs()], [status, 0], target);
  }
});
