import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkSignature, parseExactEvm } from 'counterfoil/payment';
import { createSystem } from 'counterfoil/system';
import { defineAsset } from 'counterfoil/terms';
import { decodePaymentSignature, encodePaymentRequired } from 'counterfoil/wire';
import { network, payTo, token } from '../server/goods.ts';
import { createWallet } from './wallet.ts';

const asset = defineAsset({ network, dollar: true, ...token });
const terms = encodePaymentRequired({
  x402Version: 2,
  resource: { url: 'http://127.0.0.1/weather' },
  accepts: [
    {
      scheme: 'exact',
      network,
      amount: 10_000n,
      asset: asset.address,
      payTo,
      maxTimeoutSeconds: 300,
      extra: { name: token.name, version: token.version },
    },
  ],
});

test('payments are signed by their payers, for the terms that are asked, each under a nonce of its own', async () => {
  const world = await createSystem();
  const nonces = new Set<string>();
  for (const text of await (await createWallet()).sign(terms, 25)) {
    const message = decodePaymentSignature(text);
    assert.ok(message.ok);
    assert.equal(message.value.resource?.url, 'http://127.0.0.1/weather');
    const payment = parseExactEvm(message.value);
    assert.ok(payment.ok);
    assert.deepEqual(checkSignature(payment.value, asset.domain, world.recover), { by: 'payer' });
    nonces.add(payment.value.nonce);
  }
  assert.equal(nonces.size, 25);
  await world.close();
});

test('terms that cannot be read are no terms', async () => {
  const wallet = await createWallet();
  await assert.rejects(wallet.sign('e30=', 1), /asks for nothing/);
});
