/** The gate among Express's own ways: routers, parsers, error handlers, and middlewares on both of its sides. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import express, { type ErrorRequestHandler, type Request, type RequestHandler, type Response } from 'express';
import type { Seller } from '../seller/index.ts';
import { paid, paidHandler } from './express.ts';
import { openExpress } from './rig/express.ts';
import { paying } from './rig/shop.ts';
import { octets, open, until } from './rig/wire.ts';

/** Wraps `writeHead` as the usual middlewares do that set a field at the last moment. */
function atHead(set: (response: Parameters<RequestHandler>[1]) => void): RequestHandler {
  return (_request, response, next) => {
    const { writeHead } = response;
    response.writeHead = (...parts: unknown[]) => {
      set(response);
      return Reflect.apply(writeHead, response, parts);
    };
    next();
  };
}

/** Wraps `write` and `end` as a compressing middleware does. */
const shout: RequestHandler = (_request, response, next) => {
  const { write, end } = response;
  response.write = (chunk: unknown) => Reflect.apply(write, response, [String(chunk).toUpperCase()]);
  response.end = (chunk: unknown) => {
    if (!response.headersSent) response.removeHeader('content-length');
    return Reflect.apply(end, response, chunk === undefined ? [] : [String(chunk).toUpperCase()]);
  };
  next();
};

test('a handler behind the gate is told of its payment', async (t) => {
  const shop = await openExpress(t, (app, seller, route) => {
    const gate = paid(seller, route);
    app.get('/weather', gate, (request, response) => {
      const { payer, amount, attempt, idempotencyKey } = gate.context(request);
      response.json({ payer, amount: String(amount), attempt, once: idempotencyKey.endsWith('#1') });
    });
    app.get('/free', (request, response) => {
      assert.throws(() => gate.context(request), TypeError);
      response.json({});
    });
  });
  const answer = await shop.buy();
  assert.equal(answer.status, 200);
  const payer = shop.rig.buyer.address.toLowerCase();
  assert.deepEqual(JSON.parse(answer.text), { payer, amount: '10000', attempt: 1, once: true });
  assert.equal((await shop.ask({ target: '/free' })).status, 200);
});

test('paidHandler is gate and handler in one, and its exceptions go to the application', async (t) => {
  let fail = false;
  const shop = await openExpress(t, (app, seller, route) => {
    app.get(
      '/weather',
      paidHandler(seller, route, async (request: Request, response: Response, { payer }) => {
        await null;
        if (fail) throw new Error('swordfish');
        response.json({ payer, path: request.path });
      }),
    );
    app.use(((_fault, _request, response, _next) =>
      response.status(503).send('sorry')) satisfies ErrorRequestHandler);
  });
  assert.deepEqual(JSON.parse((await shop.buy()).text).path, '/weather');
  fail = true;
  const failed = await shop.buy();
  assert.deepEqual([failed.status, failed.text], [503, 'sorry']);
  assert.equal(shop.rig.calls.settle, 1);
});

test('H01: a HEAD that Express passes on to the GET route does not run the handler', async (t) => {
  let runs = 0;
  const shop = await openExpress(t, (app, seller, route) =>
    app.get('/weather', paid(seller, route), (_request, response) => {
      runs += 1;
      response.send('sunny');
    }),
  );
  assert.equal((await shop.ask({ method: 'HEAD' })).status, 402);
  assert.equal((await shop.ask(paying(await shop.payment(), { method: 'HEAD' }))).status, 405);
  assert.equal(runs, 0);
});

test('H05: behind a mount prefix the whole target is priced and bound', async (t) => {
  let url = '';
  const shop = await openExpress(t, (app, seller, route) => {
    const gate = paid(seller, route);
    const router = express.Router();
    router.get('/weather', gate, (request, response) => {
      url = gate.context(request).request.url;
      response.send('sunny');
    });
    app.use('/api', router);
  });
  const answer = await shop.buy({ target: '/api/weather?at=%2Fhome' });
  assert.deepEqual([answer.status, url], [200, 'https://api.example.com/api/weather?at=%2Fhome']);
});

