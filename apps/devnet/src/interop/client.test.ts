import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { appendPaymentIdentifierToExtensions } from '@x402/extensions/payment-identifier';
import { signCommitted } from 'counterfoil/payment';
import { decodeHex, encodeHex } from 'counterfoil/wire';
import type { LocalAccount } from 'viem';
import { type StockClient, stockClients, stockFetch } from './client.ts';
import { type Door, doorNames, openDoor } from './doors.ts';
import { type Market, openMarket, present, seen, termsAt } from './market.ts';

const clients = ['axios', 'fetch'] as const;
/** As many different buyers ask at once. */
const burst = 20;

describe('what the stock clients make of extensions that they do not know, on a real chain', () => {
  let market: Market;
  before(async () => {
    market = await openMarket();
  });
  after(() => market.close());

  /** A payment of the library's own client for a GET of `url`. */
  async function commit(url: string, account: LocalAccount) {
    const required = await termsAt(url);
    const [requirement] = required.accepts;
    assert.ok(requirement);
    const payment = await signCommitted({
      requirement,
      required,
      request: { method: 'GET', url, headers: [], body: new Uint8Array() },
      nowMs: market.world.nowMs(),
      random: market.world.random,
      sha256: (bytes) => new Uint8Array(createHash('sha256').update(bytes).digest()),
      signer: {
        address: account.address,
        signDigest: async (digest) => {
          const signature = decodeHex((await account.sign?.({ hash: encodeHex(digest) })) ?? '');
          assert.ok(signature);
          return signature;
        },
      },
    });
    assert.ok(payment.ok);
    return payment.value;
  }

  /** Refused, told why, and not led to sign again. */
  async function assertTold(stock: StockClient, url: string): Promise<void> {
    const refused = await seen(await stock.buy({ url }));
    assert.deepEqual(
      [refused.status, refused.code, refused.money],
      [402, 'request_commitment_missing', 'unmoved'],
    );
    assert.match(JSON.parse(refused.text).detail, /evm-request-commitment/);
    assert.deepEqual([stock.signatures(), stock.sent.length], [1, 1]);
  }

  async function assertUntouched(door: Door): Promise<void> {
    const { verify, settle } = market.rig.counts();
    assert.deepEqual([verify, settle, door.runs()], [0, 0, 0]);
    assert.deepEqual(await door.store.list({ limit: 1 }), []);
  }

  for (const name of doorNames) {
    test(`B03: under required, the stock clients are told by our ${name} seller what they lack, and are not charged`, async (t) => {
      const goods = [{ method: 'GET', path: '/weather' }];
      const door = await openDoor(t, market, { name, binding: 'required', goods });
      const url = `${door.origin}/weather`;
      const buyer = market.buyer();
      market.rig.clear();
      for (const client of clients) await assertTold(stockClients[client](market.devnet, buyer.account), url);
      await assertUntouched(door);
      assert.deepEqual([(await buyer.transfers()).length, (await buyer.used()).length], [0, 0]);
      const served = await present(url, await commit(url, buyer.account));
      assert.deepEqual([served.status, served.text], [200, 'GET /weather']);
      assert.deepEqual([door.runs(), (await buyer.transfers()).length], [1, 1]);
    });
  }

  test(`under required, a burst of ${burst} stock clients moves no money`, async (t) => {
    const goods = [{ method: 'GET', path: '/weather' }];
    const door = await openDoor(t, market, { name: 'node', binding: 'required', goods });
    const buyers = Array.from({ length: burst }, () => market.buyer());
    market.rig.clear();
    const told = buyers.map(({ account }, at) =>
      assertTold(
        stockClients[at % 2 === 0 ? 'fetch' : 'axios'](market.devnet, account),
        `${door.origin}/weather`,
      ),
    );
    await Promise.all(told);
    await assertUntouched(door);
    for (const { transfers, used } of buyers) {
      assert.deepEqual([(await transfers()).length, (await used()).length], [0, 0]);
    }
  });

  for (const name of doorNames) {
    for (const client of clients) {
      test(`stock @x402/${client} echoes every extension that our ${name} seller declares, and is served`, async (t) => {
        const door = await openDoor(t, market, {
          name,
          goods: [
            {
              method: 'GET',
              path: '/weather',
              discovery: {
                input: { query: { example: { city: 'Bern' } } },
                output: { type: 'text', example: 'sunny' },
              },
            },
          ],
        });
        const url = `${door.origin}/weather?city=Bern`;
        const buyer = market.buyer();
        const stock = stockClients[client](market.devnet, buyer.account);
        const { extensions = {} } = await termsAt(url);
        assert.deepEqual(Object.keys(extensions).sort(), [
          'bazaar',
          'evm-request-commitment',
          'payment-identifier',
        ]);
        const answer = await seen(await stock.buy({ url }));
        assert.deepEqual([answer.status, answer.text], [200, 'GET /weather']);
        assert.deepEqual(stock.sent[0]?.extensions, extensions);
        assert.deepEqual([stock.signatures(), (await buyer.transfers()).length], [1, 1]);
      });
    }
  }

  test('C13: a stock client that names its payments as the official extension does pays once under one name', async (t) => {
    const goods = [{ method: 'GET', path: '/weather', paymentId: 'required' as const }];
    const door = await openDoor(t, market, { name: 'node', goods });
    const buyer = market.buyer();
    const name = `pay_${encodeHex(market.world.random(16)).slice(2)}`;
    const stock = stockFetch(market.devnet, buyer.account, (client) =>
      client.onBeforePaymentCreation(async ({ paymentRequired }) => {
        appendPaymentIdentifierToExtensions(paymentRequired.extensions ?? {}, name);
      }),
    );
    const url = `${door.origin}/weather`;
    const first = await seen(await stock.buy({ url }));
    assert.deepEqual([first.status, first.text], [200, 'GET /weather']);
    const second = await seen(await stock.buy({ url }));
    assert.deepEqual([second.status, second.code, second.money], [409, 'payment_id_conflict', 'unmoved']);
    assert.deepEqual([door.runs(), (await buyer.transfers()).length], [1, 1]);
  });
});
