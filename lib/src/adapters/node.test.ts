/** Everything that a node:http listener can do with its response, seen from the buyer's socket. */
import assert from 'node:assert/strict';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type TestContext, test } from 'node:test';
import express from 'express';
import type { RouteOptions, RouteRequest, Seller } from '../seller/index.ts';
import { type PaidListener, paid, paidRoutes } from './node.ts';
import { buyHeld, openShop, paying, type Shop } from './rig/shop.ts';
import { octets, open, until } from './rig/wire.ts';

type Options = Partial<RouteOptions<RouteRequest>>;

function shopOf(t: TestContext, listener: PaidListener<RouteRequest>, options?: Options): Promise<Shop> {
  return openShop(t, (seller, route) => paid(seller, route, listener), options);
}

/** Ways to say `sunny` with a status of 200 and `x-sky: clear`. */
const ways: { readonly [way: string]: (response: ServerResponse, request: IncomingMessage) => unknown } = {
  'setHeader, then end': (response) => {
    response.setHeader('X-Sky', 'clear');
    response.end('sunny');
  },
  'writeHead(status, fields)': (response) => response.writeHead(200, { 'X-Sky': 'clear' }).end('sunny'),
  'writeHead(status, reason, fields)': (response) =>
    response.writeHead(200, 'Fine', { 'X-Sky': 'clear' }).end('sunny'),
  'writeHead(status, list of fields)': (response) => response.writeHead(200, ['X-Sky', 'clear']).end('sunny'),
  'setHeader, overruled by writeHead': (response) => {
    response.setHeader('x-sky', 'grey');
    response.writeHead(200, { 'x-sky': 'clear' });
    response.end(Buffer.from('sunny'));
  },
  'flushHeaders, then a status that comes too late': (response) => {
    response.setHeader('x-sky', 'clear');
    response.flushHeaders();
    response.statusCode = 500;
    response.end('sunny');
  },
  'setHeaders and appendHeader': (response) => {
    response.setHeaders(new Map([['x-sky', 'clear']]));
    response.appendHeader('x-more', 'a').appendHeader('x-more', 'b');
    response.end('sunny');
  },
  'a length that is wrong': (response) => {
    response.writeHead(200, { 'content-length': '99', 'x-sky': 'clear' });
    response.end('sunny');
  },
  'its own transfer coding and a trailer': (response) => {
    response.writeHead(200, { 'transfer-encoding': 'chunked', trailer: 'x-late', 'x-sky': 'clear' });
    response.write('sunny');
    response.addTrailers({ 'x-late': 'secret' });
    response.end();
  },
  'encodings and one buffer used twice': (response) => {
    response.setHeader('x-sky', 'clear');
    response.write('c3Vu', 'base64');
    const buffer = Buffer.from('n');
    response.write(buffer);
    buffer.write('y');
    response.end(buffer);
  },
  'callbacks that are waited for': async (response) => {
    response.setHeader('x-sky', 'clear');
    await new Promise((resolve) => response.write('sun', resolve));
    await new Promise((resolve) => response.write('n', 'utf8', resolve));
    await new Promise<void>((resolve) => response.end('y', resolve));
  },
  'a pipe that heeds back-pressure': (response) => {
    response.setHeader('x-sky', 'clear');
    Readable.from(['su', 'nn', 'y'].map((part) => Buffer.from(part))).pipe(response);
  },
  'a pipeline that is waited for': async (response) => {
    response.setHeader('x-sky', 'clear');
    await pipeline(Readable.from(['sun', 'ny']), response);
  },
  'cork and uncork': (response) => {
    response.setHeader('x-sky', 'clear');
    response.cork();
    response.write('sun');
    response.write('ny');
    response.end();
  },
  'an end that says nothing new the second time': (response) => {
    response.setHeader('x-sky', 'clear');
    response.end('sunny');
    response.end();
    response.end(' and more');
    response.write('and more');
  },
  'long after it returned': (response) => {
    setImmediate(() => response.writeHead(200, { 'x-sky': 'clear' }).end('sunny'));
  },
  'the body of the request ignored': (response) => response.writeHead(200, { 'x-sky': 'clear' }).end('sunny'),
};

