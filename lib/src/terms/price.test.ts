import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAssetTable, defineAsset } from './assets.ts';
import { priceAmounts } from './price.ts';

const eighteen = defineAsset({
  network: 'eip155:31337',
  address: '0x5FbDB2315678afecb367f032d93F642f64180aa3',
  symbol: 'DAI',
  decimals: 18,
  name: 'Dai',
  version: '1',
  dollar: true,
});
const table = createAssetTable([eighteen]);

function amounts(price: unknown, networks: readonly string[] = ['eip155:8453']): readonly bigint[] | string {
  const priced = priceAmounts(price, networks, table);
  return priced.ok ? priced.amounts.map((entry) => entry.amount) : priced.why;
}

test('a price in dollars is exact in the decimals of each network', () => {
  assert.deepEqual(amounts('$0.01'), [10_000n]);
  assert.deepEqual(amounts('$1'), [1_000_000n]);
  assert.deepEqual(amounts('$0.01', ['eip155:8453', 'eip155:31337']), [10_000n, 10_000_000_000_000_000n]);
});

test('P05: a price that would be rounded, to zero or at all, is no price', () => {
  for (const price of [
    '$0.0000001',
    '$0.0000015',
    '$0',
    '$0.00',
    '0.01',
    '0.01 USDC',
    '$-1',
    '$1e3',
    '$ 1',
    '',
  ]) {
    assert.equal(typeof amounts(price), 'string', price);
  }
  assert.match(String(amounts('$0.0000001')), /never rounded/);
});

test('a price in atomic units is taken as it is, and nothing is free', () => {
  assert.deepEqual(amounts({ asset: eighteen, amount: 7n }), [7n]);
  assert.deepEqual(amounts(['$0.01', { asset: eighteen, amount: 7n }]), [10_000n, 7n]);
  for (const amount of [0n, -1n, 2n ** 256n, 7, '7']) {
    assert.equal(typeof amounts({ asset: eighteen, amount }), 'string');
  }
});

test('what is no price at all is named, not guessed', () => {
  for (const price of [undefined, null, 0.01, 10_000n, [], {}, { asset: 'USDC', amount: 1n }, [['$1']]]) {
    assert.equal(typeof amounts(price), 'string');
  }
  assert.match(String(amounts('$1', ['eip155:99999'])), /No dollar asset/);
});
