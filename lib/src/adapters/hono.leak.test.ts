/** Everything that a Hono handler can answer with: read to its end, and sent when it is paid for. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import type { HttpBindings } from '@hono/node-server';
import { earlyHints } from '@hono/node-server/early-hints';
import { serveStatic } from '@hono/node-server/serve-static';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { Context } from 'hono';
import { compress } from 'hono/compress';
import { stream, streamSSE, streamText } from 'hono/streaming';
import { paid } from './hono.ts';
import { openHono } from './rig/hono.ts';
import { buyHeld, codeOf } from './rig/shop.ts';
import { until } from './rig/wire.ts';

type Handler = (c: Context<{ Bindings: HttpBindings }>) => Response | Promise<Response>;

const packed = [['Accept-Encoding', 'gzip']] as const;
const plain = { 'content-type': 'text/plain' };

/** Ways to say `sunny`. */
const ways: { readonly [way: string]: Handler } = {
  'c.text': (c) => c.text('sunny'),
  'c.body with a status and fields': (c) => c.body('sunny', 200, plain),
  'a Response': () => new Response('sunny'),
  'a ReadableStream': () =>
    new Response(
      new ReadableStream({
        start: (controller) => {
          for (const part of ['sun', 'n', 'y']) controller.enqueue(new TextEncoder().encode(part));
          controller.close();
        },
      }),
      { headers: plain },
    ),
  'c.res': (c) => {
    c.res = new Response('sunny');
    return c.res;
  },
  stream: (c) => {
    c.header('content-type', 'text/plain');
    return stream(c, async (out) => {
      await out.write('sun');
      await out.write(new TextEncoder().encode('ny'));
    });
  },
  streamText: (c) =>
    streamText(c, async (out) => {
      await out.write('sun');
      await out.write('ny');
    }),
};

for (const [way, handler] of Object.entries(ways)) {
  test(`H15: not one octet of ${way} leaves before the money has moved`, async (t) => {
    const shop = await openHono(t, (app, seller, route) => app.get('/weather', paid(seller, route), handler));
    const answer = await buyHeld(shop);
    assert.deepEqual([answer.status, answer.text, answer.header('content-length')], [200, 'sunny', '5']);
    assert.equal(answer.header('transfer-encoding'), undefined);
  });

  test(`H15: behind compress ${way} is sold as it was packed, and not before it is paid for`, async (t) => {
    const shop = await openHono(t, (app, seller, route) =>
      app.get(
        '/weather',
        paid(seller, route),
        compress({ threshold: 0, contentTypeFilter: () => true }),
        handler,
      ),
    );
    const answer = await buyHeld(shop, { headers: packed });
    const body = Buffer.from(answer.text, 'latin1');
    // A stream is left unpacked by Hono where its handler has said how it is transferred.
    const said = answer.header('content-encoding') === 'gzip' ? gunzipSync(body) : body;
    assert.deepEqual([answer.status, said.toString()], [200, 'sunny']);
  });
}

test('H15: compress before the gate leaves a paid answer as it is', async (t) => {
  const shop = await openHono(t, (app, seller, route) => {
    app.use(compress({ threshold: 0 }));
    app.get('/weather', paid(seller, route), (c) => c.text('sunny'));
  });
  const answer = await buyHeld(shop, { headers: packed });
  assert.deepEqual([answer.text, answer.header('content-encoding')], ['sunny', undefined]);
});

test('H15: server-sent events are sold whole, their stream ended', async (t) => {
  const shop = await openHono(t, (app, seller, route) =>
    app.get('/weather', paid(seller, route), (c) =>
      streamSSE(c, async (out) => {
        for (const data of ['sun', 'rain']) await out.writeSSE({ data });
      }),
    ),
  );
  const answer = await buyHeld(shop);
  assert.equal(answer.text, 'data: sun\n\ndata: rain\n\n');
});