for (const [way, say] of Object.entries(ways)) {
  test(`H15: an answer given by ${way} is sold as it would have been sent, and not before it is paid for`, async (t) => {
    const shop = await shopOf(t, (request, response) => say(response, request), { method: 'POST' });
    const answer = await buyHeld(shop, { method: 'POST', body: 'where?' });
    assert.deepEqual([answer.status, answer.text, answer.header('x-sky')], [200, 'sunny', 'clear']);
    assert.equal(answer.header('content-length'), '5');
    for (const name of ['transfer-encoding', 'trailer', 'x-late'])
      assert.equal(answer.header(name), undefined);
    assert.deepEqual(
      [...shop.rig.ledger.landed.values()].map(({ amount }) => amount),
      ['10000'],
    );
  });
}

/** Ways to fail; none may be charged for, whatever status was to be seen first. */
const failures: {
  readonly [way: string]: readonly [status: number, fail: (response: ServerResponse) => unknown];
} = {
  'writeHead(500) while statusCode says 200': [500, (response) => response.writeHead(500).end('no')],
  'writeHead(500), overwritten with 200 afterwards': [
    500,
    (response) => {
      response.writeHead(500);
      response.statusCode = 200;
      response.end('no');
    },
  ],
  'statusCode = 404': [
    404,
    (response) => {
      response.statusCode = 404;
      response.end('no');
    },
  ],
  'a throw': [
    500,
    () => {
      throw new Error('swordfish');
    },
  ],
  'a throw in the middle of its answer': [
    500,
    async (response) => {
      response.writeHead(200);
      response.write('sun');
      await null;
      throw new Error('swordfish');
    },
  ],
  'destroying its response': [500, (response) => response.destroy()],
  'closing the socket of its response': [500, (response) => response.socket?.destroy()],
  'an interim status as its only one': [500, (response) => response.writeHead(103).end()],
  'a field that cannot be sent': [500, (response) => response.setHeader('x-sky', 'clear\r\nx-evil: 1')],
};

for (const [way, [status, fail]] of Object.entries(failures)) {
  test(`H14: a failure by ${way} is answered ${status}, shows nothing and charges nothing`, async (t) => {
    const shop = await shopOf(t, (_request, response) => fail(response));
    const answer = await shop.buy();
    assert.equal(answer.status, status);
    assert.doesNotMatch(answer.text, /swordfish|\.ts:|sun/);
    assert.deepEqual([shop.rig.calls.settle, shop.rig.ledger.landed.size], [0, 0]);
  });
}

test('H15: interim answers of the handler do not reach the buyer', async (t) => {
  const shop = await shopOf(t, async (_request, response) => {
    response.writeContinue();
    response.writeProcessing();
    await new Promise<void>((resolve) =>
      response.writeEarlyHints({ link: '</secret>; rel=preload' }, resolve),
    );
    response.socket?.write('HTTP/1.1 200 OK\r\n\r\nsecret');
    response.end('sunny');
  });
  const answer = await buyHeld(shop);
  assert.deepEqual([answer.status, answer.text, answer.header('link')], [200, 'sunny', undefined]);
});

test('a handler that never ends is cut off by the route’s workMs and may be tried again', async (t) => {
  let runs = 0;
  let aborted = 0;
  const shop = await shopOf(
    t,
    (_request, response, { signal }) => {
      runs += 1;
      if (runs > 1) return response.end('sunny');
      response.write('sun');
      signal.addEventListener('abort', () => {
        aborted += 1;
      });
      return undefined;
    },
    { workMs: 1000 },
  );
  const payment = await shop.payment();
  const first = shop.ask(paying(payment));
  await until(() => runs === 1);
  await shop.rig.clock.advance(1000);
  assert.equal((await first).status, 500);
  assert.equal(aborted, 1);
  const second = await shop.ask(paying(payment));
  assert.deepEqual([second.status, second.text, shop.rig.calls.settle], [200, 'sunny', 1]);
});

test('a handler that goes on after it was cut off harms nobody', async (t) => {
  let late: ServerResponse | undefined;
  const shop = await shopOf(
    t,
    (_request, response) => {
      late = response;
    },
    { workMs: 1000 },
  );
  const first = shop.buy();
  await until(() => late !== undefined);
  await shop.rig.clock.advance(1000);
  assert.equal((await first).status, 500);
  late?.setHeader('x-late', '1');
  assert.equal(late?.write('late'), false);
  late?.end('later');
  assert.equal((await shop.ask()).status, 402);
});

