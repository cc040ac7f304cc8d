import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Hex } from 'viem';
import { connectChain } from './chain.ts';
import { type Devnet, startDevnet } from './devnet.ts';
import { requirementsFor, signPayment } from './payment.ts';
import type { PaymentRequest } from './request.ts';

describe('what the chain says', () => {
  let devnet: Devnet;

  before(async () => {
    devnet = await startDevnet({ accounts: 3 });
  });
  after(() => devnet.stop());

  const sign = (buyer: number): Promise<PaymentRequest> =>
    signPayment(devnet.signer(buyer), requirementsFor(devnet, 100n));
  const settle = (payment: PaymentRequest) =>
    devnet.facilitator.settle(payment.paymentPayload, payment.paymentRequirements);
  const nonceOf = (payment: PaymentRequest): Hex =>
    (payment.paymentPayload.payload.authorization as { nonce: Hex }).nonce;

  test('transfers and uses are found by payer, by seller and from a block on, from another process too', async () => {
    const [a, b] = [await sign(0), await sign(1)];
    await settle(a);
    const fromBlock = (await devnet.chain.blockNumber()) + 1n;
    await settle(b);
    const elsewhere = connectChain({
      rpcUrl: devnet.rpcUrl,
      dollar: JSON.parse(JSON.stringify(devnet.dollar)),
    });
    const to = devnet.accounts.seller.address;
    assert.equal((await elsewhere.transfers({ to })).length, 2);
    assert.equal((await elsewhere.transfers({ to, fromBlock })).length, 1);
    assert.equal((await elsewhere.transfers({ from: devnet.signer(0).address })).length, 1);
    assert.equal((await elsewhere.transfers({ from: to })).length, 0);
    const [used] = await elsewhere.authorizationsUsed(devnet.signer(1).address);
    assert.equal(used?.nonce, nonceOf(b));
    assert.equal(await elsewhere.authorizationState(devnet.signer(1).address, nonceOf(b)), true);
    assert.equal(await elsewhere.balanceOf(to), 200n);
  });

  test('a canceled authorization is refused and moves nothing', async () => {
    const payer = devnet.signer(2);
    const payment = await sign(2);
    const transaction = await devnet.chain.cancelAuthorization(payer, nonceOf(payment));
    const [canceled] = await devnet.chain.authorizationsCanceled(payer.address);
    assert.deepEqual([canceled?.nonce, canceled?.transaction], [nonceOf(payment), transaction]);
    assert.equal((await settle(payment)).success, false);
    assert.equal(await devnet.chain.authorizationState(payer.address, nonceOf(payment)), true);
    assert.deepEqual(await devnet.chain.authorizationsUsed(payer.address), []);
    assert.deepEqual(await devnet.chain.transfers({ from: payer.address }), []);
  });

  test('after going back to a snapshot the same payment can be settled again, once', async () => {
    const payment = await sign(0);
    const snapshot = await devnet.chain.snapshot();
    const height = await devnet.chain.blockNumber();
    assert.equal((await settle(payment)).success, true);
    await devnet.chain.revert(snapshot);
    assert.equal(await devnet.chain.blockNumber(), height);
    assert.equal((await settle(payment)).success, true);
    assert.equal((await settle(payment)).success, false);
    await assert.rejects(devnet.chain.revert('0x7777'));
  });

  test('blocks are mined on demand, and a payment waits while mining is off', async () => {
    const height = await devnet.chain.blockNumber();
    await devnet.chain.mine(3);
    assert.equal(await devnet.chain.blockNumber(), height + 3n);
    await devnet.chain.setAutomine(false);
    const payment = await sign(1);
    const settling = settle(payment);
    const paid = (): Promise<boolean> =>
      devnet.chain.authorizationState(devnet.signer(1).address, nonceOf(payment));
    assert.equal(await paid(), false);
    while (!(await paid())) await devnet.chain.mine();
    assert.equal((await settling).success, true);
    await devnet.chain.setAutomine(true);
  });

  test('a buyer that does not exist is a mistake of the program', () => {
    assert.throws(() => devnet.signer(3), TypeError);
  });
});
