import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { recoverTypedDataAddress } from 'viem';
import { createDigestSigner, recoverNoble } from '../crypto/secp256k1.ts';
import { lookupAsset } from '../terms/assets.ts';
import { buildRequirements, defineTerms } from '../terms/requirements.ts';
import { signExactEvm } from './client.ts';
import type { ExactEvmPayment } from './exact.ts';
import { parseExactEvm } from './exact.ts';
import { checkSignature } from './signature.ts';

const curveOrder = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const terms = defineTerms({
  accepts: [{ network: 'eip155:8453', payTo: '0x209693Bc6afc0C5328bA36FaF03C514EF312287C' }],
});
const [requirement] = buildRequirements('$0.01', terms);
assert.ok(requirement);
const asset = lookupAsset(requirement.network, requirement.asset);
assert.ok(asset);
const { domain } = asset;
const outcome = parseExactEvm(
  await signExactEvm({
    requirement,
    signer: createDigestSigner(new Uint8Array(32).fill(7)),
    nowMs: 1_780_000_000_000,
    random: (length) => new Uint8Array(randomBytes(length)),
  }),
);
assert.ok(outcome.ok);
const honest = outcome.value;

function verdict(change: Partial<ExactEvmPayment>): string {
  const found = checkSignature({ ...honest, ...change }, domain, recoverNoble);
  return found.by === 'nobody' ? found.refusal.code : found.by;
}

test('a payment signed by its payer is the payer’s, and viem says the same', async () => {
  assert.deepEqual(checkSignature(honest, domain, recoverNoble), { by: 'payer' });
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
  const signer = await recoverTypedDataAddress({
    domain: { ...domain, verifyingContract: domain.verifyingContract as `0x${string}` },
    types,
    primaryType: 'TransferWithAuthorization',
    message: {
      from: honest.payer as `0x${string}`,
      to: honest.payTo as `0x${string}`,
      value: honest.amount,
      validAfter: honest.validAfter,
      validBefore: honest.validBefore,
      nonce: honest.nonce as `0x${string}`,
    },
    signature: honest.signature,
  });
  assert.equal(signer.toLowerCase(), honest.payer);
});

test('any change of what was signed makes it somebody else’s signature', () => {
  const changes: readonly Partial<ExactEvmPayment>[] = [
    { amount: honest.amount + 1n },
    { payTo: honest.payer },
    { validAfter: 1n },
    { validBefore: honest.validBefore + 1n },
    { nonce: `0x${'0'.repeat(64)}` },
    { payer: `0x${'1'.repeat(40)}` },
  ];
  for (const change of changes) assert.equal(verdict(change), 'foreign');
});

test('a foreign signature names its signer, so that a contract wallet’s owner can be looked up', () => {
  const found = checkSignature({ ...honest, payer: `0x${'1'.repeat(40)}` }, domain, recoverNoble);
  assert.equal(found.by, 'foreign');
  assert.match(found.by === 'foreign' ? found.signer : '', /^0x[0-9a-f]{40}$/);
});

test('G01: a high s, v of 0 or 1 and numbers beyond the curve are refused before a facilitator sees them', () => {
  const { signature } = honest;
  const s = BigInt(`0x${Buffer.from(signature.subarray(32, 64)).toString('hex')}`);
  const high = Buffer.from((curveOrder - s).toString(16).padStart(64, '0'), 'hex');
  const flipped = signature[64] === 27 ? 28 : 27;
  const wrong: readonly Uint8Array[] = [
    Uint8Array.of(...signature.subarray(0, 32), ...high, flipped),
    signature.with(64, (signature[64] ?? 27) - 27),
    signature.with(64, 29),
    Uint8Array.of(...new Uint8Array(64), 27),
    new Uint8Array(65).fill(255).with(64, 28),
  ];
  for (const octets of wrong) assert.equal(verdict({ signature: octets }), 'signature_invalid');
});

test('G01: octets that no key can have made are nobody’s', () => {
  // r = 5 is no x coordinate of the curve.
  const signature = Uint8Array.of(...new Uint8Array(31), 5, ...new Uint8Array(31), 1, 27);
  assert.equal(verdict({ signature }), 'signature_invalid');
});

test('G03: the domain is the asset’s own, and the domain of another asset or chain is a programming mistake', () => {
  for (const other of [
    lookupAsset('eip155:84532', '0x036CbD53842c5426634e7929541eC2318f3dCF7e'),
    lookupAsset('eip155:1', '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'),
  ]) {
    assert.ok(other);
    assert.throws(() => checkSignature(honest, other.domain, recoverNoble), TypeError);
  }
  const chainOnly = { ...domain, chainId: 1n };
  assert.throws(() => checkSignature(honest, chainOnly, recoverNoble), TypeError);
});

test('G03: a signature under another name of the same token is not the payer’s', () => {
  assert.equal(checkSignature(honest, { ...domain, name: 'USDC' }, recoverNoble).by, 'foreign');
  assert.equal(checkSignature(honest, { ...domain, version: '1' }, recoverNoble).by, 'foreign');
});

test('G04: the zero address pays nothing, whatever signature comes with it', () => {
  const payer = `0x${'0'.repeat(40)}`;
  assert.equal(verdict({ payer }), 'payer_invalid');
  assert.equal(verdict({ payer, signatureKind: 'contract' }), 'payer_invalid');
  assert.equal(verdict({ payer, signature: new Uint8Array(65) }), 'payer_invalid');
});

test('a contract’s signature is left to the contract', () => {
  assert.equal(verdict({ signatureKind: 'contract', signature: new Uint8Array(300) }), 'contract');
});
