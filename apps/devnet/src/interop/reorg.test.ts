import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { ClaimStore } from 'counterfoil/claim';
import {
  type Chains,
  createChainReader,
  createRpc,
  type Facilitator,
  type Recheck,
  reconcile,
} from 'counterfoil/settlement';
import { createMemoryStore } from 'counterfoil/stores/memory';
import type { PaymentPayload } from 'counterfoil/wire';
import { type Hex, parseAbi, parseSignature } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { type Clients, createClients } from '../client.ts';
import { createWriter, type Writer, waitForReceipt } from '../writer.ts';
import { type Buyer, type Market, openMarket, present, type Stall } from './market.ts';

const transferAbi = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
]);

describe('a settlement that a real chain undoes, or never made', () => {
  let market: Market;
  let clients: Clients;
  let relay: Writer;
  before(async () => {
    market = await openMarket();
    clients = createClients(market.devnet.rpcUrl);
    relay = createWriter(privateKeyToAccount(market.devnet.accounts.operator.privateKey), clients);
  });
  after(() => market.close());

  const liar = (real: Facilitator): Facilitator => ({
    ...real,
    settle: async () => ({ kind: 'settled', transaction: `0x${'5e'.repeat(32)}`, amount: 10_000n }),
  });

  const chains: Chains = (network) => (network === market.devnet.network ? market.chain : undefined);

  /** A store whose clock the test moves on: what was settled a moment ago is not looked for yet. */
  function openStore(): { store: ClaimStore; later: (ms: number) => void } {
    let aheadMs = 0;
    const store = createMemoryStore({ world: { nowMs: () => market.world.nowMs() + aheadMs } });
    return {
      store,
      later: (ms) => {
        aheadMs += ms;
      },
    };
  }

  async function look(store: ClaimStore): Promise<Recheck | undefined> {
    let seen: Recheck | undefined;
    await reconcile(store, chains, {
      due: 'any',
      onRecheck: (recheck) => {
        seen = recheck;
      },
    });
    return seen;
  }

  /** Moves the chain's clock past this time and makes the block final. */
  async function passExpiry(untilMs: number): Promise<void> {
    const headMs = (await market.chain.head())?.timeMs ?? 0;
    const seconds = Math.ceil((untilMs - headMs) / 1000);
    if (seconds > 0) await clients.control.increaseTime({ seconds });
    await market.devnet.chain.mine(4);
  }

  /** Somebody puts the same bytes on the chain again. */
  async function land(payment: PaymentPayload): Promise<Hex> {
    const { authorization: a, signature } = payment.payload as unknown as {
      authorization: Record<'from' | 'to' | 'nonce', Hex> &
        Record<'value' | 'validAfter' | 'validBefore', string>;
      signature: Hex;
    };
    const { r, s, yParity } = parseSignature(signature);
    const hash = await relay.writeContract({
      address: market.devnet.dollar.address,
      abi: transferAbi,
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
    await waitForReceipt(clients, hash);
    return hash;
  }

  type Sold = { stall: Stall; buyer: Buyer; payment: PaymentPayload; later: (ms: number) => void };

  /** A payment that was settled, shown by the chain and delivered, and then lost its block. */
  async function sellAndUndo(): Promise<Sold> {
    const { store, later } = openStore();
    const stall = await market.open({ store, flow: 'upfront', seller: { reconcile: 'off' } });
    const buyer = market.buyer();
    const payment = await buyer.sign(stall.url);
    const snapshot = await market.devnet.chain.snapshot();
    assert.equal((await present(stall.url, payment)).status, 200);
    const shown = await look(store);
    assert.equal(shown?.standing, 'there');
    const { money } = await stall.record();
    assert.ok(money.state === 'settled' && money.rank === 'chain' && money.finality !== 'finalized');
    await market.devnet.chain.revert(snapshot);
    assert.equal((await buyer.transfers()).length, 0);
    // A shorter chain is one that lags; the new one is longer than what it replaces.
    await market.devnet.chain.mine(3);
    later(60_000);
    return { stall, buyer, payment, later };
  }

  test('S05: a settlement that lands again after a reorganisation, by whoever sends it, is settled for good', async () => {
    const { stall, buyer, payment, later } = await sellAndUndo();
    assert.equal((await look(stall.store))?.standing, 'missing');
    const hash = await land(payment);
    await market.devnet.chain.mine(4);
    later(600_000);
    const final = await look(stall.store);
    assert.equal(final?.standing, 'final');
    const { money } = await stall.record();
    assert.ok(money.state === 'settled');
    assert.deepEqual([money.transaction, money.rank, money.finality], [hash, 'chain', 'finalized']);
    assert.deepEqual([(await buyer.transfers()).length, stall.runs()], [1, 1]);
    later(600_000);
    assert.equal(await look(stall.store), undefined, 'what is final was looked at again');
  });

  test('S05: a settlement that its payer cancels after a reorganisation is reversed when that is final', async () => {
    const { stall, buyer, payment, later } = await sellAndUndo();
    const { nonce } = payment.payload.authorization as { nonce: Hex };
    await market.devnet.chain.cancelAuthorization(buyer.account, nonce);
    assert.equal((await look(stall.store))?.standing, 'missing');
    await market.devnet.chain.mine(4);
    later(600_000);
    const undone = await look(stall.store);
    assert.deepEqual([undone?.standing, undone?.fate.kind], ['undone', 'canceled']);
    assert.equal((await stall.record()).money.state, 'reversed');
  });

  for (const flow of ['authorization', 'upfront'] as const) {
    test(`S07: ${flow}, three confirmations are waited for, and the record says so`, async () => {
      const seller = { assurance: { chain: 3 }, reconcile: 'off' } as const;
      const stall = await market.open({ flow, settleMs: 8_000, seller });
      const buyer = market.buyer();
      const asked = present(stall.url, await buyer.sign(stall.url));
      await market.rig.arrived(1);
      const first = await Promise.race([asked, untilLanded(buyer)]);
      assert.equal(first, undefined, 'answered before the transfer was deep enough');
      await market.devnet.chain.mine(2);
      const { status, text, response } = await asked;
      assert.deepEqual([status, text], [200, 'sunny 1']);
      const { money, assurance } = await stall.record();
      assert.ok(money.state === 'settled');
      assert.deepEqual(
        [money.rank, money.finality, assurance, money.transaction],
        ['chain', 3, 3, response?.transaction],
      );
      market.rig.clear();
    });

    test(`F01: ${flow}, a lying facilitator is never believed where the chain is asked`, async () => {
      const strict = { assurance: { chain: 'latest' }, reconcile: 'off' } as const;
      const wary = await market.open({ flow, facilitator: liar, settleMs: 5_000, seller: strict });
      const buyer = market.buyer();
      const payment = await buyer.sign(wary.url);
      const refused = await present(wary.url, payment);
      assert.deepEqual(
        [refused.status, refused.code, refused.response?.errorReason, refused.required],
        [503, 'settlement_unknown', 'settlement_pending', undefined],
      );
      assert.equal(wary.runs(), flow === 'upfront' ? 0 : 1);
      assert.ok(
        wary.events.some((event) => event.event === 'alarm' && event.alarm === 'success_without_transfer'),
      );
    });
  }

  test('F10: a node that stands still at an earlier block re-opens nothing that has settled', async () => {
    const { store, later } = openStore();
    const stall = await market.open({ store, seller: { reconcile: 'off' } });
    const buyer = market.buyer();
    const payment = await buyer.sign(stall.url);
    const newest = await market.devnet.chain.blockNumber();
    assert.equal((await present(stall.url, payment)).status, 200);
    assert.equal((await look(store))?.standing, 'there');
    const rpc = createRpc({ url: market.devnet.rpcUrl, http: market.world.http });
    const height = `0x${newest.toString(16)}`;
    // Whatever it is asked, it answers from the block where it stands.
    const stale = createChainReader(async (method, params) => {
      if (method === 'eth_blockNumber') return { ok: true, value: height };
      if (method === 'eth_getBlockByNumber') return rpc(method, [height, false]);
      return rpc(method, params);
    });
    later(600_000);
    const seen: Recheck[] = [];
    await reconcile(store, () => stale, { onRecheck: (recheck) => void seen.push(recheck) });
    assert.deepEqual(
      seen.map(({ standing, changed }) => [standing, changed]),
      [['early', false]],
    );
    assert.deepEqual(
      [(await stall.record()).money.state, (await present(stall.url, payment)).text],
      ['settled', 'sunny 1'],
    );
  });

  for (const flow of ['authorization', 'upfront'] as const) {
    test(`C15: ${flow}, a store that forgot a settled payment charges nobody twice, runs nothing, and raises an alarm`, async () => {
      const first = await market.open({ flow, seller: { reconcile: 'off' } });
      const buyer = market.buyer();
      const payment = await buyer.sign(first.url);
      assert.equal((await present(first.url, payment)).status, 200);
      // The same shop after a failover that lost the last writes.
      const forgetful = await market.open({ flow, binding: 'off', seller: { reconcile: 'off' } });
      const again = await present(forgetful.url, payment);
      assert.deepEqual([again.status, again.code, again.required], [409, 'payment_already_used', undefined]);
      assert.equal(forgetful.runs(), 0);
      assert.equal((await buyer.transfers()).length, 1);
      assert.ok(
        forgetful.events.some(
          (event) => event.event === 'alarm' && event.alarm === 'settle_nonce_used_elsewhere',
        ),
      );
    });
  }

  /** The last test: afterwards the chain's clock is ahead of every buyer's. */
  test('S05, F01: what is gone, or never was, is missing while it may come, and undone once its authorization is over', async () => {
    const undone = await sellAndUndo();
    const lied: Pick<Sold, 'stall' | 'later'>[] = [];
    for (const flow of ['authorization', 'upfront'] as const) {
      const { store, later } = openStore();
      const stall = await market.open({ flow, facilitator: liar, store, seller: { reconcile: 'off' } });
      assert.equal((await present(stall.url, await market.buyer().sign(stall.url))).status, 200);
      later(60_000);
      lied.push({ stall, later });
    }
    for (const { stall } of [undone, ...lied]) {
      const missing = await look(stall.store);
      assert.deepEqual([missing?.standing, missing?.record.money.state], ['missing', 'settled']);
    }
    const early = await present(undone.stall.url, undone.payment);
    assert.equal(early.status, 200, 'its answer was paid for, as far as is known');
    for (const { stall } of [undone, ...lied]) await passExpiry((await stall.record()).validBeforeMs);
    for (const { stall, later } of [undone, ...lied]) {
      later(600_000);
      const gone = await look(stall.store);
      assert.deepEqual([gone?.standing, gone?.changed, gone?.fate.kind], ['undone', true, 'expired']);
    }
    assert.equal((await undone.stall.record()).money.state, 'reversed');
    for (const { stall } of lied) assert.equal((await stall.record()).money.state, 'refused');
    const late = await present(undone.stall.url, undone.payment);
    assert.deepEqual(
      [late.status, late.code, late.money, late.required],
      [409, 'settlement_reversed', 'unmoved', undefined],
    );
    assert.equal(undone.stall.runs(), 1);
  });

  /** Resolves with nothing once the transfer stands in a block. */
  async function untilLanded(buyer: Buyer): Promise<undefined> {
    while ((await buyer.transfers()).length === 0) await new Promise((resolve) => setImmediate(resolve));
    return undefined;
  }
});
