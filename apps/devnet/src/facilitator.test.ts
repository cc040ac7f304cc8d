import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Devnet, startDevnet } from './devnet.ts';
import { requirementsFor, signPayment } from './payment.ts';
import type { PaymentRequest } from './request.ts';

const AMOUNT = 2_500n;

describe('the facilitator of the local chain', () => {
  let devnet: Devnet;

  before(async () => {
    devnet = await startDevnet();
  });
  after(() => devnet.stop());

  const sign = (buyer: number, amount: bigint = AMOUNT): Promise<PaymentRequest> =>
    signPayment(devnet.signer(buyer), requirementsFor(devnet, amount));
  const settle = ({ paymentPayload, paymentRequirements }: PaymentRequest) =>
    devnet.facilitator.settle(paymentPayload, paymentRequirements);
  const verify = ({ paymentPayload, paymentRequirements }: PaymentRequest) =>
    devnet.facilitator.verify(paymentPayload, paymentRequirements);

  test('a stock payment is verified and settled, and the chain shows who paid whom, once', async () => {
    const fromBlock = await devnet.chain.blockNumber();
    const payer = devnet.signer(0).address;
    const payment = await sign(0);
    assert.deepEqual(await verify(payment), { isValid: true, invalidReason: undefined, payer });
    const settled = await settle(payment);
    assert.equal(settled.success, true);
    assert.equal(settled.payer, payer);
    assert.equal(settled.network, 'eip155:31337');

    const [transfer, ...more] = await devnet.chain.transfers({ from: payer, fromBlock });
    assert.equal(more.length, 0);
    assert.equal(transfer?.to, devnet.accounts.seller.address);
    assert.equal(transfer?.value, AMOUNT);
    assert.equal(transfer?.transaction, settled.transaction);
    const used = await devnet.chain.authorizationsUsed(payer, fromBlock);
    const signed = payment.paymentPayload.payload.authorization as { nonce: string };
    assert.deepEqual(
      used.map((event) => [event.nonce, event.transaction, event.logIndex]),
      [[signed.nonce, settled.transaction, (transfer?.logIndex ?? 0) - 1]],
    );
  });

  test('a used payment is refused at verify and at settle, with the reason', async () => {
    const payment = await sign(0);
    assert.equal((await settle(payment)).success, true);
    assert.equal((await verify(payment)).invalidReason, 'invalid_exact_evm_nonce_already_used');
    const again = await settle(payment);
    assert.equal(again.success, false);
    assert.equal(again.errorReason, 'invalid_exact_evm_nonce_already_used');
    assert.equal(again.transaction, '');
  });

  test('fifty different payments at once are all settled', async () => {
    const fromBlock = await devnet.chain.blockNumber();
    const payments = await Promise.all(Array.from({ length: 50 }, (_, i) => sign(i % 6, BigInt(i + 1))));
    const results = await Promise.all(payments.map(settle));
    assert.equal(results.filter((result) => result.success).length, 50);
    assert.equal(new Set(results.map((result) => result.transaction)).size, 50);
    const to = devnet.accounts.seller.address;
    const transfers = await devnet.chain.transfers({ to, fromBlock: fromBlock + 1n });
    assert.equal(transfers.length, 50);
    assert.equal(
      transfers.reduce((sum, transfer) => sum + transfer.value, 0n),
      (50n * 51n) / 2n,
    );
  });

  test('fifty settles of one payment make one transfer, and all fifty are answered', async () => {
    const fromBlock = (await devnet.chain.blockNumber()) + 1n;
    const payment = await sign(1);
    const results = await Promise.all(Array.from({ length: 50 }, () => settle(payment)));
    assert.equal(results.filter((result) => result.success).length, 1);
    const from = devnet.signer(1).address;
    assert.equal((await devnet.chain.transfers({ from, fromBlock })).length, 1);
    assert.equal((await settle(await sign(1))).success, true);
  });

  test('a payer without enough money is told so', async () => {
    const payment = await sign(2, 10n ** 15n);
    assert.equal((await verify(payment)).invalidReason, 'invalid_exact_evm_insufficient_balance');
    const settled = await settle(payment);
    assert.equal(settled.success, false);
    assert.equal(settled.transaction, '');
  });

  test('a signature of somebody else, another amount and another seller are refused', async () => {
    const [mine, other] = await Promise.all([sign(0), sign(1)]);
    const swapped = {
      ...mine,
      paymentPayload: {
        ...mine.paymentPayload,
        payload: { ...mine.paymentPayload.payload, signature: other.paymentPayload.payload.signature },
      },
    };
    assert.equal((await settle(swapped)).errorReason, 'invalid_exact_evm_signature');
    const dearer = { ...mine, paymentRequirements: requirementsFor(devnet, AMOUNT + 1n) };
    assert.equal(
      (await settle(dearer)).errorReason,
      'invalid_exact_evm_payload_authorization_value_mismatch',
    );
    const elsewhere = requirementsFor(devnet, AMOUNT, devnet.accounts.operator.address);
    assert.equal(
      (await settle({ ...mine, paymentRequirements: elsewhere })).errorReason,
      'invalid_exact_evm_recipient_mismatch',
    );
  });
});

describe('the facilitator with a block every two seconds', () => {
  let devnet: Devnet;

  before(async () => {
    devnet = await startDevnet({ blockTimeMs: 2_000 });
  });
  after(() => devnet.stop());

  test('fifty different payments and fifty copies of another are all answered, with one transfer for each payment', async () => {
    const requirements = requirementsFor(devnet, AMOUNT);
    const different = await Promise.all(
      Array.from({ length: 50 }, (_, i) => signPayment(devnet.signer(i % 5), requirements)),
    );
    const same = await signPayment(devnet.signer(5), requirements);
    const copies = Array.from({ length: 50 }, () => same);
    const settle = (payment: PaymentRequest) =>
      devnet.facilitator.settle(payment.paymentPayload, payment.paymentRequirements);
    const [distinct, copied] = await Promise.all([
      Promise.all(different.map(settle)),
      Promise.all(copies.map(settle)),
    ]);
    assert.equal(distinct.filter((result) => result.success).length, 50);
    assert.equal(copied.filter((result) => result.success).length, 1);
    const transfers = await devnet.chain.transfers({ to: devnet.accounts.seller.address });
    assert.equal(transfers.length, 51);
  });
});