test('H15: an application mounted behind the gate writes to nowhere else either', async (t) => {
  const shop = await openExpress(t, (app, seller, route) => {
    const inner = express();
    inner.use((_request, response) => {
      response.write('sun');
      response.end('ny');
    });
    app.use('/weather', paid(seller, route), inner);
  });
  const settle = Promise.withResolvers<void>();
  shop.rig.settles.push({ says: 'success', before: settle.promise });
  const wire = open(shop.port);
  wire.send(octets(paying(await shop.payment())));
  await until(() => shop.rig.calls.settle === 1);
  assert.equal(wire.soFar(), '');
  settle.resolve();
  assert.deepEqual(
    (await wire.answers()).map(({ status, text }) => [status, text]),
    [[200, 'sunny']],
  );
});

test('parsers behind the gate read the body', async (t) => {
  const shop = await openExpress(
    t,
    (app, seller, route) =>
      app.post('/weather', paid(seller, route), express.json(), (request, response) => {
        response.json({ asked: request.body });
      }),
    { method: 'POST' },
  );
  const answer = await shop.buy({
    method: 'POST',
    body: '{"where":"here"}',
    headers: [['content-type', 'application/json']],
  });
  assert.deepEqual([answer.status, answer.text], [200, '{"asked":{"where":"here"}}']);
});

test('a gate behind a parser says so at the first request, and sells nothing', async (t) => {
  const faults: unknown[] = [];
  const shop = await openExpress(
    t,
    (app, seller, route) => {
      app.use(express.json());
      app.post('/weather', paid(seller, route), (_request, response) => void response.send('sunny'));
      app.use(((fault, _request, response, _next) => {
        faults.push(fault);
        response.status(500).end();
      }) satisfies ErrorRequestHandler);
    },
    { method: 'POST' },
  );
  const answer = await shop.ask({
    method: 'POST',
    body: '{}',
    headers: [['content-type', 'application/json']],
  });
  assert.equal(answer.status, 500);
  assert.match(String(faults[0]), /TypeError: .*Mount the gate before every body parser/);
});

test('H14: an error that only Express’s last resort answers is not charged for and shows no stack in production', async (t) => {
  const log = t.mock.method(console, 'error', () => {});
  const shop = await openExpress(t, (app, seller, route) => {
    app.set('env', 'production');
    app.get('/weather', paid(seller, route), () => {
      throw new Error('swordfish');
    });
  });
  const answer = await shop.buy();
  assert.equal(answer.status, 500);
  assert.doesNotMatch(answer.text, /swordfish|express\.test/);
  await until(() => log.mock.callCount() === 1);
  assert.equal(shop.rig.calls.settle, 0);
});

test('a second gate before one handler is a mistake that says so, and nobody is charged', async (t) => {
  const faults: unknown[] = [];
  const shop = await openExpress(t, (app, seller, route) => {
    app.use('/weather', paid(seller, route));
    app.get('/weather', paid(seller, route), (_request, response) => void response.send('sunny'));
    app.use(((fault, _request, response, _next) => {
      faults.push(fault);
      response.status(500).send('sorry');
    }) satisfies ErrorRequestHandler);
  });
  assert.deepEqual([(await shop.buy()).status, shop.rig.calls.settle], [500, 0]);
  assert.ok(faults[0] instanceof TypeError && /one is enough/.test(faults[0].message));
});

test('a route that turns out not to exist is not charged for', async (t) => {
  const shop = await openExpress(t, (app, seller, route) =>
    app.get('/weather', paid(seller, route), (_request, _response, next) => next('route')),
  );
  assert.equal((await shop.buy()).status, 404);
  assert.equal(shop.rig.calls.settle, 0);
});

