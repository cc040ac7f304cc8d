/** Version 1's names. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EVM_NETWORK_CHAIN_ID_MAP } from '@x402/evm/v1';
import { parseNetwork } from './caip.ts';
import { networkOfV1, paymentHeaderV1, paymentResponseHeaderV1 } from './v1.ts';

test('every network name of the reference package has its chain', () => {
  const names = Object.entries(EVM_NETWORK_CHAIN_ID_MAP);
  assert.ok(names.length > 10);
  for (const [name, chainId] of names) assert.equal(networkOfV1(name), `eip155:${chainId}`);
});

test('a name that is no network has none', () => {
  for (const name of ['', 'BASE', 'base ', 'eip155:8453', 'constructor', '__proto__'])
    assert.equal(networkOfV1(name), undefined);
  assert.ok(parseNetwork(networkOfV1('solana') ?? ''));
  assert.deepEqual([paymentHeaderV1, paymentResponseHeaderV1], ['x-payment', 'x-payment-response']);
});
