import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { hashTypedData } from 'viem';
import type { Eip712Domain } from './eip712.ts';
import { cancelDigest, domainSeparator, receiveDigest, transferDigest } from './eip712.ts';

const hex = (bytes: Uint8Array): `0x${string}` => `0x${Buffer.from(bytes).toString('hex')}`;
const hexOf = (length: number): fc.Arbitrary<`0x${string}`> =>
  fc.uint8Array({ minLength: length, maxLength: length }).map(hex);
const uint256 = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });
const domain = fc.record({
  name: fc.string({ unit: 'grapheme', maxLength: 40 }),
  version: fc.string({ maxLength: 5 }),
  chainId: fc.bigInt({ min: 1n, max: 2n ** 53n - 1n }),
  verifyingContract: hexOf(20),
});
const authorization = fc.record({
  from: hexOf(20),
  to: hexOf(20),
  value: uint256,
  validAfter: uint256,
  validBefore: uint256,
  nonce: hexOf(32),
});
const transferTypes = [
  { name: 'from', type: 'address' },
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'validAfter', type: 'uint256' },
  { name: 'validBefore', type: 'uint256' },
  { name: 'nonce', type: 'bytes32' },
] as const;
const sampleDomain: Eip712Domain = {
  name: 'USD Coin',
  version: '2',
  chainId: 1n,
  verifyingContract: '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48',
};
const sampleAuthorization = {
  from: `0x${'1'.repeat(40)}`,
  to: `0x${'2'.repeat(40)}`,
  value: 1n,
  validAfter: 0n,
  validBefore: 2n,
  nonce: `0x${'3'.repeat(64)}`,
};

test('transfer and receive digests are those of viem for any domain and any values', () => {
  fc.assert(
    fc.property(domain, authorization, (ours, message) => {
      for (const [primaryType, digest] of [
        ['TransferWithAuthorization', transferDigest],
        ['ReceiveWithAuthorization', receiveDigest],
      ] as const) {
        const types: Record<string, typeof transferTypes> = { [primaryType]: transferTypes };
        const typedData = { domain: ours, types, primaryType, message } as Parameters<
          typeof hashTypedData
        >[0];
        assert.equal(hex(digest(ours, message)), hashTypedData(typedData));
      }
    }),
    { numRuns: 60 },
  );
});

test('the cancel digest is that of viem', () => {
  fc.assert(
    fc.property(domain, hexOf(20), hexOf(32), (ours, authorizer, nonce) => {
      const types = {
        CancelAuthorization: [
          { name: 'authorizer', type: 'address' },
          { name: 'nonce', type: 'bytes32' },
        ],
      } as const;
      const message = { authorizer, nonce };
      assert.equal(
        hex(cancelDigest(ours, message)),
        hashTypedData({ domain: ours, types, primaryType: 'CancelAuthorization', message }),
      );
    }),
    { numRuns: 60 },
  );
});

test('letter case of an address or a nonce changes no digest', () => {
  const shouting = { ...sampleAuthorization, from: `0x${'aB'.repeat(20)}`, nonce: `0x${'cD'.repeat(32)}` };
  const quiet = { ...shouting, from: shouting.from.toLowerCase(), nonce: shouting.nonce.toLowerCase() };
  assert.deepEqual(transferDigest(sampleDomain, shouting), transferDigest(sampleDomain, quiet));
});

test('a domain is computed once for its object and equal for an equal one', () => {
  assert.equal(domainSeparator(sampleDomain), domainSeparator(sampleDomain));
  assert.deepEqual(domainSeparator(sampleDomain), domainSeparator({ ...sampleDomain }));
  assert.equal(
    hex(domainSeparator(sampleDomain)),
    '0x06c37168a7db5138defc7866392bb87a741f9b3d104deb5094588ce041cae335',
    'as USDC on Ethereum reports it',
  );
});

test('values that the token could not hold are a programming mistake, never a wrapped number', () => {
  const wrong: readonly object[] = [
    { value: -1n },
    { validBefore: 2n ** 256n },
    { from: '0x1234' },
    { nonce: '0x' },
    { to: `0x${'g'.repeat(40)}` },
  ];
  for (const change of wrong) {
    assert.throws(() => transferDigest(sampleDomain, { ...sampleAuthorization, ...change }));
  }
});
