import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assetOf } from './asset.ts';

test('the local dollar is sold under the domain that its contract has', () => {
  const address = '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512';
  const dollar = { address, decimals: 6, symbol: 'LOCALUSD', name: 'Local USD', version: '2' } as const;
  const { domain, decimals } = assetOf({ dollar, network: 'eip155:31337' });
  assert.deepEqual(domain, {
    name: 'Local USD',
    version: '2',
    chainId: 31_337n,
    verifyingContract: address.toLowerCase(),
  });
  assert.equal(decimals, 6);
});
