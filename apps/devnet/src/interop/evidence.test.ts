import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { ClaimRecord, ClaimStore } from 'counterfoil/claim';
import {
  type AuthorizationQuestion,
  createChainReader,
  createRpc,
  type Facilitator,
  resolveRecord,
} from 'counterfoil/settlement';
import { encodeFunctionData, type Hex, parseAbi, parseSignature } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { type Clients, createClients } from '../client.ts';
import { MULTICALL3 } from '../dollar.ts';
import { requirementsFor, signPayment } from '../payment.ts';
import type { PaymentRequest } from '../request.ts';
import { createWriter, type Writer, waitForReceipt } from '../writer.ts';
import { type Buyer, type Market, openMarket, present } from './market.ts';

const batchAbi = parseAbi([
  'function aggregate3((address target, bool allowFailure, bytes callData)[] calls) returns ((bool success, bytes returnData)[])',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
]);

type Signed = {
  readonly signature: Hex;
  readonly authorization: Record<'from' | 'to' | 'nonce', Hex> &
    Record<'value' | 'validAfter' | 'validBefore', string>;
};

const signedOf = (payment: PaymentRequest): Signed => payment.paymentPayload.payload as unknown as Signed;

function callOf(payment: PaymentRequest): Hex {
  const { authorization: a, signature } = signedOf(payment);
  const { r, s, yParity } = parseSignature(signature);
  return encodeFunctionData({
    abi: batchAbi,
    functionName: 'transferWithAuthorization',
    args: [
      a.from,
      a.to,
      BigInt(a.value),
      BigInt(a.validAfter),
      BigInt(a.validBefore),
      a.nonce,
      yParity + 27,
      r,
      s,
    ],
  });
}

