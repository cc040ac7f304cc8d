/** One gate before a whole Express application: prefixes, rewritten targets, and what each route has parsed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import express, { type ErrorRequestHandler, type RequestHandler } from 'express';
import methodOverride from 'method-override';
import { paid, paidRoutes, probe } from './express.ts';
import { openExpress } from './rig/express.ts';
import { codeOf } from './rig/shop.ts';

const terms = { price: '$0.01', binding: 'off' } as const;

test('H05: mounted under a prefix the gate still finds what the client has asked for', async (t) => {
  let runs = 0;
  const shop = await openExpress(
    t,
    (app, seller, route) => {
      const api = express.Router();
      api.use(paidRoutes(seller, [route], { closed: ['/api'] }));
      api.get('/weather', (_request, response) => {
        runs += 1;
        response.send('sunny');
      });
      api.get('/secret', (_request, response) => void response.send('secret'));
      app.use('/api', api);
    },
    { path: '/api/weather' },
  );
  assert.equal((await shop.ask({ target: '/api/weather' })).status, 402);
  assert.equal((await shop.ask({ target: '/api/weather/' })).status, 402);
  assert.equal(codeOf(await shop.ask({ target: '/api/secret' })), 'not_sold');
  assert.equal(runs, 0);
  assert.equal((await shop.buy({ target: '/api/weather' })).text, 'sunny');
});

test('H05: the self-test finds a route whose path was written without its prefix', async (t) => {
  const shop = await openExpress(t, (app, seller, route) => {
    const api = express.Router();
    api.use(paidRoutes(seller, [route], { closed: [] }));
    api.get('/weather', (_request, response) => void response.send('sunny'));
    app.use('/api', api);
    t.after(() =>
      assert.rejects(seller.ready({ probe: probe(app) }), /GET \/weather: .*without passing its gate/),
    );
  });
  // What the self-test is for: this one is given away.
  assert.equal((await shop.ask({ target: '/api/weather' })).text, 'sunny');
});

test('H05: the self-test comes by https, as far as a proxy can say so', async (t) => {
  await openExpress(t, (app, seller, route) => {
    app.set('trust proxy', 'loopback');
    app.use((request, response, next) => {
      if (request.secure) next();
      else response.redirect(`https://api.example.com${request.url}`);
    });
    app.get('/weather', paid(seller, route), (_request, response) => void response.send('sunny'));
    t.after(() => seller.ready({ probe: probe(app) }));
  });
});

test('H05: the self-test finds a gate behind a body parser, which would sell nothing', async (t) => {
  await openExpress(
    t,
    (app, seller, route) => {
      app.use(express.json());
      app.post('/weather', paid(seller, route), (_request, response) => void response.send('sunny'));
      const loud: ErrorRequestHandler = (_fault, _request, response, _next) => void response.sendStatus(500);
      app.use(loud);
      t.after(() =>
        assert.rejects(seller.ready({ probe: probe(app) }), /POST \/weather: .*500 without.*body parser/),
      );
    },
    { method: 'POST' },
  );
});

test('H03: method-override behind the gate makes no sold method of a free one', async (t) => {
  const ran: string[] = [];
  const shop = await openExpress(
    t,
    (app, seller, route) => {
      app.use(paidRoutes(seller, [route], { closed: [], free: ['POST /weather'] }));
      app.use(methodOverride('_method'));
      for (const method of ['get', 'post', 'delete'] as const)
        app[method]('/{*path}', (request, response) => {
          ran.push(`${request.method} ${request.path}`);
          response.send('done');
        });
      const loud: ErrorRequestHandler = (_fault, _request, response, _next) => void response.sendStatus(500);
      app.use(loud);
    },
    { method: 'GET' },
  );
  const post = async (target: string): Promise<number> => (await shop.ask({ method: 'POST', target })).status;
  assert.deepEqual([await post('/weather?_method=GET'), await post('/weather?_method=DELETE')], [500, 500]);
  assert.deepEqual(ran, []);
  assert.deepEqual([await post('/weather'), await post('/elsewhere?_method=DELETE')], [200, 200]);
  assert.deepEqual(ran, ['POST /weather', 'DELETE /elsewhere']);
});

/** Rewrites the target before the gate, as a module for friendly addresses does. */
function rewrite(from: string, to: string): RequestHandler {
  return (request, _response, next) => {
    if (request.path === from) request.url = to;
    next();
  };
}

test('H04: a target that is rewritten to a priced one before the gate is priced', async (t) => {
  const faults: unknown[] = [];
  let runs = 0;
  const shop = await openExpress(t, (app, seller, route) => {
    const storm = seller.route({ method: 'GET', path: '/storm', ...terms });
    app.use(rewrite('/old', '/weather'), rewrite('/weather/free', '/about'), rewrite('/storm', '/weather'));
    app.use(paidRoutes(seller, [route, storm], { closed: ['/weather'] }));
    app.get(['/weather', '/storm', '/about'], (_request, response) => {
      runs += 1;
      response.send('sunny');
    });
    app.use(((fault, _request, response, _next) => {
      faults.push(fault);
      response.status(500).send('sorry');
    }) satisfies ErrorRequestHandler);
  });
  assert.equal((await shop.ask({ target: '/old' })).status, 402);
  assert.equal((await shop.ask({ target: '/weather/free' })).status, 404);
  assert.equal((await shop.ask({ target: '/storm' })).status, 500);
  assert.match(String(faults[0]), /from one priced route to another/);
  assert.equal(runs, 0);
  assert.equal((await shop.buy({ target: '/old' })).text, 'sunny');
});

test('B11: each handler is told what its own route has parsed', async (t) => {
  const shop = await openExpress(t, (app, seller) => {
    const count = seller.route({ ...terms, method: 'GET', path: '/count', parse: ({ url }) => url.length });
    const upper = seller.route({
      ...terms,
      method: 'POST',
      path: '/upper',
      parse: ({ body }) => new TextDecoder().decode(body).toUpperCase(),
    });
    const gate = paidRoutes(seller, [count, upper], { closed: [] });
    app.use(gate);
    app.all(['/count', '/upper'], (request, response) => {
      const { parsed } = gate.context(request);
      response.send(typeof parsed === 'number' ? `${parsed} characters` : parsed);
    });
  });
  assert.equal((await shop.buy({ target: '/count' })).text, '29 characters');
  assert.equal((await shop.buy({ method: 'POST', target: '/upper', body: 'sunny' })).text, 'SUNNY');
});

test('fields that were set before the gate stay on what it refuses', async (t) => {
  const shop = await openExpress(t, (app, seller, route) => {
    app.use((_request, response, next) => {
      response.set({ 'Access-Control-Allow-Origin': '*', 'Cache-Control': 'public' });
      next();
    });
    app.use(paidRoutes(seller, [route], { closed: ['/'] }));
  });
  const { status, header } = await shop.ask({ target: '/secret' });
  assert.deepEqual(
    [status, header('access-control-allow-origin'), header('cache-control')],
    [404, '*', 'no-store'],
  );
});
