/** Networks and accounts have one name each. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eip155ChainId, formatAccount, formatNetwork, parseAccount, parseNetwork } from './caip.ts';

test('a canonical CAIP-2 network is read and written back', () => {
  for (const text of [
    'eip155:8453',
    'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
    'ach:us',
    'cosmos:cosmoshub-3',
    'bip122:000000000019d6689c085ae165831e93',
  ]) {
    const network = parseNetwork(text);
    assert.ok(network);
    assert.equal(formatNetwork(network), text);
  }
});

test('C05: another spelling of a network is no network', () => {
  const refused = [
    'eip155:08453',
    'eip155:0',
    'eip155:',
    'eip155:0x2105',
    'EIP155:8453',
    'eip155:8453 ',
    ' eip155:8453',
    'eip155:8453\n',
    'eip155:+1',
    'eip155',
    'base-sepolia',
    'ab:1',
    'namespaces:1',
    'eip155:1:2',
    `solana:${'a'.repeat(33)}`,
    'eip155:\u0661',
    '',
  ];
  for (const text of refused) assert.equal(parseNetwork(text), undefined, JSON.stringify(text));
  assert.throws(() => formatNetwork({ namespace: 'eip155', reference: '01' }), TypeError);
});

test('an EVM network has its chain id', () => {
  assert.equal(eip155ChainId('eip155:84532'), 84532);
  assert.equal(eip155ChainId('eip155:9007199254740993'), undefined);
  assert.equal(eip155ChainId('solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'), undefined);
  assert.equal(eip155ChainId('eip155:01'), undefined);
});

test('C05: an account on an EVM network has one spelling', () => {
  const mixed = 'eip155:8453:0x742d35Cc6634C0532925a3b844Bc454e4438f44e';
  const account = parseAccount(mixed);
  assert.deepEqual(account, {
    network: 'eip155:8453',
    address: '0x742d35cc6634c0532925a3b844bc454e4438f44e',
  });
  assert.ok(account);
  assert.equal(formatAccount(account), mixed.toLowerCase());
  assert.ok(
    parseAccount('solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp:7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU'),
  );
  for (const text of [
    'eip155:8453:0x12',
    'eip155:8453:',
    'eip155:8453',
    ':',
    '',
    'eip155:01:0x742d35cc6634c0532925a3b844bc454e4438f44e',
    'ach:us:a b',
  ]) {
    assert.equal(parseAccount(text), undefined, text);
  }
  assert.throws(() => formatAccount({ network: 'eip155:1', address: '0x1' }), TypeError);
});