test('an answer without end stops its source at the limit and is not sold', async (t) => {
  let made = 0;
  const endless = new Readable({
    read() {
      made += 1;
      this.push(Buffer.alloc(1024));
    },
  });
  const shop = await shopOf(t, (_request, response) => pipeline(endless, response), {
    maxAnswerBytes: 64 * 1024,
  });
  const answer = await shop.buy();
  assert.equal(JSON.parse(answer.text).code, 'answer_too_large');
  await until(() => endless.destroyed);
  assert.ok(made < 200, `${made} KiB were made`);
  assert.equal(shop.rig.calls.settle, 0);
});

test('an answer of exactly the limit is sold', async (t) => {
  const shop = await shopOf(t, (_request, response) => response.end('x'.repeat(1000)), {
    maxAnswerBytes: 1000,
  });
  assert.equal((await shop.buy()).text.length, 1000);
});

test('S10: the work does not notice that its buyer has left, and is there when it comes back', async (t) => {
  const notes: string[] = [];
  const slow = new Readable({ read() {} });
  const shop = await shopOf(t, (_request, response) => {
    response.on('close', () => notes.push('close'));
    response.on('error', () => notes.push('error'));
    slow.pipe(response);
  });
  const payment = await shop.payment();
  const wire = open(shop.port);
  wire.send(octets(paying(payment)));
  await until(() => slow.readableFlowing === true);
  slow.push('sun');
  await wire.leave();
  assert.deepEqual(notes, []);
  slow.push('ny');
  slow.push(null);
  await until(() => shop.rig.events.some((event) => event.event === 'delivered'));
  const answer = await shop.ask(paying(payment));
  assert.deepEqual([answer.status, answer.text, shop.rig.calls.settle], [200, 'sunny', 1]);
  assert.deepEqual(notes, ['close']);
});

test('S10: in the flow upfront, too, a buyer who left finds its answer', async (t) => {
  const work = Promise.withResolvers<void>();
  let runs = 0;
  const shop = await shopOf(
    t,
    async (_request, response) => {
      runs += 1;
      await work.promise;
      response.end('sunny');
    },
    { flow: 'upfront' },
  );
  const payment = await shop.payment();
  const wire = open(shop.port);
  wire.send(octets(paying(payment)));
  await until(() => runs === 1);
  await wire.leave();
  work.resolve();
  await until(() => shop.rig.events.some((event) => event.event === 'delivered'));
  const answer = await shop.ask(paying(payment));
  assert.deepEqual([answer.status, answer.text, runs], [200, 'sunny', 1]);
});

test('a connection is used again after a sale, and two requests sent at once are answered in order', async (t) => {
  const shop = await shopOf(
    t,
    (request, response) => request.resume().on('end', () => response.end('sunny')),
    { method: 'POST' },
  );
  const asked = { method: 'POST', body: 'where?', connection: 'keep-alive' } as const;
  const [one, two, three] = [await shop.payment(asked), await shop.payment(asked), await shop.payment(asked)];
  const wire = open(shop.port);
  wire.send(octets(paying(one, asked)));
  await wire.answers(1);
  wire.send(octets(paying(two, asked)) + octets(paying(three, asked)));
  const answers = await wire.answers(3);
  wire.socket.destroy();
  assert.deepEqual(
    answers.map(({ status, text }) => [status, text]),
    Array(3).fill([200, 'sunny']),
  );
  assert.equal(shop.rig.ledger.landed.size, 3);
});

test('S10: of two requests sent at once both are kept when their buyer leaves', async (t) => {
  const work = Promise.withResolvers<void>();
  let runs = 0;
  const shop = await shopOf(t, async (_request, response) => {
    runs += 1;
    await work.promise;
    response.end('sunny');
  });
  const asked = { connection: 'keep-alive' } as const;
  const payments = [await shop.payment(asked), await shop.payment(asked)];
  const wire = open(shop.port);
  wire.send(payments.map((payment) => octets(paying(payment, asked))).join(''));
  await until(() => runs === 2);
  await wire.leave();
  work.resolve();
  const notes = (): readonly string[] =>
    shop.rig.events.flatMap((event) => (event.event === 'delivered' ? [event.how] : []));
  await until(() => notes().length === 2);
  assert.deepEqual(notes(), ['cut', 'cut']);
  for (const payment of payments) assert.equal((await shop.ask(paying(payment))).text, 'sunny');
  assert.deepEqual([runs, shop.rig.calls.settle], [2, 2]);
});

