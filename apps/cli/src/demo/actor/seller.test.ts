import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { createClient, problemIn } from '../buyer/client.ts';
import { createBuyer } from '../buyer/wallet.ts';
import { closeServer, listen } from './config.ts';
import { type SellerConfig, startSeller } from './seller.ts';
import type { ShopActor } from './shop.ts';

const network = 'eip155:31337';
const privateKey = generatePrivateKey();
const payer = privateKeyToAddress(privateKey);
const transaction = `0x${'12'.repeat(32)}`;

/** A facilitator that settles everything, of a chain that does not exist. */
const facilitator = createServer(async (request, response) => {
  await once(request.resume(), 'end');
  const answers: Record<string, object> = {
    '/supported': { kinds: [{ x402Version: 2, scheme: 'exact', network }] },
    '/verify': { isValid: true, payer },
    '/settle': { success: true, transaction, network, payer },
  };
  response.end(JSON.stringify(answers[request.url ?? ''] ?? {}));
});

describe('the process with our seller', () => {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-seller-'));
  const client = createClient(4);
  let config: SellerConfig;
  let shop: ShopActor;

  before(async () => {
    const keyFile = join(folder, 'store.key');
    writeFileSync(keyFile, new Uint8Array(32).fill(7), { mode: 0o600 });
    config = {
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
      rpcUrl: 'http://127.0.0.1:9/',
      storeFile: join(folder, 'claims.sqlite'),
      keyFile,
      port: 0,
    };
    shop = await startSeller(config);
  });
  after(async () => {
    await shop.actor.stop();
    await client.close();
    await closeServer(facilitator);
    rmSync(folder, { recursive: true });
  });

  test('it sells three resources at one price, under the origin at which it listens', async () => {
    const buyer = createBuyer({ privateKey, address: payer }, client);
    for (const path of ['/weather', '/premium', '/work']) {
      const required = await buyer.ask({ url: shop.origin + path });
      assert.deepEqual([required.resource.url, required.accepts[0]?.amount], [shop.origin + path, 10_000n]);
      const reply = await client.get(shop.origin + path, await buyer.sign(required));
      assert.deepEqual([reply.status, JSON.parse(reply.body).sold], [200, path]);
    }
    assert.deepEqual((await shop.counts()).begun, { '/weather': 1, '/premium': 1, '/work': 1 });
    assert.equal((await client.get(`${shop.origin}/hello`)).status, 200);
    assert.equal((await client.get(`${shop.origin}/other`)).status, 404);
  });

  test('it sells POST and PUT of one path to payments that commit to their request, and to no other', async () => {
    const buyer = createBuyer({ privateKey, address: payer }, client);
    for (const method of ['POST', 'PUT']) {
      const asked = { method, url: `${shop.origin}/chat`, body: '{"model":"small"}' };
      const reply = await client.send(asked, await buyer.commit(asked));
      assert.deepEqual([reply.status, JSON.parse(reply.body).sold], [200, '/chat']);
      const plain = await client.send(asked, await buyer.sign(await buyer.ask(asked)));
      assert.deepEqual([plain.status, problemIn(plain)], [402, 'request_commitment_missing']);
    }
  });

  test('it sells two siblings at one price, which ask for different amounts', async () => {
    const buyer = createBuyer({ privateKey, address: payer }, client);
    const amounts = new Set<bigint>();
    for (const path of ['/sun', '/moon']) {
      const { amount = 0n } = (await buyer.ask({ url: shop.origin + path })).accepts[0] ?? {};
      assert.ok(amount >= 20_000n && amount < 20_016n, `${amount}`);
      amounts.add(amount);
    }
    assert.equal(amounts.size, 2);
  });

  test('started again at the same port on the same files, it knows what it sold', async () => {
    const buyer = createBuyer({ privateKey, address: payer }, client);
    const payment = await buyer.pay(`${shop.origin}/weather`);
    const first = await client.get(`${shop.origin}/weather`, payment);
    const { port } = shop;
    await shop.actor.stop();
    const lease = { leaseMs: 3_000, heartbeatMs: 700, marginMs: 800, graceMs: 300 };
    shop = await startSeller({ ...config, port, timing: { settleMs: 2_000, lease } });
    const again = await client.get(`${shop.origin}/weather`, payment);
    assert.deepEqual([again.status, again.body], [200, first.body]);
    assert.equal(problemIn(await client.get(`${shop.origin}/premium`, payment)), 'payment_already_used');
    assert.deepEqual((await shop.counts()).begun, {});
  });

  test('a seller without its key, or whose facilitator does not settle its network, does not start', async () => {
    const other = { ...config, storeFile: join(folder, 'other.sqlite') };
    for (const wrong of [
      { ...other, keyFile: join(folder, 'absent') },
      { ...other, network: 'eip155:1' } as const,
    ]) {
      const actors: { stop: () => Promise<void> }[] = [];
      await assert.rejects(
        startSeller(wrong, (actor) => actors.push(actor)),
        /The seller process: .*(absent|eip155:1)/,
      );
      await Promise.all(actors.map((actor) => actor.stop()));
    }
  });
});