test('middlewares before the gate see the real answer, those behind it the handler’s', async (t) => {
  const logged: string[] = [];
  const shop = await openExpress(t, (app, seller, route) => {
    app.use(atHead((response) => response.setHeader('x-outer', String(response.statusCode))));
    app.use(shout, (_request, response, next) => {
      response.once('finish', () => logged.push(`outer ${response.statusCode}`));
      next();
    });
    app.use('/weather', paid(seller, route));
    app.use(
      atHead((response) => response.setHeader('x-inner', String(response.statusCode))),
      (_request, response, next) => {
        response.once('finish', () => logged.push('inner'));
        next();
      },
    );
    app.get('/weather', (_request, response) => void response.status(201).send('sunny'));
  });
  shop.rig.settles.push({
    lands: false,
    says: {
      kind: 'answer',
      status: 200,
      body: { success: false, errorReason: 'insufficient_funds', transaction: '', network: 'eip155:31337' },
    },
  });
  const refused = await shop.buy();
  assert.deepEqual([refused.status, refused.header('x-inner')], [402, undefined]);
  assert.match(refused.text, /SETTLEMENT_REFUSED/);
  const sold = await shop.buy();
  assert.deepEqual(
    [sold.status, sold.text, sold.header('x-inner'), sold.header('x-outer')],
    [201, 'SUNNY', '201', '201'],
  );
  assert.deepEqual(logged, ['outer 402', 'inner', 'outer 402', 'outer 402', 'inner', 'outer 201']);
});

test('a middleware before the gate that sets a field when the answer ends costs neither terms nor answer', async (t) => {
  const shop = await openExpress(t, (app, seller, route) => {
    app.use((_request, response, next) => {
      const { end } = response;
      response.end = (...parts: unknown[]) => {
        response.setHeader('x-time', '7');
        return Reflect.apply(end, response, parts);
      };
      next();
    });
    app.get('/weather', paid(seller, route), (_request, response) => void response.send('sunny'));
  });
  const unpaid = await shop.ask();
  assert.deepEqual([unpaid.status, unpaid.header('x-time')], [402, '7']);
  const sold = await shop.buy();
  assert.deepEqual([sold.status, sold.text, sold.header('x-time')], [200, 'sunny', '7']);
});

test('a time-out that a handler sets is answered by the handler and does not close the buyer’s connection', async (t) => {
  const shop = await openExpress(t, (app, seller, route) =>
    app.get('/weather', paid(seller, route), (_request, response) => {
      response.setTimeout(1, () => void response.status(503).send('too busy'));
    }),
  );
  const answer = await shop.buy();
  assert.deepEqual([answer.status, answer.text, shop.rig.calls.settle], [503, 'too busy', 0]);
});

test('a middleware behind the gate that rewrites the answer is part of the work', async (t) => {
  const shop = await openExpress(t, (app, seller, route) =>
    app.get('/weather', paid(seller, route), shout, (_request, response) => {
      response.write('sun');
      response.end('ny');
    }),
  );
  const payment = await shop.payment();
  assert.equal((await shop.ask(paying(payment))).text, 'SUNNY');
  assert.equal((await shop.ask(paying(payment))).text, 'SUNNY');
});

test('files are sent as answers, and a missing one is not charged for', async (t) => {
  const shop = await openExpress(t, (app, seller, route) => {
    app.get(['/weather', '/missing'], paid(seller, route), (request, response) =>
      response.sendFile(request.path === '/missing' ? '/missing.txt' : fileURLToPath(import.meta.url)),
    );
    app.use(((fault, _request, response, _next) =>
      response.sendStatus(fault.status)) satisfies ErrorRequestHandler);
  });
  const answer = await shop.buy();
  assert.equal(answer.status, 200);
  assert.match(answer.text, /files are sent as answers/);
  assert.equal((await shop.buy({ target: '/missing' })).status, 404);
  assert.equal(shop.rig.calls.settle, 1);
});

test('S10: a file goes on being read when its buyer leaves', async (t) => {
  let started = 0;
  const work = Promise.withResolvers<void>();
  const shop = await openExpress(t, (app, seller, route) =>
    app.get('/weather', paid(seller, route), async (_request, response) => {
      started += 1;
      await work.promise;
      response.sendFile(fileURLToPath(import.meta.url));
    }),
  );
  const payment = await shop.payment();
  const wire = open(shop.port);
  wire.send(octets(paying(payment)));
  await until(() => started === 1);
  await wire.leave();
  work.resolve();
  await until(() => shop.rig.events.some((event) => event.event === 'delivered'));
  const answer = await shop.ask(paying(payment));
  assert.deepEqual([answer.status, started, shop.rig.calls.settle], [200, 1, 1]);
});

