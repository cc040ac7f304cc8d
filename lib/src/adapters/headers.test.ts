/** How much nginx lets through on the way in and out, and what our answers make of that (H09). */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { fieldSize, maxPaidFieldsLength, warnRequiredLength } from '../seller/budget.ts';
import type { RouteOptions, RouteRequest } from '../seller/index.ts';
import { type CountingShop, openCounting } from './rig/counter.ts';
import { type Door, doors, type Handler } from './rig/door.ts';
import { cached, cacheZone, openNginx, passHost } from './rig/nginx.ts';
import { codeOf, paying } from './rig/shop.ts';
import { ask, serve } from './rig/wire.ts';

/** What servers write beside the fields of an answer. */
const added: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'date',
  'keep-alive',
  'x-powered-by',
]);

type Padded = CountingShop & { readonly pad: (octets: number) => void };

/** A shop whose answers have a head as large as the test likes. */
async function openPadded(
  t: TestContext,
  door: Door,
  options: Partial<RouteOptions<RouteRequest>> = {},
): Promise<Padded> {
  let pad = 0;
  const handler = (): ReturnType<Handler> => {
    const headers = [
      ['content-type', 'text/plain'],
      ['x-fill', 'a'.repeat(pad)],
    ] as const;
    return { headers, parts: ['sunny'] };
  };
  const shop = await openCounting(t, door, handler, options);
  const set = (octets: number): void => {
    pad = octets;
  };
  return { ...shop, pad: set };
}

/** The largest head, in octets, that comes through nginx from a server that sends heads of any length. */
async function roomBehind(
  t: TestContext,
  target: string,
  settings: Partial<Parameters<typeof openNginx>[1]>,
): Promise<number> {
  let length = 0;
  const port = await serve(t, (_request, response) => {
    response.sendDate = false;
    response.shouldKeepAlive = false;
    // `HTTP/1.1 200 OK`, `x-fill: `, `Connection: close`, `Content-Length: 0` and the empty line.
    response.setHeader('x-fill', 'a'.repeat(length - 67));
    response.setHeader('content-length', 0);
    response.writeHead(200).end();
  });
  const nginx = await openNginx(t, { upstream: port, ...settings });
  let [fits, tooLarge] = [100, 8192];
  while (tooLarge - fits > 1) {
    length = Math.floor((fits + tooLarge) / 2);
    const { status } = await ask(nginx.port, { target });
    if (status === 200) fits = length;
    else tooLarge = length;
  }
  assert.match(nginx.log(), /upstream sent too big header/);
  return fits;
}

const page = ['proxy_buffer_size 4k'];

test('H09: nginx makes a 502 of a head above its buffer, which is 4,096 octets where it is smallest', async (t) => {
  assert.equal(await roomBehind(t, '/', { location: page }), 4096);
  assert.equal(await roomBehind(t, `/?${'q'.repeat(3000)}`, { location: page }), 4096);
});

test('H09: with a cache the buffer holds the URL too, so that less is left for the head', async (t) => {
  const cache = {
    http: cacheZone,
    location: [...cached, ...page],
  };
  const short = await roomBehind(t, '/weather', cache);
  const long = await roomBehind(t, `/weather?${'q'.repeat(999)}`, cache);
  assert.deepEqual([short > maxPaidFieldsLength, short - long], [true, 1000]);
  t.diagnostic(`${short} octets for the head at /weather`);
});

for (const door of doors) {
  describe(`${door.name} behind nginx:`, () => {
    test('H09: the largest head that may be sold arrives through a default nginx and a default cache, again and again', async (t) => {
      const shop = await openPadded(t, door);
      const nginx = await openNginx(t, { upstream: shop.port, location: passHost });
      const caching = await openNginx(t, {
        upstream: shop.port,
        http: cacheZone,
        location: [...passHost, ...cached],
      });
      const bare = await shop.buy();
      const room = maxPaidFieldsLength - fieldSize(bare.headers.filter(([name]) => !added.has(name)));
      shop.pad(room + 1);
      assert.deepEqual(codeOf(await shop.buy()), 'answer_too_large');
      shop.pad(room);
      const payment = await shop.payment();
      for (const { port } of [nginx, nginx, caching]) {
        const answer = await ask(port, paying(payment));
        assert.deepEqual([answer.status, answer.header('x-fill')?.length], [200, room]);
      }
      assert.equal(shop.rig.calls.settle, 2);
    });

    test('H09: the terms are as long as the warning allows, and a default nginx passes them', async (t) => {
      const shop = await openCounting(t, door, undefined, { description: 'w'.repeat(4000) });
      const nginx = await openNginx(t, { upstream: shop.port, location: passHost });
      const lengths = new Set<number>();
      // The URL is what makes terms long that have been shortened already; base64 grows in steps of four.
      for (let more = 0; more < 2100; more += 30) {
        const answer = await ask(nginx.port, { target: `/weather?${'q'.repeat(more)}` });
        const length = answer.header('payment-required')?.length ?? 0;
        if (length > warnRequiredLength) break;
        assert.equal(answer.status, 402);
        lengths.add(length);
      }
      assert.ok(Math.max(...lengths) > warnRequiredLength - 45, `${Math.max(...lengths)}`);
    });

    test('H09: terms for a URL of two thousand octets are more than a default nginx passes, and nobody is charged', async (t) => {
      const shop = await openCounting(t, door);
      const nginx = await openNginx(t, { upstream: shop.port, location: [...passHost, ...page] });
      const wide = await openNginx(t, {
        upstream: shop.port,
        location: [...passHost, 'proxy_buffer_size 16k', 'proxy_buffers 8 16k'],
      });
      const asked = { target: `/weather?${'q'.repeat(2500)}` };
      assert.equal((await ask(nginx.port, asked)).status, 502);
      assert.equal((await ask(wide.port, asked)).status, 402);
      assert.deepEqual([shop.runs(), shop.rig.calls.settle], [0, 0]);
    });

    test('H09: a route that allows more loses the answer to a 502 after the payment, and keeps it for a wider way', async (t) => {
      const shop = await openPadded(t, door, { maxHeaderBytes: 8192 });
      const nginx = await openNginx(t, { upstream: shop.port, location: [...passHost, ...page] });
      shop.pad(5000);
      const payment = await shop.payment();
      assert.equal((await ask(nginx.port, paying(payment))).status, 502);
      assert.equal((await ask(nginx.port, paying(payment))).status, 502);
      const answer = await shop.ask(paying(payment));
      assert.deepEqual([answer.status, answer.header('x-fill')?.length], [200, 5000]);
      assert.deepEqual([shop.runs(), shop.rig.calls.settle], [1, 1]);
    });

    test('H09: a default nginx refuses a line of more than 8 KiB itself, so that a payment must be shorter', async (t) => {
      const shop = await openCounting(t, door);
      const nginx = await openNginx(t, { upstream: shop.port, location: passHost });
      const short = await ask(nginx.port, paying('a'.repeat(8000)));
      assert.deepEqual([short.status, codeOf(short)], [400, 'payment_malformed']);
      const long = await ask(nginx.port, paying('a'.repeat(8200)));
      assert.deepEqual([long.status, long.header('content-type')], [400, 'text/html']);
      assert.equal(shop.runs(), 0);
    });
  });
}
