/** Shared caches in front of our sellers: what was paid for reaches nobody else, whatever handlers say of it (H06). */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { createLuck } from '../../test/luck.ts';
import { createSharedCache } from './rig/cache.ts';
import { type CountingShop, openCounting } from './rig/counter.ts';
import { type Door, doors } from './rig/door.ts';
import { cached, cacheZone, openNginx, passHost } from './rig/nginx.ts';
import { paying } from './rig/shop.ts';
import { payerOf } from './rig/terms.ts';
import { sendTraffic, sold, type Tally } from './rig/traffic.ts';
import { type Asked, ask, type Received, serve } from './rig/wire.ts';

type Cache = { readonly ask: (asked: Asked) => Promise<Received>; readonly hits: () => number };

/** nginx with its cache in front of a server; each answer says whether it came from there. */
async function behindNginx(
  t: TestContext,
  upstream: number,
  location: readonly string[] = [],
): Promise<Cache> {
  const nginx = await openNginx(t, {
    upstream,
    http: cacheZone,
    location: [...cached, ...passHost, ...location],
  });
  let hits = 0;
  const through = async (asked: Asked): Promise<Received> => {
    const answer = await ask(nginx.port, asked);
    if (answer.header('x-cache') !== 'MISS') hits += 1;
    return answer;
  };
  return { ask: through, hits: () => hits };
}

/** A shop whose handler invites every cache to keep its answers. */
function openInviting(t: TestContext, door: Door): Promise<CountingShop> {
  return openCounting(t, door, ({ headers, context }) => {
    const { text, ...said } = sold(context.request.url, headers['x-buyer'] ?? 'nobody');
    return { ...said, parts: [text] };
  });
}

/** A gate as one writes it in an afternoon: it asks for a payment and says nothing to caches. */
function naive(t: TestContext): Promise<number> {
  return serve(t, (request, response) => {
    if (request.headers['payment-signature'] === undefined) {
      response.writeHead(402).end('pay first');
      return;
    }
    const { status, headers, text } = sold(request.url ?? '', String(request.headers['x-buyer']));
    for (const [name, value] of headers) response.appendHeader(name, value);
    response.writeHead(status).end(text);
  });
}

/** Where nothing but what nginx is told differs, one adapter stands for all. */
function oneDoor(): Door {
  const door = doors.find(({ name }) => name === 'node');
  assert.ok(door);
  return door;
}

type Sent = { readonly requests: number; readonly seed: number };

function send(cache: Cache, payment: (target: string) => Promise<string>, sent: Sent): Promise<Tally> {
  return sendTraffic({ luck: createLuck(sent.seed), requests: sent.requests, ask: cache.ask, payment });
}

// Each door sees other traffic than the others.
for (const [seed, door] of doors.entries()) {
  describe(`${door.name}:`, () => {
    test('H06: a thousand requests through the cache of nginx, and nothing that was sold reaches a stranger', async (t) => {
      const shop = await openInviting(t, door);
      const cache = await behindNginx(t, shop.port);
      const { leaks, cheated, buyers } = await send(cache, payerOf(shop), { requests: 1000, seed });
      assert.deepEqual([leaks, cheated, cache.hits()], [[], [], 0]);
      assert.equal(shop.runs(), buyers);
    });

    test('H06: a cache that keeps all that RFC 9111 allows finds nothing to keep', async (t) => {
      const shop = await openInviting(t, door);
      const cache = createSharedCache((asked) => ask(shop.port, asked));
      const { leaks, cheated } = await send(cache, payerOf(shop), { requests: 250, seed });
      assert.deepEqual([leaks, cheated, cache.hits(), cache.kept()], [[], [], 0, 0]);
    });
  });
}

