/** A real nginx between buyers and our sellers: requests that it changes, and such as it might misread (H10, H11, B06). */
import assert from 'node:assert/strict';
import type { RequestListener } from 'node:http';
import { describe, type TestContext, test } from 'node:test';
import type { Route, RouteRequest, Seller, SellerOptions } from '../seller/index.ts';
import { encodePaymentSignature } from '../wire/index.ts';
import { paid as sellFetch } from './fetch.ts';
import { bridge } from './rig/bridge.ts';
import { type Door, doors } from './rig/door.ts';
import { openNginx, passHost } from './rig/nginx.ts';
import { codeOf, openShop, paying, type Shop } from './rig/shop.ts';
import { attempts } from './rig/smuggle.ts';
import { requiredOf } from './rig/terms.ts';
import { type Asked, ask, octets, open, type Received } from './rig/wire.ts';

/** One connection to the server behind, shared by everybody: what is left over on it is the next one's. */
function shared(port: number): { readonly pass: string; readonly http: readonly string[] } {
  return { pass: 'behind', http: [`upstream behind { server 127.0.0.1:${port}; keepalive 1; }`] };
}

const keepsAlive = ['proxy_http_version 1.1', 'proxy_set_header Connection ""'];

/** nginx drops fields with underscores and other odd names, unless somebody asked for them. */
const fields = { dropped: [], 'let through': ['underscores_in_headers on', 'ignore_invalid_headers off'] };

for (const door of doors) {
  // A Request of the Fetch standard cannot have a body with GET; what a server makes of one is seen behind Hono's.
  for (const method of door.name === 'fetch' ? ['POST'] : ['GET', 'POST']) {
    for (const [odd, server] of Object.entries(fields)) {
      test(`H11: ${door.name} behind nginx, odd fields ${odd}: no ${method} that two servers read differently buys or disturbs anything`, async (t) => {
        const connections = new Set<unknown>();
        let [requests, runs] = [0, 0];
        const make = (seller: Seller, route: Route<RouteRequest>): RequestListener => {
          const sell = door.open(seller, route, () => {
            runs += 1;
            return { parts: ['secret'] };
          });
          return (request, response) => {
            connections.add(request.socket);
            requests += 1;
            sell(request, response);
          };
        };
        const shop = await openShop(t, make, { method });
        const nginx = await openNginx(t, {
          upstream: shop.port,
          ...shared(shop.port),
          server,
          location: [...passHost, ...keepsAlive],
        });
        const payment = await shop.payment({ method });
        for (const [what, text] of attempts(method, payment)) {
          const wire = open(nginx.port);
          wire.send(Buffer.from(text, 'latin1'));
          await wire.closed;
          assert.doesNotMatch(wire.soFar(), /secret|HTTP\/1\.1 [123]/, what);
          const next = await ask(nginx.port, { method });
          assert.equal(requiredOf(next).resource.url, 'https://api.example.com/weather', what);
        }
        assert.deepEqual([runs, shop.rig.calls.settle], [0, 0]);
        const bought = await ask(nginx.port, paying(payment, { method }));
        assert.deepEqual([bought.status, bought.text, runs], [200, 'secret', 1]);
        assert.ok(connections.size < requests / 2, 'connections were shared');
      });
    }
  }
}

type Placed = Shop & {
  readonly runs: () => number;
  /** Where the handler believed itself to be asked, last. */
  readonly url: () => string | undefined;
};

/** A seller that is told its origins and its proxies; a fetch handler is told its peer by whoever serves it. */
async function openPlaced(
  t: TestContext,
  door: Door,
  options: Pick<SellerOptions, 'origin' | 'trustProxy'>,
): Promise<Placed> {
  const urls: string[] = [];
  const make = (seller: Seller, route: Route<RouteRequest>): RequestListener => {
    if (door.name !== 'fetch') {
      return door.open(seller, route, ({ context }) => {
        urls.push(context.request.url);
        return { parts: ['secret'] };
      });
    }
    const handler = ({ url }: Request): Response => {
      urls.push(url);
      return new Response('secret');
    };
    return bridge(sellFetch(seller, route, { handler, peer: () => '127.0.0.1' }));
  };
  const shop = await openShop(t, make, {}, options);
  return { ...shop, runs: () => urls.length, url: () => urls.at(-1) };
}

/** Pays as the terms say that came through the proxy. */
async function buy(placed: Placed, port: number, asked: Asked): Promise<Received> {
  const payment = await placed.rig.pay(requiredOf(await ask(port, asked)));
  return ask(port, paying(encodePaymentSignature(payment), asked));
}

const home = 'https://api.example.com';
const other = 'https://shop.example.org';
const trusted = { trustProxy: ['127.0.0.1'] };