describe('what the library reads from a real chain', () => {
  let market: Market;
  let clients: Clients;
  let relay: Writer;
  before(async () => {
    market = await openMarket();
    clients = createClients(market.devnet.rpcUrl);
    relay = createWriter(privateKeyToAccount(market.devnet.accounts.operator.privateKey), clients);
  });
  after(() => market.close());

  const sign = (buyer: Buyer, amount: bigint = 10_000n): Promise<PaymentRequest> =>
    signPayment(buyer.account, requirementsFor(market.devnet, amount));

  async function questionOf(payment: PaymentRequest): Promise<AuthorizationQuestion> {
    const { authorization } = signedOf(payment);
    return {
      asset: market.devnet.dollar.address.toLowerCase(),
      payer: authorization.from.toLowerCase(),
      payTo: authorization.to.toLowerCase(),
      nonce: authorization.nonce,
      amount: BigInt(authorization.value),
      validBeforeMs: Number(authorization.validBefore) * 1000,
      startBlock: await market.chain.blockNumber(),
    };
  }

  /** All of them in one transaction, in this order. */
  async function batch(...payments: readonly PaymentRequest[]): Promise<Hex> {
    const calls = payments.map((payment) => ({
      target: market.devnet.dollar.address,
      allowFailure: false,
      callData: callOf(payment),
    }));
    const data = encodeFunctionData({ abi: batchAbi, functionName: 'aggregate3', args: [calls] });
    const hash = await relay.sendTransaction({ to: MULTICALL3, data });
    assert.equal((await waitForReceipt(clients, hash)).status, 'success');
    return hash;
  }

  test('an authorization is unused until it is settled, and then settled under the facilitator’s hash', async () => {
    const payment = await sign(market.buyer());
    const question = await questionOf(payment);
    assert.equal((await market.chain.fate(question)).kind, 'unused');
    const { paymentPayload, paymentRequirements } = payment;
    const { transaction } = await market.devnet.facilitator.settle(paymentPayload, paymentRequirements);
    const fate = await market.chain.fate(question);
    assert.ok(fate.kind === 'settled');
    assert.equal(fate.transaction, transaction);
    assert.equal(fate.block, await market.chain.blockNumber());
  });

  test('S06: a use before the noted block, or of other terms than were signed, is somebody else’s', async () => {
    const payment = await sign(market.buyer());
    const question = await questionOf(payment);
    await batch(payment);
    assert.equal((await market.chain.fate(question)).kind, 'settled');
    const later = { ...question, startBlock: await market.chain.blockNumber() };
    assert.equal((await market.chain.fate(later)).kind, 'used_elsewhere');
    for (const other of [{ amount: 9_999n }, { payTo: question.payer }]) {
      assert.equal((await market.chain.fate({ ...question, ...other })).kind, 'used_elsewhere');
    }
  });

  test('a cancellation is read as one', async () => {
    const buyer = market.buyer();
    const payment = await sign(buyer);
    const question = await questionOf(payment);
    const hash = await market.devnet.chain.cancelAuthorization(
      buyer.account,
      signedOf(payment).authorization.nonce,
    );
    const fate = await market.chain.fate(question);
    assert.ok(fate.kind === 'canceled');
    assert.equal(fate.transaction, hash);
  });

  test('A03: of three authorizations in one transaction each is judged by its own transfer', async () => {
    const [one, two] = [market.buyer(), market.buyer()];
    const payments = [await sign(one, 5n), await sign(two, 7n), await sign(one, 10_000n)] as const;
    const questions = await Promise.all(payments.map(questionOf));
    const hash = await batch(...payments);
    for (const question of questions) {
      const fate = await market.chain.fate(question);
      assert.deepEqual([fate.kind, 'transaction' in fate && fate.transaction], ['settled', hash]);
    }
    const [first] = questions;
    assert.ok(first);
    assert.equal((await market.chain.fate({ ...first, amount: 10_000n })).kind, 'used_elsewhere');
  });

  test('code is told apart from none', async () => {
    assert.equal(await market.chain.hasCode(market.devnet.dollar.address), true);
    assert.equal(await market.chain.hasCode(market.buyer().account.address), false);
  });

  test('an asset that is no contract, and an endpoint that is down, are unread', async () => {
    const question = await questionOf(await sign(market.buyer()));
    const nothing = { ...question, asset: market.buyer().account.address };
    assert.equal((await market.chain.fate(nothing)).kind, 'unread');
    const { http } = market.world;
    const down = createChainReader(createRpc({ url: 'http://127.0.0.1:1', http }));
    assert.equal((await down.fate(question)).kind, 'unread');
    assert.deepEqual([await down.head(), await down.hasCode(question.payer)], [undefined, undefined]);
  });

  test('T05: a seller whose clock is a minute slow is told so at its start, one whose clock is right is not', async () => {
    await market.devnet.chain.mine();
    const stall = await market.open();
    const isSkew = (event: object): boolean => 'alarm' in event && event.alarm === 'clock_skew';
    assert.deepEqual(stall.events.filter(isSkew), []);
    const { world } = market;
    const slow = { ...world, nowMs: () => world.nowMs() - 60_000 };
    const late = await market.open({ world: slow });
    assert.equal(late.events.filter(isSkew).length, 1);
  });

  test('S07: a facilitator that says success where nothing moved is recorded as the one who says so, until the chain proves otherwise', async () => {
    const transaction = `0x${'5e'.repeat(32)}`;
    const liar = (real: Facilitator): Facilitator => ({
      ...real,
      settle: async () => ({ kind: 'settled', transaction, amount: 10_000n }),
    });
    const chains = () => market.chain;
    const sold: { readonly store: ClaimStore; readonly record: ClaimRecord }[] = [];
    for (const flow of ['authorization', 'upfront'] as const) {
      const { url, store, record } = await market.open({ flow, facilitator: liar });
      const buyer = market.buyer();
      assert.equal((await present(url, await buyer.sign(url))).status, 200);
      assert.equal((await buyer.transfers()).length, 0);
      sold.push({ store, record: await record() });
    }
    for (const { store, record } of sold) {
      const { money } = record;
      assert.deepEqual(money, { state: 'settled', transaction, amount: 10_000n, rank: 'facilitator' });
      const early = await resolveRecord(store, chains, record);
      assert.deepEqual([early.fate.kind, early.changed, early.record.money], ['unused', false, money]);
    }
    await passExpiry(market, Math.max(...sold.map(({ record }) => record.validBeforeMs)));
    for (const { store, record } of sold) {
      const late = await resolveRecord(store, chains, record);
      assert.deepEqual([late.fate.kind, late.changed], ['expired', true]);
      assert.ok(late.record.money.state === 'refused' && late.record.money.rank === 'chain');
      assert.deepEqual(
        late.record.sendLog.map(({ said, by }) => `${said} by ${by}`),
        ['begun by seller', 'settled by facilitator', 'refused by chain'],
      );
    }
  });

  test('an authorization expires for good only at a final block past its end', async () => {
    const payment = await sign(market.buyer());
    const question = { ...(await questionOf(payment)), validBeforeMs: (await headMs(market)) + 60_000 };
    await clients.control.increaseTime({ seconds: 61 });
    await market.devnet.chain.mine();
    assert.equal((await market.chain.fate(question)).kind, 'unused');
    await market.devnet.chain.mine(2);
    assert.equal((await market.chain.fate(question)).kind, 'expired');
  });
});

async function headMs(market: Market): Promise<number> {
  return (await market.chain.head())?.timeMs ?? 0;
}

/** Moves the chain's clock past this time and makes the block final. */
async function passExpiry(market: Market, untilMs: number): Promise<void> {
  const seconds = Math.ceil((untilMs - (await headMs(market))) / 1000);
  if (seconds > 0) await createClients(market.devnet.rpcUrl).control.increaseTime({ seconds });
  await market.devnet.chain.mine(4);
}
