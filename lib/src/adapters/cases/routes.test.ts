/** Gates before whole applications, through every adapter: what is sold, what is free, and what is neither. */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import type { CatalogueOptions, Probe, Route, RouteRequest, Seller } from '../../seller/index.ts';
import { type Door, doors, type Handler } from '../rig/door.ts';
import { markets } from '../rig/market.ts';
import { codeOf, openShop, type Shop } from '../rig/shop.ts';
import { octets, open } from '../rig/wire.ts';

type Market = Shop & {
  readonly runs: () => readonly string[];
  readonly seller: Seller;
  readonly probe: Probe;
};

const paths = ['GET /weather', 'POST /weather', 'GET /api/forecast', 'GET /item/:id'];

/** An application with several routes behind one gate; what is free says `free`. */
async function openMarket(t: TestContext, door: Door, options: CatalogueOptions = {}): Promise<Market> {
  const runs: string[] = [];
  let probe: Probe | undefined;
  const shop = await openShop(
    t,
    (seller, unused) => {
      const routes = paths.map((name): Route<RouteRequest> => {
        const [method = '', path = ''] = name.split(' ');
        return seller.route({ method, path, price: '$0.01', binding: 'off' });
      });
      const handlerOf = (route: Route<RouteRequest>): Handler => {
        return () => {
          runs.push(route.name);
          return { parts: [route.name] };
        };
      };
      const sold = routes.map((route) => [route, handlerOf(route)] as const);
      assert.equal(unused.path, '/unused');
      const many = markets[door.name](seller, sold, options);
      probe = many.probe;
      return many.listener;
    },
    { path: '/unused' },
  );
  assert.ok(probe);
  return { ...shop, runs: () => runs, seller: shop.rig.seller, probe };
}

for (const door of doors) {
  describe(`${door.name}:`, () => {
    test('each route is asked for and bought by its method and path', async (t) => {
      const market = await openMarket(t, door);
      for (const [method, target, name] of [
        ['GET', '/weather?at=%2Fhome', 'GET /weather'],
        ['POST', '/weather', 'POST /weather'],
        ['GET', '/item/7', 'GET /item/:id'],
      ] as const) {
        const asked = { method, target, ...(method === 'POST' ? { body: 'where?' } : {}) };
        const answer = await market.buy(asked);
        assert.deepEqual([answer.status, answer.text], [200, name]);
      }
      assert.equal(market.rig.calls.settle, 3);
    });

    test('what is not sold is free, unless everything about it is closed', async (t) => {
      const market = await openMarket(t, door, { closed: ['/api'], free: ['GET /api/health'] });
      assert.equal((await market.ask({ target: '/elsewhere' })).text, 'free');
      assert.equal((await market.ask({ target: '/api/health' })).text, 'free');
      const closed = await market.ask({ target: '/api/secret' });
      assert.deepEqual([closed.status, codeOf(closed)], [404, 'not_sold']);
      assert.equal((await market.ask({ target: '/api/forecast' })).status, 402);
    });

    test('H01: HEAD, OPTIONS and methods that a path is not sold for run nothing', async (t) => {
      const market = await openMarket(t, door);
      assert.equal((await market.ask({ method: 'HEAD' })).status, 402);
      assert.equal((await market.ask({ method: 'OPTIONS' })).status, 204);
      const answer = await market.ask({ method: 'DELETE' });
      assert.deepEqual([answer.status, codeOf(answer)], [405, 'method_not_allowed']);
      assert.deepEqual(market.runs(), []);
    });

    test('H02: a preflight is answered for the route of the method that a page is about to use', async (t) => {
      const market = await openMarket(t, door, { free: ['DELETE /weather'] });
      const allowed = async (method: string, target = '/weather'): Promise<string | undefined> => {
        const headers = [
          ['Origin', 'https://app.example.com'],
          ['Access-Control-Request-Method', method],
        ] as const;
        const answer = await market.ask({ method: 'OPTIONS', target, headers });
        assert.equal(answer.status, 204);
        return answer.header('access-control-allow-methods');
      };
      assert.deepEqual([await allowed('GET'), await allowed('POST')], ['GET', 'POST']);
      // Where a handler for every method stands, OPTIONS passed on for the sake of a free one would run it.
      assert.deepEqual(
        [await allowed('DELETE'), await allowed('PATCH'), await allowed('OPTIONS')],
        ['GET', 'GET', 'GET'],
      );
      assert.deepEqual([await allowed('POST', '/item/7'), market.runs()], ['GET', []]);
    });

    test('H04: other spellings of a priced path are priced, refused or unknown, and never free', async (t) => {
      const market = await openMarket(t, door);
      for (const target of [
        '//weather',
        '/weather/',
        '/WEATHER',
        '/%77eather',
        '/./weather',
        '/a/../weather',
        '/weather;v=1',
        '/weather%00',
        '/weather%',
        '/weather/.',
        '\\weather',
        '/api%2fforecast',
        '/api%5Cforecast',
      ]) {
        const wire = open(market.port);
        wire.send(octets({ target }));
        const [answer] = await wire.answers();
        wire.socket.destroy();
        assert.ok(answer && (answer.status >= 400 || answer.text === 'free'), `${target}: ${answer?.status}`);
      }
      assert.deepEqual(market.runs(), []);
    });

    test('H05: the self-test meets every route that stands behind the gate', async (t) => {
      const market = await openMarket(t, door);
      await market.seller.ready({ probe: market.probe, except: ['GET /unused'] });
      await assert.rejects(market.seller.ready({ probe: market.probe }), /GET \/unused/);
      assert.deepEqual(market.runs(), []);
    });

    test('an option that nobody reads is a mistake', async (t) => {
      await assert.rejects(openMarket(t, door, { close: ['/api'] } as CatalogueOptions), TypeError);
    });
  });
}