test('a handler that is cut off and answers later disturbs neither this answer nor the connection', async (t) => {
  const late = Promise.withResolvers<void>();
  const done = Promise.withResolvers<void>();
  const shop = await openExpress(
    t,
    (app, seller, route) =>
      app.get('/weather', paid(seller, route), async (_request, response) => {
        await late.promise;
        response.json({ late: true });
        done.resolve();
      }),
    { workMs: 1000 },
  );
  const wire = open(shop.port);
  wire.send(octets(paying(await shop.payment(), { connection: 'keep-alive' })));
  await until(() => shop.rig.events.some((event) => event.event === 'taken'));
  await shop.rig.clock.advance(1000);
  const [cut] = await wire.answers(1);
  assert.equal(cut?.status, 500);
  late.resolve();
  await done.promise;
  wire.send(octets({ connection: 'close' }));
  const answers = await wire.answers(2);
  assert.deepEqual(
    answers.map(({ status }) => status),
    [500, 402],
  );
});

test('a handler that fails in the middle of its answer is answered, not cut off', async (t) => {
  const log = t.mock.method(console, 'error', () => {});
  const shop = await openExpress(t, (app, seller, route) =>
    app.get('/weather', paid(seller, route), (_request, response) => {
      response.write('sun');
      throw new Error('swordfish');
    }),
  );
  const answer = await shop.buy();
  assert.deepEqual([answer.status, JSON.parse(answer.text).code], [500, 'work_failed']);
  await until(() => log.mock.callCount() === 1);
  assert.equal(shop.rig.calls.settle, 0);
});

test('a handler that fails after its answer does not take the connection down', async (t) => {
  const log = t.mock.method(console, 'error', () => {});
  const shop = await openExpress(t, (app, seller, route) =>
    app.get('/weather', paid(seller, route), async (_request, response) => {
      await new Promise<void>((resolve) => response.end('sunny', resolve));
      await until(() => shop.rig.events.some((event) => event.event === 'delivered'));
      throw new Error('swordfish');
    }),
  );
  const wire = open(shop.port);
  wire.send(octets(paying(await shop.payment(), { connection: 'keep-alive' })));
  await until(() => log.mock.callCount() === 1);
  wire.send(octets());
  assert.deepEqual(
    (await wire.answers(2)).map(({ status }) => status),
    [200, 402],
  );
});

test('requests sent at once on one connection are answered in order', async (t) => {
  const shop = await openExpress(t, (app, seller, route) =>
    app.get(
      '/weather',
      paid(seller, route),
      (request, response) => void response.send(String(request.query.n)),
    ),
  );
  const asked = [1, 2, 3].map((n) => ({ target: `/weather?n=${n}`, connection: 'keep-alive' as const }));
  const requests: string[] = [];
  for (const one of asked) requests.push(octets(paying(await shop.payment(one), one)));
  const wire = open(shop.port);
  wire.send(requests.join(''));
  const answers = await wire.answers(3);
  wire.socket.destroy();
  assert.deepEqual(
    answers.map(({ status, text }) => [status, text]),
    [
      [200, '1'],
      [200, '2'],
      [200, '3'],
    ],
  );
});

test('a charge that breaks its word not to reject is the application’s error', async (t) => {
  const shop = await openExpress(t, (app, _seller, route) => {
    app.get('/weather', paid({ charge: () => Promise.reject(new Error('broken')) }, route));
    app.use(((fault, _request, response, _next) =>
      response.status(500).send(fault.message)) satisfies ErrorRequestHandler);
  });
  assert.equal((await shop.ask()).text, 'broken');
});

test('a charge that fails after the handler ran is the application’s error too, on the real response', async (t) => {
  const shop = await openExpress(t, (app, seller, route) => {
    const charge: Seller['charge'] = async (...parts) => {
      const delivery = await seller.charge(...parts);
      if (delivery.answer.status === 402) return delivery;
      throw new Error('broken');
    };
    app.get('/weather', paid({ charge }, route), (_request, response) => void response.send('sunny'));
    app.use(((fault, _request, response, _next) =>
      response.status(500).send(fault.message)) satisfies ErrorRequestHandler);
  });
  assert.equal((await shop.buy()).text, 'broken');
});