/** What a client writes who would like to be somewhere else. */
const forged = [
  ['X-Forwarded-Host', 'evil.example'],
  ['X-Forwarded-Proto', 'http'],
  ['X-Forwarded-Port', '81'],
  ['X-Forwarded-Prefix', '/free'],
  ['X-Original-URL', '/free'],
  ['X-Rewrite-URL', '/free'],
  ['X-Real-IP', '127.0.0.1'],
  ['X-Forwarded-For', '127.0.0.1'],
  ['Forwarded', 'for=127.0.0.1;host=evil.example;proto=http'],
] as const;

/** What the operator's documentation asks for. */
const writesHost = ['proxy_set_header X-Forwarded-Host $host', 'proxy_set_header X-Forwarded-Proto $scheme'];

/** The request under another Host than the usual one. */
async function askAt(port: number, host: string, asked: Asked = {}): Promise<Received> {
  const wire = open(port);
  wire.send(octets(asked).replace(/^Host: .*$/m, `Host: ${host}`));
  const [answer] = await wire.answers();
  wire.socket.destroy();
  if (answer === undefined) throw new Error('no answer');
  return answer;
}

for (const door of doors) {
  describe(`${door.name} behind nginx:`, () => {
    test('H10: what a client forges changes neither the terms nor the place of the sale', async (t) => {
      const shop = await openPlaced(t, door, { origin: home });
      const nginx = await openNginx(t, { upstream: shop.port, location: passHost });
      const asked = { headers: forged };
      assert.equal(requiredOf(await ask(nginx.port, asked)).resource.url, `${home}/weather`);
      assert.equal((await buy(shop, nginx.port, asked)).status, 200);
      assert.deepEqual([shop.runs(), shop.url()], [1, `${home}/weather`]);
    });

    test('H10: as it comes nginx asks under a name of its own, which is foreign until the seller trusts it', async (t) => {
      const strict = await openPlaced(t, door, { origin: home });
      const open = await openPlaced(t, door, { origin: home, ...trusted });
      const payment = paying(
        encodePaymentSignature(await strict.rig.pay(requiredOf(await ask(strict.port)))),
      );
      const before = await openNginx(t, { upstream: strict.port });
      for (const asked of [{}, payment]) assert.equal(codeOf(await ask(before.port, asked)), 'foreign_host');
      assert.deepEqual([strict.runs(), strict.rig.calls.settle], [0, 0]);
      const nginx = await openNginx(t, { upstream: open.port });
      assert.equal((await buy(open, nginx.port, {})).status, 200);
      assert.equal(open.url(), `${home}/weather`);
    });

    test('H10: a trusted proxy that hands on what a client forged opens no other place than ours', async (t) => {
      const shop = await openPlaced(t, door, { origin: [home, other], ...trusted });
      const nginx = await openNginx(t, { upstream: shop.port });
      assert.equal(codeOf(await ask(nginx.port, { headers: forged })), 'foreign_host');
      assert.equal(codeOf(await ask(nginx.port)), 'foreign_host');
      assert.equal(shop.runs(), 0);
    });

    test('H10: a trusted proxy that writes the host itself, or after the client’s, is believed and nobody else', async (t) => {
      const shop = await openPlaced(t, door, { origin: [home, other], ...trusted });
      const appends = ['proxy_set_header X-Forwarded-Host "$http_x_forwarded_host, $host"'];
      for (const location of [writesHost, appends]) {
        const nginx = await openNginx(t, { upstream: shop.port, location });
        for (const host of ['evil.example', 'shop.example.org']) {
          const asked: Asked = { headers: [['X-Forwarded-Host', host]] };
          assert.equal((await buy(shop, nginx.port, asked)).status, 200);
          assert.equal(shop.url(), `${home}/weather`);
        }
      }
      assert.equal(shop.runs(), 4);
    });

    test('H10: a proxy at another address than the trusted ones is a client like others', async (t) => {
      const shop = await openPlaced(t, door, { origin: home, trustProxy: ['10.0.0.0/8', 'fd00::/8'] });
      const nginx = await openNginx(t, { upstream: shop.port, location: writesHost });
      assert.equal(codeOf(await ask(nginx.port)), 'foreign_host');
      assert.equal(shop.runs(), 0);
    });

    test('B06: a payment is spent under the origin that it was made for and under no other', async (t) => {
      const shop = await openPlaced(t, door, { origin: [home, other], ...trusted });
      for (const location of [passHost, writesHost]) {
        const nginx = await openNginx(t, { upstream: shop.port, location });
        const before = shop.runs();
        const terms = requiredOf(await askAt(nginx.port, 'shop.example.org'));
        assert.equal(terms.resource.url, `${other}/weather`);
        const asked = paying(encodePaymentSignature(await shop.rig.pay(terms)));
        assert.equal(codeOf(await askAt(nginx.port, 'api.example.com', asked)), 'resource_mismatch');
        assert.equal(codeOf(await askAt(nginx.port, 'evil.example', asked)), 'foreign_host');
        assert.equal(shop.runs(), before);
        assert.equal((await askAt(nginx.port, 'shop.example.org:80', asked)).status, 200);
        assert.deepEqual([shop.runs(), shop.url()], [before + 1, `${other}/weather`]);
      }
    });
  });
}