test('H06: nginx told to keep every status, stale ones too, keeps none of ours', async (t) => {
  const shop = await openInviting(t, oneDoor());
  const cache = await behindNginx(t, shop.port, [
    'proxy_cache_valid 404 10m',
    'proxy_cache_valid any 10m',
    'proxy_cache_use_stale error timeout updating http_404 http_500 http_503',
    'proxy_cache_background_update on',
    'proxy_cache_revalidate on',
    'proxy_cache_lock on',
  ]);
  const { leaks, cheated } = await send(cache, payerOf(shop), { requests: 500, seed: 5 });
  assert.deepEqual([leaks, cheated, cache.hits()], [[], [], 0]);
});

/**
 * An operator may tell nginx not to listen to us. Then Vary still parts each payment's answers from everybody else's.
 * What is lost: refusals and terms are as old as the cache likes, and who paid with an If-None-Match that fits is told
 * 304 by nginx, while its answer waits here for the same payment.
 */
test('H06: with Cache-Control ignored by the operator Vary still keeps every answer to its own payment', async (t) => {
  const shop = await openInviting(t, oneDoor());
  const cache = await behindNginx(t, shop.port, [
    'proxy_cache_valid any 10m',
    'proxy_ignore_headers Cache-Control Expires X-Accel-Expires Set-Cookie',
  ]);
  const { leaks, cheated } = await send(cache, payerOf(shop), { requests: 500, seed: 5 });
  assert.deepEqual(leaks, []);
  assert.deepEqual(
    cheated.filter((one) => !/If-None-Match: [^)]*\) -> 304/.test(one)),
    [],
  );
  assert.ok(cache.hits() > 0);
});

/** The limit of what a seller can do: nothing that it says is heard. */
test('H06: with Vary ignored as well strangers are served what others paid for', async (t) => {
  const shop = await openInviting(t, oneDoor());
  const cache = await behindNginx(t, shop.port, [
    'proxy_cache_valid any 10m',
    'proxy_ignore_headers Cache-Control Expires X-Accel-Expires Vary',
  ]);
  const { leaks, cheated } = await send(cache, payerOf(shop), { requests: 300, seed: 5 });
  assert.ok(leaks.some((one) => one.includes('-> 200 sold to')));
  assert.ok(cheated.some((one) => one.includes('payment_required')));
});

test('H01: nginx’s cache makes a GET of a paid HEAD, which is then sold once and read with the same payment', async (t) => {
  const shop = await openInviting(t, oneDoor());
  const cache = await behindNginx(t, shop.port);
  const target = '/weather?as=0.200';
  const asked = paying(await shop.payment({ target }), { target, headers: [['X-Buyer', 'a reader']] });
  assert.equal((await cache.ask({ target, method: 'HEAD' })).status, 402);
  assert.equal(shop.runs(), 0);
  const head = await cache.ask({ ...asked, method: 'HEAD' });
  const whole = await cache.ask(asked);
  assert.deepEqual([head.status, whole.status, whole.text], [200, 200, 'sold to a reader']);
  assert.deepEqual([shop.runs(), shop.rig.calls.settle], [1, 1]);
});

test('H01: told not to (proxy_cache_convert_head off), nginx passes HEAD on and it buys nothing', async (t) => {
  const shop = await openInviting(t, oneDoor());
  const cache = await behindNginx(t, shop.port, ['proxy_cache_convert_head off']);
  const target = '/weather?as=0.200';
  const head = await cache.ask({ ...paying(await shop.payment({ target }), { target }), method: 'HEAD' });
  assert.equal(head.status, 405);
  assert.deepEqual([shop.runs(), shop.rig.calls.settle], [0, 0]);
});
test('H06: the same traffic finds the leaks of a gate that says nothing to caches', async (t) => {
  const port = await naive(t);
  for (const cache of [await behindNginx(t, port), createSharedCache((asked) => ask(port, asked))]) {
    const { leaks } = await send(cache, async () => 'any', { requests: 300, seed: 1 });
    assert.ok(leaks.length > 50, `${leaks.length}`);
  }
});
