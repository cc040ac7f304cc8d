import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { stockClients } from './client.ts';
import { type Door, doorNames, openDoor } from './doors.ts';
import { type Market, openMarket, present, seen } from './market.ts';

const clients = ['axios', 'fetch'] as const;

describe('the stock clients at every door, on a real chain', () => {
  let market: Market;
  before(async () => {
    market = await openMarket();
  });
  after(() => market.close());

  /** How each payment of a shop was found to be tied to its request. */
  async function bindings({ store }: Door): Promise<readonly unknown[]> {
    return (await store.list({ limit: 10 })).map(({ binding }) => binding);
  }

  for (const name of doorNames) {
    for (const client of clients) {
      test(`B01: stock @x402/${client} buys from our ${name} seller under echoed, queries and bodies included`, async (t) => {
        const door = await openDoor(t, market, {
          name,
          goods: [
            { method: 'GET', path: '/weather' },
            { method: 'POST', path: '/chat' },
          ],
        });
        const { account, transfers } = market.buyer();
        const stock = stockClients[client](market.devnet, account);
        const orders = [
          { url: `${door.origin}/weather?city=Bern&days=%32`, sold: 'GET /weather' },
          {
            url: `${door.origin}/chat`,
            method: 'POST',
            body: '{"model":"small"}',
            sold: 'POST /chat {"model":"small"}',
          },
        ];
        for (const { sold, ...order } of orders) {
          const answer = await seen(await stock.buy(order));
          assert.deepEqual([answer.status, answer.text], [200, sold]);
          const [last] = (await transfers()).toReversed();
          assert.deepEqual([last?.value, last?.transaction], [10_000n, answer.response?.transaction]);
          assert.equal(stock.sent.at(-1)?.resource?.url, order.url);
        }
        assert.deepEqual([stock.signatures(), (await transfers()).length, door.runs()], [2, 2, 2]);
        assert.deepEqual(await bindings(door), ['echoed', 'echoed']);
      });

      test(`B01: stock @x402/${client} buys dithered siblings from our ${name} seller, and its payment for one does not buy the other`, async (t) => {
        const door = await openDoor(t, market, {
          name,
          siblings: 'dither',
          goods: [
            { method: 'GET', path: '/sun' },
            { method: 'GET', path: '/moon' },
          ],
        });
        const { account, sign, transfers } = market.buyer();
        const stock = stockClients[client](market.devnet, account);
        for (const path of ['/sun', '/moon']) {
          const answer = await seen(await stock.buy({ url: `${door.origin}${path}` }));
          assert.deepEqual([answer.status, answer.text], [200, `GET ${path}`]);
        }
        const amounts = stock.sent.map(({ accepted }) => accepted.amount);
        assert.deepEqual(
          (await transfers()).map(({ value }) => value),
          amounts,
        );
        assert.equal(new Set(amounts).size, 2);
        const [sun, moon] = [`${door.origin}/sun`, `${door.origin}/moon`];
        const [unused, other] = [await sign(sun), await sign(moon)];
        // Whatever of a payment is unsigned can be rewritten by whoever holds it.
        for (const { accepted } of [unused, other]) {
          const forged = { ...unused, ...(other.resource && { resource: other.resource }), accepted };
          const refused = await present(moon, forged);
          assert.deepEqual(
            [refused.status, refused.code, refused.money],
            [402, 'requirement_mismatch', 'unmoved'],
          );
        }
        assert.deepEqual([door.runs(), (await transfers()).length], [2, 2]);
        const own = await present(sun, unused);
        assert.deepEqual([own.status, own.text], [200, 'GET /sun']);
      });
    }
  }
});
