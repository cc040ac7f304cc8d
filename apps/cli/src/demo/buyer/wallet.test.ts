import assert from 'node:assert/strict';
import { test } from 'node:test';
import { declareCommitment, defaultBoundHeaders, parseExactEvm, readCommitment } from 'counterfoil/payment';
import { decodePaymentSignature, encodePaymentRequired } from 'counterfoil/wire';
import { recoverTypedDataAddress } from 'viem';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import type { Reply } from './client.ts';
import { createBuyer } from './wallet.ts';

const privateKey = generatePrivateKey();
const account = { privateKey, address: privateKeyToAddress(privateKey) };
const asset = '0x036CbD53842c5426634e7929541eC2318f3dCF7e';
const payTo = '0x742d35Cc6634C0532925a3b844Bc454e4438f44e';
const terms = {
  x402Version: 2,
  resource: { url: 'https://api.example.com/weather' },
  accepts: [
    {
      scheme: 'exact',
      network: 'eip155:31337',
      asset,
      amount: 10_000n,
      payTo,
      maxTimeoutSeconds: 300,
      extra: { name: 'Local USD', version: '2' },
    },
  ],
} as const;
const required = encodePaymentRequired(terms);

function sellerThat(status: number, headers: Record<string, string>): { send: () => Promise<Reply> } {
  const reply = { status, headers: new Map(Object.entries(headers)), body: '', startMs: 0, endMs: 0 };
  return { send: async () => reply };
}

const types = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const;

test('what a buyer signs is the transfer that was asked, under its own key and a fresh nonce each time', async () => {
  const buyer = createBuyer(account, sellerThat(402, { 'payment-required': required }));
  const nonces = new Set<string>();
  for (const header of [await buyer.pay('http://127.0.0.1/'), await buyer.pay('http://127.0.0.1/')]) {
    const message = decodePaymentSignature(header);
    const payment = message.ok ? parseExactEvm(message.value) : undefined;
    assert.ok(message.ok && payment?.ok);
    assert.equal(message.value.resource?.url, 'https://api.example.com/weather');
    const { payTo: to, amount: value, validAfter, validBefore, nonce } = payment.value;
    nonces.add(nonce);
    const signer = await recoverTypedDataAddress({
      domain: { name: 'Local USD', version: '2', chainId: 31_337, verifyingContract: asset },
      types,
      primaryType: 'TransferWithAuthorization',
      message: {
        from: account.address,
        to: to as `0x${string}`,
        value,
        validAfter,
        validBefore,
        nonce: nonce as `0x${string}`,
      },
      signature: `0x${Buffer.from(payment.value.signature).toString('hex')}`,
    });
    assert.equal(signer, account.address);
    assert.equal(to, payTo.toLowerCase());
  }
  assert.equal(nonces.size, 2);
});

test('a seller that does not ask is not paid', async () => {
  for (const seller of [
    sellerThat(200, {}),
    sellerThat(402, {}),
    sellerThat(500, { 'payment-required': required }),
    sellerThat(402, { 'payment-required': '!!' }),
  ])
    await assert.rejects(createBuyer(account, seller).pay('http://127.0.0.1/'), /did not ask/);
});

test('a payment that commits to its request carries the salt of its nonce, and none is made without being asked', async () => {
  const extension = declareCommitment({ required: true, boundHeaders: defaultBoundHeaders });
  const asking = encodePaymentRequired({ ...terms, extensions: { 'evm-request-commitment': extension } });
  const asked = { method: 'POST', url: 'http://127.0.0.1/chat', body: '{}' };
  const buyer = createBuyer(account, sellerThat(402, { 'payment-required': asking }));
  const payment = decodePaymentSignature(await buyer.commit(asked));
  assert.ok(payment.ok);
  const claim = readCommitment(payment.value.extensions);
  assert.equal(claim.ok && claim.value.kind, 'salted');
  const plain = createBuyer(account, sellerThat(402, { 'payment-required': required }));
  await assert.rejects(plain.commit(asked), /cannot be committed to: request_commitment_missing/);
});
