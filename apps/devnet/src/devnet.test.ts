import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { SettleResponse } from '@x402/core/types';
import { createClients } from './client.ts';
import { type Devnet, type DevnetOptions, startDevnet } from './devnet.ts';
import { requirementsFor, signPayment } from './payment.ts';
import type { PaymentRequest } from './request.ts';

const settle = (devnet: Devnet, payment: PaymentRequest): Promise<SettleResponse> =>
  devnet.facilitator.settle(payment.paymentPayload, payment.paymentRequirements);

const sign = (devnet: Devnet): Promise<PaymentRequest> =>
  signPayment(devnet.signer(0), requirementsFor(devnet, 42n));

describe('a devnet', () => {
  test('two run side by side, each on its own ports, and are gone after stop', async () => {
    const [a, b] = await Promise.all([startDevnet(), startDevnet()]);
    assert.notEqual(a.rpcUrl, b.rpcUrl);
    assert.equal(a.dollar.address, b.dollar.address);
    assert.equal((await settle(a, await sign(a))).success, true);
    assert.equal((await b.chain.transfers({ to: b.accounts.seller.address })).length, 0);
    await Promise.all([a.stop(), b.stop(), a.stop()]);
    for (const url of [a.rpcUrl, a.facilitatorUrl, b.rpcUrl, b.facilitatorUrl]) {
      await assert.rejects(fetch(url));
    }
    assert.ok(a.timings.totalMs >= a.timings.anvilMs + a.timings.dollarMs);
  });

  test('options that do not exist or make no sense are mistakes of the program', async () => {
    const wrong: readonly object[] = [
      { blocktime: 2 },
      { blockTimeMs: 1_500 },
      { blockTimeMs: 0 },
      { blockTimeMs: Number.NaN },
      { port: 70_000 },
      { facilitatorPort: -1 },
      { accounts: 0 },
    ];
    for (const options of wrong) {
      await assert.rejects(startDevnet(options as DevnetOptions), TypeError, JSON.stringify(options));
    }
  });

  test('a taken port of the facilitator is named, and no chain is left behind', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const address = other.address();
    const facilitatorPort = typeof address === 'object' && address !== null ? address.port : 0;
    const chainPort = createServer().listen(0, '127.0.0.1');
    await once(chainPort, 'listening');
    const free = chainPort.address();
    const port = typeof free === 'object' && free !== null ? free.port : 0;
    await new Promise((resolve) => chainPort.close(resolve));
    await assert.rejects(startDevnet({ facilitatorPort, port }), { code: 'port_taken' });
    await assert.rejects(fetch(`http://127.0.0.1:${port}`));
    other.close();
  });
});

describe('a devnet that keeps its state', () => {
  let folder = '';

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'counterfoil-devnet-test-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  test('payments, receipts and logs are there after a restart, and a used payment stays used', async () => {
    const stateFile = join(folder, 'restart');
    const first = await startDevnet({ stateFile, accounts: 2 });
    assert.equal(first.restored, false);
    const payment = await sign(first);
    const { transaction } = await settle(first, payment);
    const height = await first.chain.blockNumber();
    await first.stop();

    const second = await startDevnet({ stateFile, blockTimeMs: 1_000 });
    assert.equal(second.restored, true);
    assert.equal(second.accounts.buyers.length, 2);
    assert.ok((await second.chain.blockNumber()) >= height);
    const [transfer, ...more] = await second.chain.transfers({ from: second.signer(0).address });
    assert.deepEqual([transfer?.transaction, more.length], [transaction, 0]);
    const receipt = await createClients(second.rpcUrl).reader.getTransactionReceipt({
      hash: transaction as `0x${string}`,
    });
    assert.equal(receipt.status, 'success');
    const again = await settle(second, payment);
    assert.equal(again.errorReason, 'invalid_exact_evm_nonce_already_used');
    assert.equal((await settle(second, await sign(second))).success, true);
    await second.stop();
  });

  test('when anvil is killed, what was saved is kept, stop still works, and the chain goes on from there', async () => {
    const stateFile = join(folder, 'killed');
    const first = await startDevnet({ stateFile });
    const saved = await sign(first);
    assert.equal((await settle(first, saved)).success, true);
    await first.save();
    const lost = await sign(first);
    assert.equal((await settle(first, lost)).success, true);
    process.kill(first.anvilPid, 'SIGKILL');
    assert.match(await first.exited, /SIGKILL/);
    await first.stop();

    const second = await startDevnet({ stateFile });
    const used = await second.chain.authorizationsUsed(second.signer(0).address);
    // The second payment may have been saved in the background or not; the first must have been.
    assert.ok(used.length === 1 || used.length === 2);
    assert.equal((await settle(second, saved)).errorReason, 'invalid_exact_evm_nonce_already_used');
    assert.equal((await settle(second, lost)).success, used.length === 1);
    await second.stop();
  });

  test('a cut, a foreign and a differently funded state are refused and left as they are', async () => {
    const stateFile = join(folder, 'broken');
    const devnet = await startDevnet({ stateFile });
    await devnet.stop();
    await assert.rejects(startDevnet({ stateFile, accounts: 7 }), { code: 'state_other_accounts' });
    await truncate(stateFile, 20_000);
    const cut = await readFile(stateFile);
    await assert.rejects(startDevnet({ stateFile }), { code: 'state_corrupt' });
    assert.deepEqual(await readFile(stateFile), cut);
    await writeFile(stateFile, '{"block":{}}');
    await assert.rejects(startDevnet({ stateFile }), { code: 'state_corrupt' });
    assert.equal(await readFile(stateFile, 'utf8'), '{"block":{}}');
  });

  test('a place that cannot be written is known at the start', async () => {
    const stateFile = join(folder, 'missing', 'state');
    await assert.rejects(startDevnet({ stateFile }), { code: 'state_unwritable' });
  });
});
