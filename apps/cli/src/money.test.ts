import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wellKnownAssets } from 'counterfoil/terms';
import fc from 'fast-check';
import { formatAsset, formatMoney } from './money.ts';

const usd = { decimals: 6, symbol: 'USDC' };

test('an amount is shown exactly, with two decimals at least', () => {
  assert.equal(formatAsset(10_000n, usd), '0.01 USDC');
  assert.equal(formatAsset(1n, usd), '0.000001 USDC');
  assert.equal(formatAsset(0n, usd), '0.00 USDC');
  assert.equal(formatAsset(1_500_000n, usd), '1.50 USDC');
  assert.equal(formatAsset(7n, { decimals: 0, symbol: 'X' }), '7 X');
  assert.equal(formatAsset(7n, { decimals: 1, symbol: 'X' }), '0.7 X');
});

test('no amount loses a unit on its way to a person', () => {
  fc.assert(
    fc.property(fc.bigInt(0n, 2n ** 256n - 1n), fc.integer({ min: 0, max: 36 }), (amount, decimals) => {
      const [whole = '', fraction = ''] = formatAsset(amount, { decimals, symbol: '' }).trim().split('.');
      assert.equal(BigInt(whole + fraction.padEnd(decimals, '0')), amount);
    }),
  );
});

test('a token that is not known is shown in its own units', () => {
  const [asset] = wellKnownAssets;
  assert.ok(asset);
  assert.match(formatMoney(1_000_000n, asset), /^1\.00 USDC$/);
  assert.equal(formatMoney(5n, { network: 'eip155:31337', address: asset.address }), '5 units');
});
