import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Address, privateKeyToAccount } from 'viem/accounts';
import { deriveAccounts } from './accounts.ts';
import { type Anvil, startAnvil } from './anvil.ts';
import { type Clients, createClients } from './client.ts';
import { createWriter, type Writer, waitForReceipt } from './writer.ts';

const NOWHERE: Address = '0x00000000000000000000000000000000000000AA';

describe('the one writer of an account', () => {
  const accounts = deriveAccounts(1);
  let anvil: Anvil;
  let clients: Clients;
  let writer: Writer;

  before(async () => {
    anvil = await startAnvil({ port: 0, accounts: 5 });
    clients = createClients(anvil.url);
    await clients.control.setAutomine(true);
    writer = createWriter(privateKeyToAccount(accounts.operator.privateKey), clients);
  });
  after(() => anvil.stop());

  const send = async (data: `0x${string}` = '0x'): Promise<string> => {
    const hash = await writer.sendTransaction({ to: NOWHERE, data });
    return (await waitForReceipt(clients, hash)).status;
  };
  /** Code that reverts whatever it is asked. */
  const refusing = async (): Promise<Address> => {
    await clients.control.setCode({ address: NOWHERE, bytecode: '0x60006000fd' });
    return NOWHERE;
  };

  test('many at once leave one after another, each with its own nonce', async () => {
    const before = await clients.reader.getTransactionCount({ address: writer.address });
    const statuses = await Promise.all(Array.from({ length: 40 }, () => send()));
    assert.deepEqual(new Set(statuses), new Set(['success']));
    const later = await clients.reader.getTransactionCount({ address: writer.address });
    assert.equal(later, before + 40);
  });

  test('a call that would be reverted is not sent and leaves no gap for those behind it', async () => {
    const before = await clients.reader.getTransactionCount({ address: writer.address });
    const to = await refusing();
    const bad = writer.sendTransaction({ to, data: '0x' });
    const good = writer.sendTransaction({ to: accounts.seller.address, data: '0x' });
    await assert.rejects(bad);
    assert.equal((await waitForReceipt(clients, await good)).status, 'success');
    assert.equal(await clients.reader.getTransactionCount({ address: writer.address }), before + 1);
    await clients.control.setCode({ address: NOWHERE, bytecode: '0x' });
  });

  test('after the chain went back, the next transaction still goes through', async () => {
    const id = await clients.control.snapshot();
    await Promise.all([send(), send(), send()]);
    await clients.control.revert({ id });
    assert.equal(await send(), 'success');
  });

  test('a transaction that is not mined is reported, not waited for without end', async () => {
    await clients.control.setAutomine(false);
    const hash = await writer.sendTransaction({ to: NOWHERE, data: '0x' });
    await assert.rejects(waitForReceipt(clients, hash, 20), /was not mined within 20 ms/);
    await clients.control.mine({ blocks: 1 });
    assert.equal((await waitForReceipt(clients, hash)).status, 'success');
    await clients.control.setAutomine(true);
  });
});
