import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { createClient, transactionIn } from '../buyer/client.ts';
import { createBuyer } from '../buyer/wallet.ts';
import { closeServer, listen } from './config.ts';
import type { ShopActor } from './shop.ts';
import { startStock } from './stock.ts';

const network = 'eip155:31337';
const privateKey = generatePrivateKey();
const payer = privateKeyToAddress(privateKey);
const transaction = `0x${'12'.repeat(32)}`;

/** A facilitator that settles everything, of a chain that does not exist. */
const facilitator = createServer(async (request, response) => {
  await once(request.resume(), 'end');
  const answers: Record<string, object> = {
    '/supported': { kinds: [{ x402Version: 2, scheme: 'exact', network }], extensions: [], signers: {} },
    '/verify': { isValid: true, payer },
    '/settle': { success: true, transaction, network, payer },
  };
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(answers[request.url ?? ''] ?? {}));
});

describe('the process with the official seller', () => {
  const client = createClient(4);
  let shop: ShopActor;

  before(async () => {
    shop = await startStock({
      network,
      payTo: '0x742d35Cc6634C0532925a3b844Bc454e4438f44e',
      facilitatorUrl: `http://127.0.0.1:${await listen(facilitator, 0)}`,
      asset: {
        address: `0x${'34'.repeat(20)}`,
        symbol: 'LOCALUSD',
        decimals: 6,
        name: 'Local USD',
        version: '2',
      },
      workMs: 10,
    });
  });
  after(async () => {
    await shop.actor.stop();
    await client.close();
    await closeServer(facilitator);
  });

  test('it sells the same at the same price to the same buyer', async () => {
    const buyer = createBuyer({ privateKey, address: payer }, client);
    for (const path of ['/weather', '/premium', '/work']) {
      const required = await buyer.ask({ url: shop.origin + path });
      assert.equal(required.accepts[0]?.amount, 10_000n);
      const reply = await client.get(shop.origin + path, await buyer.sign(required));
      assert.deepEqual(
        [reply.status, JSON.parse(reply.body).sold, transactionIn(reply)],
        [200, path, transaction],
      );
    }
    assert.deepEqual((await shop.counts()).begun, { '/weather': 1, '/premium': 1, '/work': 1 });
    assert.equal((await client.get(`${shop.origin}/hello`)).status, 200);
  });
});
