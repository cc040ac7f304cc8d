import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { privateKeyToAccount } from 'viem/accounts';
import { createDigestSigner, recoverNoble } from '../crypto/secp256k1.ts';
import { lookupAsset } from '../terms/assets.ts';
import { buildRequirements, defineTerms } from '../terms/requirements.ts';
import type { JsonObject, PaymentPayload } from '../wire/v2.ts';
import { signExactEvm } from './client.ts';
import { checkPayment, parseExactEvm } from './exact.ts';
import { checkSignature } from './signature.ts';

const secretKey = new Uint8Array(32).fill(7);
const signer = createDigestSigner(secretKey);
const terms = defineTerms({
  accepts: [{ network: 'eip155:84532', payTo: '0x209693Bc6afc0C5328bA36FaF03C514EF312287C' }],
});
const [requirement] = buildRequirements('$0.01', terms);
assert.ok(requirement);
const asset = lookupAsset(requirement.network, requirement.asset);
assert.ok(asset);
const nonce = new Uint8Array(32).fill(0xab);
const options = {
  requirement,
  signer,
  nowMs: 1_780_000_000_999,
  random: () => {
    throw new Error('the nonce is given');
  },
  nonce,
};

test('our client’s payment passes our own checks', async () => {
  const payment = await signExactEvm(options);
  const parsed = parseExactEvm(payment);
  assert.ok(parsed.ok);
  assert.equal(checkPayment(parsed.value, requirement), undefined);
  assert.deepEqual(checkSignature(parsed.value, asset.domain, recoverNoble), { by: 'payer' });
  assert.equal(payment.accepted, requirement);
  assert.equal(parsed.value.validBefore, 1_780_000_300n);
  assert.equal(Object.hasOwn(payment, 'resource'), false);
});

test('the stock client’s payment passes our checks, and differs from ours in nonce and moment only', async () => {
  const account = privateKeyToAccount(`0x${Buffer.from(secretKey).toString('hex')}`);
  const stock = await new ExactEvmScheme(account).createPaymentPayload(2, {
    ...requirement,
    amount: requirement.amount.toString(),
  } as never);
  const payment: PaymentPayload = { ...(await signExactEvm(options)), payload: stock.payload as JsonObject };
  const parsed = parseExactEvm(payment);
  assert.ok(parsed.ok);
  assert.equal(checkPayment(parsed.value, requirement), undefined);
  assert.deepEqual(checkSignature(parsed.value, asset.domain, recoverNoble), { by: 'payer' });

  const again = await signExactEvm({
    ...options,
    nonce: Uint8Array.from(Buffer.from(parsed.value.nonce.slice(2), 'hex')),
    nowMs: (Number(parsed.value.validBefore) - requirement.maxTimeoutSeconds) * 1000,
  });
  assert.deepEqual(parsed.value.payload, again.payload);
});

test('resource and extensions are echoed, and the nonce is random unless it is given', async () => {
  const resource = { url: 'https://api.example.com/weather' };
  const { nonce: _, ...rest } = options;
  const payment = await signExactEvm({
    ...rest,
    random: (length) => new Uint8Array(length).fill(1),
    resource,
    extensions: { a: {} },
  });
  assert.deepEqual([payment.resource, payment.extensions], [resource, { a: {} }]);
  const parsed = parseExactEvm(payment);
  assert.equal(parsed.ok && parsed.value.nonce, `0x${'01'.repeat(32)}`);
});

test('what cannot be signed is a programming mistake', async () => {
  const wrong: readonly object[] = [
    { requirement: { ...requirement, scheme: 'upto' } },
    { requirement: { ...requirement, network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp' } },
    { requirement: { ...requirement, extra: {} } },
    { requirement: { ...requirement, payTo: 'merchant' } },
    { nonce: new Uint8Array(31) },
  ];
  for (const change of wrong) await assert.rejects(signExactEvm({ ...options, ...change }), TypeError);
});