test('fields that were set before the gate stay on a refusal and on an answer, those for caches excepted', async (t) => {
  const shop = await openShop(t, (seller, route) => {
    const sell = paid(seller, route, (_request, response) => {
      assert.equal(response.getHeader('x-request-id'), '7');
      response.appendHeader('Set-Cookie', 'b=2').end('sunny');
    });
    return (request, response) => {
      response.setHeader('Access-Control-Allow-Origin', '*');
      response.setHeader('X-Request-Id', '7');
      response.setHeader('X-Accel-Expires', '600');
      response.setHeader('Cache-Control', 'public');
      response.setHeader('ETag', '"1"');
      response.setHeader('Set-Cookie', 'a=1');
      void sell(request, response);
    };
  });
  const cookies = [];
  for (const answer of [await shop.ask(), await shop.buy()]) {
    cookies.push(answer.headers.flatMap(([name, value]) => (name === 'set-cookie' ? [value] : [])));
    assert.deepEqual(
      [answer.header('access-control-allow-origin'), answer.header('x-request-id')],
      ['*', '7'],
    );
    assert.deepEqual([answer.header('x-accel-expires'), answer.header('etag')], ['0', undefined]);
    assert.match(answer.header('cache-control') ?? '', /no-store/);
    assert.equal(answer.headers.filter(([name]) => name === 'cache-control').length, 1);
  }
  assert.deepEqual(cookies, [['a=1'], ['a=1', 'b=2']]);
});

test('a whole Express application can stand behind the gate', async (t) => {
  const app = express();
  app.post('/weather', express.json(), (request, response) => {
    response.set('x-sky', 'clear').json({ for: request.body.where });
  });
  const shop = await openShop(
    t,
    (seller, route) => paid(seller, route, (request, response) => app(request, response)),
    { method: 'POST' },
  );
  const answer = await shop.buy({
    method: 'POST',
    body: '{"where":"here"}',
    headers: [['content-type', 'application/json']],
  });
  assert.deepEqual([answer.status, answer.text, answer.header('x-sky')], [200, '{"for":"here"}', 'clear']);
});

test('a body that somebody has read before the gate is refused, and nothing is charged', async (t) => {
  const shop = await openShop(
    t,
    (seller, route): RequestListener => {
      const sell = paid(seller, route, (_request, response) => response.end('sunny'));
      return (request, response) => {
        if (request.headers['x-greedy'] === undefined) return void sell(request, response);
        request.on('data', () => {});
        return void request.on('end', () => void sell(request, response));
      };
    },
    { method: 'POST' },
  );
  const asked = { method: 'POST', body: 'where?' } as const;
  const payment = await shop.payment(asked);
  const answer = await shop.ask(paying(payment, { ...asked, headers: [['x-greedy', '1']] }));
  assert.equal(answer.status, 500);
  assert.equal(JSON.parse(answer.text).code, 'internal_error');
  assert.deepEqual([shop.rig.calls.verify, shop.rig.calls.settle], [0, 0]);
});

test('a response that can never be written is reported as cut', async (t) => {
  const how: string[] = [];
  const answer = { status: 200, headers: [['x-bad', 'line\nbreak']] as const, body: new Uint8Array() };
  const seller = { charge: async () => ({ answer, written: async (said: string) => void how.push(said) }) };
  const shop = await openShop(t, (_seller, route) => paid(seller, route, () => {}));
  await assert.rejects(shop.ask());
  await until(() => how.length > 0);
  assert.deepEqual(how, ['cut']);
});

test('a seller that breaks its word not to reject costs one connection and not the process', async (t) => {
  const seller = { charge: () => Promise.reject(new Error('broken')) };
  const shop = await openShop(t, (_seller, route) => paid(seller, route, () => {}));
  await assert.rejects(shop.ask());
  await assert.rejects(shop.ask());
});

test('what is not sold is 404 where nothing else is said, and a catalogue that breaks lets nobody through', async (t) => {
  let broken = false;
  const shop = await openShop(t, (seller, route) => {
    const catalogue: Seller['catalogue'] = (...parts) => {
      const { find } = seller.catalogue(...parts);
      return {
        find: (sought) => {
          if (broken) throw new Error('broken');
          return find(sought);
        },
      };
    };
    const { charge } = seller;
    return paidRoutes({ charge, catalogue }, [[route, (_request, response) => response.end('sunny')]]);
  });
  const nothing = await shop.ask({ target: '/elsewhere' });
  assert.deepEqual([nothing.status, nothing.text], [404, '']);
  assert.equal((await shop.buy()).text, 'sunny');
  broken = true;
  await assert.rejects(shop.ask());
  await assert.rejects(shop.ask({ target: '/elsewhere' }));
});
