import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { domainSeparator, parseAbi } from 'viem';
import { listAccounts } from './accounts.ts';
import { type Clients, createClients } from './client.ts';
import { type Devnet, startDevnet } from './devnet.ts';
import { MINTED, MULTICALL3, readDollar } from './dollar.ts';

describe('the dollar of the local chain', () => {
  let devnet: Devnet;
  let clients: Clients;

  before(async () => {
    devnet = await startDevnet({ accounts: 12 });
    clients = createClients(devnet.rpcUrl);
  });
  after(() => devnet.stop());

  test('it has a name that nobody takes for money, six decimals, and the domain that is reported', async () => {
    const { address, name, version, decimals, symbol } = devnet.dollar;
    assert.deepEqual(
      { name, version, decimals, symbol },
      { name: 'Local USD', version: '2', decimals: 6, symbol: 'LOCALUSD' },
    );
    const onChain = await clients.reader.readContract({
      address,
      abi: parseAbi(['function DOMAIN_SEPARATOR() view returns (bytes32)']),
      functionName: 'DOMAIN_SEPARATOR',
    });
    const domain = { name, version, chainId: devnet.chainId, verifyingContract: address };
    assert.equal(onChain, domainSeparator({ domain }));
  });

  test('every buyer has a million dollars, and everybody else has none', async () => {
    for (const account of listAccounts(devnet.accounts)) {
      const expected = account.role === 'buyer' ? MINTED : 0n;
      assert.equal(await devnet.chain.balanceOf(account.address), expected, account.role);
    }
    assert.equal(devnet.accounts.buyers.length, 12);
  });

  test('multicall is where the official packages look for it', async () => {
    const code = await clients.reader.getCode({ address: MULTICALL3 });
    assert.ok((code?.length ?? 0) > 2_000);
  });

  test('an address without a dollar is an error', async () => {
    await assert.rejects(readDollar(clients.reader, MULTICALL3), { code: 'deployment_failed' });
  });
});
