import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eip3009Key } from './key.ts';

const parts = {
  network: 'eip155:8453',
  asset: `0x${'a'.repeat(40)}`,
  from: `0x${'b'.repeat(40)}`,
  nonce: `0x${'c'.repeat(64)}`,
};

test('the key of an EIP-3009 payment is laid out as documented', () => {
  assert.equal(
    eip3009Key(parts),
    'eip155:8453/eip3009/0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/0xbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb/0xcccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc',
  );
});

test('C06: the same nonce of another payer, asset or chain is another payment', () => {
  const keys = new Set([
    eip3009Key(parts),
    eip3009Key({ ...parts, from: `0x${'d'.repeat(40)}` }),
    eip3009Key({ ...parts, asset: `0x${'d'.repeat(40)}` }),
    eip3009Key({ ...parts, network: 'eip155:1' }),
    eip3009Key({ ...parts, nonce: `0x${'d'.repeat(64)}` }),
  ]);
  assert.equal(keys.size, 5);
});
