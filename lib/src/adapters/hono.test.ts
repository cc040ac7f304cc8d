/** The gate among Hono's own ways: sub-applications, validators, error handlers, and middlewares on both of its sides. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { cors } from 'hono/cors';
import { HTTPException } from 'hono/http-exception';
import { validator } from 'hono/validator';
import type { Seller } from '../seller/index.ts';
import { paid, paidHandler } from './hono.ts';
import { openHono } from './rig/hono.ts';
import { codeOf, paying } from './rig/shop.ts';
import { octets, open, until } from './rig/wire.ts';

const refused = {
  lands: false,
  says: {
    kind: 'answer',
    status: 200,
    body: { success: false, errorReason: 'insufficient_funds', transaction: '', network: 'eip155:31337' },
  },
} as const;

test('a handler behind the gate is told of its payment', async (t) => {
  const shop = await openHono(t, (app, seller, route) => {
    const gate = paid(seller, route);
    app.get('/weather', gate, (c) => {
      const { payer, amount, attempt, idempotencyKey } = gate.context(c);
      return c.json({ payer, amount: String(amount), attempt, once: idempotencyKey.endsWith('#1') });
    });
    app.get('/free', (c) => {
      assert.throws(() => gate.context(c), TypeError);
      return c.json({});
    });
  });
  const answer = await shop.buy();
  assert.equal(answer.status, 200);
  const payer = shop.rig.buyer.address.toLowerCase();
  assert.deepEqual(JSON.parse(answer.text), { payer, amount: '10000', attempt: 1, once: true });
  assert.equal((await shop.ask({ target: '/free' })).status, 200);
});

test('paidHandler is gate and handler in one, and what it throws fails the work', async (t) => {
  let fault: unknown;
  const seen: unknown[] = [];
  const shop = await openHono(t, (app, seller, route) => {
    app.use(async (c, next) => {
      await next();
      seen.push(c.error);
    });
    app.get(
      '/weather',
      paidHandler(seller, route, async (c, { payer }) => {
        await null;
        if (fault !== undefined) throw fault;
        return c.json({ payer, path: c.req.path });
      }),
    );
  });
  assert.deepEqual(JSON.parse((await shop.buy()).text), {
    payer: shop.rig.buyer.address.toLowerCase(),
    path: '/weather',
  });
  fault = new HTTPException(503, { message: 'sorry' });
  const failed = await shop.buy();
  assert.deepEqual([failed.status, failed.text, seen.at(-1)], [503, 'sorry', fault]);
  fault = new Error('swordfish');
  const broken = await shop.buy();
  assert.deepEqual([codeOf(broken), seen.at(-1)], ['work_failed', fault]);
  assert.doesNotMatch(broken.text, /swordfish/);
  assert.equal(shop.rig.calls.settle, 1);
});

test('a paid handler that gives no response is not charged for', async (t) => {
  const shop = await openHono(t, (app, seller, route) => {
    app.get('/weather', paidHandler(seller, route, { handler: () => undefined as unknown as Response }));
  });
  assert.equal(codeOf(await shop.buy()), 'work_failed');
  assert.equal(shop.rig.calls.settle, 0);
});

test('H01: a HEAD that Hono passes on to the GET route does not run the handler', async (t) => {
  let runs = 0;
  const shop = await openHono(t, (app, seller, route) =>
    app.get('/weather', paid(seller, route), (c) => {
      runs += 1;
      return c.text('sunny');
    }),
  );
  assert.equal((await shop.ask({ method: 'HEAD' })).status, 402);
  assert.equal((await shop.ask(paying(await shop.payment(), { method: 'HEAD' }))).status, 405);
  assert.equal(runs, 0);
});

test('H05: in a sub-application the whole target is priced and bound', async (t) => {
  let url = '';
  const shop = await openHono(t, (app, seller, route) => {
    const gate = paid(seller, route);
    const inner = new Hono().get('/weather', gate, (c) => {
      url = gate.context(c).request.url;
      return c.text('sunny');
    });
    inner.onError((_fault, c) => c.text('sorry', 500));
    app.route('/api', inner);
  });
  const answer = await shop.buy({ target: '/api/weather?at=%2Fhome' });
  assert.deepEqual([answer.status, url], [200, 'https://api.example.com/api/weather?at=%2Fhome']);
});

test('parsers and validators behind the gate read the body', async (t) => {
  const shop = await openHono(
    t,
    (app, seller, route) =>
      app.post(
        '/weather',
        paid(seller, route),
        bodyLimit({ maxSize: 100 }),
        validator('json', (asked: unknown) => asked),
        async (c) => c.json({ asked: await c.req.json(), form: await c.req.parseBody() }),
      ),
    { method: 'POST' },
  );
  const answer = await shop.buy({
    method: 'POST',
    body: '{"where":"here"}',
    headers: [['content-type', 'application/json']],
  });
  assert.deepEqual([answer.status, answer.text], [200, '{"asked":{"where":"here"},"form":{}}']);
});

test('a gate behind a parser says so at the first request, and sells nothing', async (t) => {
  const faults: unknown[] = [];
  const shop = await openHono(
    t,
    (app, seller, route) => {
      app.post(
        '/weather',
        validator('json', (asked: unknown) => asked),
        paid(seller, route),
        (c) => c.text('sunny'),
      );
      app.onError((fault, c) => {
        faults.push(fault);
        return c.body(null, 500);
      });
    },
    { method: 'POST' },
  );
  const answer = await shop.ask({
    method: 'POST',
    body: '{}',
    headers: [['content-type', 'application/json']],
  });
  assert.equal(answer.status, 500);
  assert.match(String(faults[0]), /TypeError: .*read before the payment gate/);
});

test('what the application’s onError says to a fault of the work is the work’s answer, and is not charged for', async (t) => {
  let fault: Error = new HTTPException(418, { message: 'teapot' });
  const shop = await openHono(t, (app, seller, route) => {
    app.get('/weather', paid(seller, route), () => {
      throw fault;
    });
    app.onError((thrown, c) =>
      thrown instanceof HTTPException ? thrown.getResponse() : c.text('sorry', 503, { 'x-why': 'clouds' }),
    );
  });
  const teapot = await shop.buy();
  assert.deepEqual([teapot.status, teapot.text], [418, 'teapot']);
  fault = new Error('swordfish');
  const sorry = await shop.buy();
  assert.deepEqual([sorry.status, sorry.text, sorry.header('x-why')], [503, 'sorry', 'clouds']);
  assert.match(sorry.header('counterfoil-payment') ?? '', /code=work_failed; money=unmoved/);
  assert.equal(shop.rig.calls.settle, 0);
});

test('H14: an error that only Hono’s last resort answers is not charged for and shows nothing', async (t) => {
  const log = t.mock.method(console, 'error', () => {});
  const shop = await openHono(t, (app, seller, route) => {
    app.get('/weather', paid(seller, route), () => {
      throw new Error('swordfish');
    });
  });
  const answer = await shop.buy();
  assert.deepEqual([answer.status, answer.text], [500, 'Internal Server Error']);
  assert.deepEqual([log.mock.callCount(), shop.rig.calls.settle], [1, 0]);
});

test('a second gate before one handler is a mistake that says so, and nobody is charged', async (t) => {
  const faults: unknown[] = [];
  const shop = await openHono(t, (app, seller, route) => {
    app.use('/weather', paid(seller, route));
    app.get('/weather', paid(seller, route), (c) => c.text('sunny'));
    app.onError((fault, c) => {
      faults.push(fault);
      return c.text('sorry', 500);
    });
  });
  assert.deepEqual([(await shop.buy()).status, shop.rig.calls.settle], [500, 0]);
  assert.ok(faults[0] instanceof TypeError && /one is enough/.test(faults[0].message));
});

test('a route that turns out not to exist is not charged for', async (t) => {
  const shop = await openHono(t, (app, seller, route) =>
    app.get('/weather', paid(seller, route), async (_c, next) => next()),
  );
  assert.equal((await shop.buy()).status, 404);
  assert.equal(shop.rig.calls.settle, 0);
});

test('fields that were set before the gate stay on a refusal and on an answer, those for caches excepted', async (t) => {
  const shop = await openHono(t, (app, seller, route) => {
    app.use(cors({ origin: 'https://app.example.com', exposeHeaders: ['X-Sky'] }));
    app.use(async (c, next) => {
      c.header('X-Request-Id', '7');
      c.header('X-Accel-Expires', '600');
      c.header('Cache-Control', 'public');
      c.header('ETag', '"1"');
      c.header('Set-Cookie', 'a=1');
      await next();
    });
    app.get('/weather', paid(seller, route), (c) => {
      assert.equal(c.res.headers.get('x-request-id'), '7');
      c.header('set-cookie', 'b=2', { append: true });
      return c.text('sunny');
    });
  });
  const page = { headers: [['Origin', 'https://app.example.com']] as const };
  const payment = await shop.payment();
  const kept = [await shop.ask(paying(payment, page)), await shop.ask(paying(payment, page))];
  for (const answer of [await shop.ask(page), ...kept]) {
    const { header } = answer;
    assert.deepEqual(
      [header('access-control-allow-origin'), header('x-request-id')],
      ['https://app.example.com', '7'],
    );
    assert.match(header('access-control-expose-headers') ?? '', /X-Sky.*PAYMENT-RESPONSE/i);
    assert.deepEqual([header('x-accel-expires'), header('etag')], ['0', undefined]);
    assert.match(header('cache-control') ?? '', /no-store/);
    for (const name of ['Origin', 'PAYMENT-SIGNATURE']) assert.match(header('vary') ?? '', RegExp(name));
    assert.ok(answer.headers.some(([name, value]) => name === 'set-cookie' && value === 'a=1'));
  }
});

test('middlewares before the gate see the real answer, those behind it the handler’s', async (t) => {
  const logged: string[] = [];
  const around =
    (name: string) =>
    async (c: Context, next: () => Promise<void>): Promise<void> => {
      await next();
      logged.push(`${name} ${c.res.status}`);
      c.header(`x-${name}`, String(c.res.status));
    };
  const shop = await openHono(t, (app, seller, route) => {
    app.use(around('outer'));
    app.use('/weather', paid(seller, route));
    app.use(around('inner'));
    app.get('/weather', (c) => {
      c.header('x-secret', '1');
      return c.text('sunny', 201);
    });
  });
  const payment = await shop.payment();
  shop.rig.settles.push(refused);
  const unsold = await shop.ask(paying(payment));
  assert.deepEqual(
    [unsold.status, unsold.header('x-outer'), unsold.header('x-inner'), unsold.header('x-secret')],
    [402, '402', undefined, undefined],
  );
  const sold = await shop.buy();
  assert.deepEqual(
    [sold.status, sold.text, sold.header('x-outer'), sold.header('x-inner'), sold.header('x-secret')],
    [201, 'sunny', '201', '201', '1'],
  );
  assert.deepEqual(logged, ['outer 402', 'inner 201', 'outer 402', 'outer 402', 'inner 201', 'outer 201']);
});

test('H15: a handler that is cut off and answers later changes nothing, while a middleware before the gate dawdles', async (t) => {
  const cut = Promise.withResolvers<void>();
  const late = Promise.withResolvers<void>();
  const shop = await openHono(
    t,
    (app, seller, route) => {
      app.use(async (c, next) => {
        await next();
        c.header('x-time', '7');
        if (c.res.status !== 500) return;
        cut.resolve();
        await late.promise;
      });
      app.use('/weather', paid(seller, route));
      app.use(async (c, next) => {
        await next();
        c.header('x-secret', '1');
        c.res = new Response('secret');
        late.resolve();
      });
      app.get('/weather', async (c) => {
        await cut.promise;
        return c.text('secret');
      });
    },
    { workMs: 1000 },
  );
  const buying = shop.buy();
  await until(() => shop.rig.events.some((event) => event.event === 'taken'));
  await shop.rig.clock.advance(1000);
  const answer = await buying;
  assert.deepEqual([codeOf(answer), answer.header('x-secret')], ['work_failed', undefined]);
  assert.doesNotMatch(answer.text, /secret/);
});

test('requests sent at once on one connection are answered in order', async (t) => {
  const shop = await openHono(t, (app, seller, route) =>
    app.get('/weather', paid(seller, route), (c) => c.text(String(c.req.query('n')))),
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

test('a charge that breaks its word not to reject is the application’s error, and nothing of the work goes with it', async (t) => {
  const shop = await openHono(t, (app, seller, route) => {
    const charge: Seller['charge'] = async (...parts) => {
      const delivery = await seller.charge(...parts);
      if (delivery.answer.status === 402) return delivery;
      throw new Error('broken');
    };
    app.use(async (c, next) => {
      c.header('x-id', '7');
      await next();
    });
    app.get('/weather', paid({ charge }, route), (c) => {
      c.header('x-secret', '1');
      return c.text('secret');
    });
    app.onError((fault, c) => c.text(fault.message, 500));
  });
  const answer = await shop.buy();
  assert.deepEqual(
    [answer.status, answer.text, answer.header('x-id'), answer.header('x-secret')],
    [500, 'broken', '7', undefined],
  );
});

test('a middleware before the gate that gives up early costs nobody anything, and the same payment buys later', async (t) => {
  const work = Promise.withResolvers<void>();
  let [runs, patient] = [0, false];
  const shop = await openHono(t, (app, seller, route) => {
    app.use(async (c, next) => {
      const done = next();
      if (patient || c.req.header('payment-signature') === undefined) return done;
      await until(() => runs === 1);
      return c.text('too late', 504);
    });
    app.get('/weather', paid(seller, route), async (c) => {
      runs += 1;
      await work.promise;
      return c.text('sunny');
    });
  });
  const payment = await shop.payment();
  const first = await shop.ask(paying(payment));
  assert.deepEqual([first.status, first.text], [504, 'too late']);
  work.resolve();
  await until(() => shop.rig.events.some((event) => event.event === 'work_failed'));
  assert.equal(shop.rig.calls.settle, 0);
  patient = true;
  const again = await shop.ask(paying(payment));
  assert.deepEqual([again.status, again.text, runs, shop.rig.calls.settle], [200, 'sunny', 2, 1]);
});
