import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { getAddress, keccak256 as viemKeccak256 } from 'viem';
import { checksumAddress, keccak256, plausibleAddress } from './keccak.ts';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

test('the empty text has the hash that every Ethereum tool knows', () => {
  assert.equal(
    hex(keccak256(new Uint8Array())),
    'c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470',
  );
});

test('any octets hash as in viem', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      assert.equal(`0x${hex(keccak256(bytes))}`, viemKeccak256(bytes));
    }),
    { numRuns: 100 },
  );
});

test('an address is spelled as EIP-55 spells it', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 20, maxLength: 20 }), (bytes) => {
      const address = `0x${hex(bytes)}` as const;
      assert.equal(checksumAddress(address), getAddress(address));
      assert.equal(checksumAddress(`0x${hex(bytes).toUpperCase()}`), getAddress(address));
    }),
    { numRuns: 100 },
  );
});

test('a typing error in a mixed-case address is seen, and plain lower or upper case is taken', () => {
  const good = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
  assert.ok(plausibleAddress(good));
  assert.ok(plausibleAddress(good.toLowerCase()));
  assert.ok(plausibleAddress(`0x${good.slice(2).toUpperCase()}`));
  assert.equal(plausibleAddress(good.replace('5aA', '5AA')), false);
  assert.equal(plausibleAddress(good.replace('Aed', 'Aee')), false);
});