test('H07: a file that is served behind the gate is sold whole, whatever part was asked for', async (t) => {
  const shop = await openHono(t, (app, seller, route) =>
    app.get('/package.json', paid(seller, route), serveStatic({ root: './' })),
  );
  const asked = { target: '/package.json', headers: [['Range', 'bytes=0-1']] as const };
  const answer = await buyHeld(shop, asked);
  assert.equal(answer.status, 200);
  assert.equal(typeof JSON.parse(answer.text), 'object');
});

test('H15: early hints behind the gate come to nothing', async (t) => {
  const shop = await openHono(t, (app, seller, route) =>
    app.get('/weather', paid(seller, route), earlyHints({ link: '</secret>; rel=preload' }), (c) =>
      c.text('sunny'),
    ),
  );
  const answer = await buyHeld(shop);
  assert.deepEqual([answer.status, answer.text, answer.header('link')], [200, 'sunny', undefined]);
});

/** Ways past the Response that a handler returns; none of them sends anything, and none is charged for. */
const detours: { readonly [way: string]: Handler } = {
  'Node’s own response': (c) => {
    c.env.outgoing.writeHead(200, { 'x-secret': '1' });
    c.env.outgoing.end('secret');
    return RESPONSE_ALREADY_SENT;
  },
  'fields and trailers of Node’s response': (c) => {
    c.env.outgoing.setHeader('x-secret', '1');
    c.env.outgoing.addTrailers({ 'x-late': 'secret' });
    return c.text('sunny');
  },
  'Node’s socket': (c) => {
    c.env.incoming.socket.write('HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nsecret');
    return c.text('sunny');
  },
  'the word that somebody has answered already': () => RESPONSE_ALREADY_SENT,
  'a switch of protocols': () => {
    const response = new Response(null);
    Object.defineProperty(response, 'status', { value: 101 });
    return response;
  },
};

for (const [way, handler] of Object.entries(detours)) {
  test(`H15: ${way} is no way around the gate`, async (t) => {
    const shop = await openHono(t, (app, seller, route) => app.get('/weather', paid(seller, route), handler));
    const answer = await shop.buy();
    assert.equal(answer.status, 500);
    assert.deepEqual([answer.header('x-secret'), answer.header('x-late')], [undefined, undefined]);
    assert.doesNotMatch(answer.text, /secret/);
    assert.equal(shop.rig.calls.settle, 0);
  });
}

test('H15: a stream that never ends is canceled at the route’s workMs, and its work is not charged for', async (t) => {
  const canceled = Promise.withResolvers<void>();
  const shop = await openHono(
    t,
    (app, seller, route) =>
      app.get('/weather', paid(seller, route), (c) =>
        stream(c, async (out) => {
          out.onAbort(() => canceled.resolve());
          await out.write('sun');
          await canceled.promise;
        }),
      ),
    { workMs: 1000 },
  );
  const buying = shop.buy();
  await until(() => shop.rig.events.some((event) => event.event === 'taken'));
  await shop.rig.clock.advance(1000);
  assert.equal(codeOf(await buying), 'work_failed');
  await canceled.promise;
  assert.equal(shop.rig.calls.settle, 0);
});

test('H15: a stream that breaks in the middle is not charged for and shows nothing', async (t) => {
  const log = t.mock.method(console, 'error', () => {});
  const shop = await openHono(t, (app, seller, route) =>
    app.get('/weather', paid(seller, route), () => {
      const pull = (controller: ReadableStreamDefaultController): void => {
        controller.enqueue(new TextEncoder().encode('sun'));
        controller.error(new Error('swordfish'));
      };
      return new Response(new ReadableStream({ pull }));
    }),
  );
  const answer = await shop.buy();
  assert.equal(codeOf(answer), 'work_failed');
  assert.doesNotMatch(answer.text, /sun|swordfish/);
  assert.deepEqual([log.mock.callCount(), shop.rig.calls.settle], [0, 0]);
});
