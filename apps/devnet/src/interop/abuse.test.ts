import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import type {
  PaymentPayload as OfficialPayment,
  PaymentRequirements as OfficialRequirement,
} from '@x402/core/types';
import { ExactEvmScheme } from '@x402/evm';
import { x402Client, x402HTTPClient } from '@x402/fetch';
import {
  createFacilitator,
  type Facilitator,
  localTransport,
  type SettleAnswer,
} from 'counterfoil/settlement';
import { openSqliteStore } from 'counterfoil/stores/sqlite';
import type { PaymentPayload } from 'counterfoil/wire';
import { type Hex, type LocalAccount, parseAbi } from 'viem';
import { createClients } from '../client.ts';
import { createFacilitator as createOfficial } from '../facilitator.ts';
import { waitForReceipt } from '../writer.ts';
import { stockFetch } from './client.ts';
import {
  type Market,
  openMarket,
  present,
  type Seen,
  type Stall,
  type StallOptions,
  seen,
} from './market.ts';

/** As many times each attack is tried. */
const attempts = 20;
const tokenAbi = parseAbi(['function transfer(address to, uint256 value) returns (bool)']);

describe('payers who let the work run and then take their money away, on a real chain', () => {
  let market: Market;
  let folder: string;
  before(async () => {
    market = await openMarket();
    folder = await mkdtemp(join(tmpdir(), 'counterfoil-abuse-'));
  });
  after(async () => {
    await market.close();
    await rm(folder, { recursive: true });
  });

  function nonceOf(payment: PaymentPayload): Hex {
    return (payment.payload as { readonly authorization: { readonly nonce: Hex } }).authorization.nonce;
  }

  /** Two sellers with one store, as two processes of one shop have it. */
  async function openTwo(t: TestContext, options: StallOptions): Promise<readonly [Stall, Stall]> {
    const path = join(folder, `${t.name.replace(/[^a-z0-9]+/gi, '-')}.sqlite`);
    const stores = [await openSqliteStore({ path }), await openSqliteStore({ path })] as const;
    t.after(() => Promise.all(stores.map((store) => store.close())));
    const [one, two] = stores;
    return [await market.open({ ...options, store: one }), await market.open({ ...options, store: two })];
  }

  /** Presents payments whose payer cancels each of them while its work runs. */
  async function cancelling(t: TestContext, options: StallOptions) {
    const buyer = market.buyer();
    const payments = new Map<string, PaymentPayload>();
    const stalls = await openTwo(t, {
      ...options,
      work: async ({ request }) => {
        const payment = payments.get(request.url);
        assert.ok(payment);
        await market.devnet.chain.cancelAuthorization(buyer.account, nonceOf(payment));
        return 'sunny';
      },
    });
    const attempt = async (turn: number): Promise<Seen> => {
      const url = `${stalls[turn % 2 === 0 ? 0 : 1].url}?turn=${turn}`;
      const payment = await buyer.sign(url);
      payments.set(url, payment);
      return present(url, payment);
    };
    return { buyer, stalls, attempt, runs: () => stalls[0].runs() + stalls[1].runs() };
  }

  test(`S01: of ${attempts} payments that are canceled while the work runs, three run, whichever process they come to`, async (t) => {
    const { buyer, attempt, runs } = await cancelling(t, {});
    const codes: (string | undefined)[] = [];
    for (let turn = 0; turn < attempts; turn += 1) codes.push((await attempt(turn)).code);
    assert.equal(runs(), 3);
    assert.deepEqual(codes.slice(0, 3), Array(3).fill('settlement_refused'));
    assert.deepEqual(codes.slice(3), Array(attempts - 3).fill('upfront_required'));
    assert.equal((await buyer.transfers()).length, 0);
  });

  test(`S01: of ${attempts} such payments at once, no more run than may be open`, async (t) => {
    const { buyer, attempt, runs } = await cancelling(t, { seller: { unpaidRuns: { open: 3 } } });
    const all = await Promise.all(Array.from({ length: attempts }, (_, turn) => attempt(turn)));
    assert.ok(runs() <= 3, `${runs()} runs`);
    assert.ok(all.every(({ status, text }) => status === 402 && !text.includes('sunny')));
    assert.equal((await buyer.transfers()).length, 0);
  });

  test('S02: of ten payments whose payer empties its account while the work runs, three run', async (t) => {
    const buyer = market.buyer();
    const friend = market.buyer().account;
    const send = sender();
    const balance = await market.devnet.chain.balanceOf(buyer.account.address);
    const stalls = await openTwo(t, {
      work: async () => {
        await send(buyer.account, friend, balance);
        return 'sunny';
      },
    });
    const codes: (string | undefined)[] = [];
    for (let turn = 0; turn < 10; turn += 1) {
      const { url } = stalls[turn % 2 === 0 ? 0 : 1];
      codes.push((await present(`${url}?turn=${turn}`, await buyer.sign(`${url}?turn=${turn}`))).code);
      if ((await market.devnet.chain.balanceOf(buyer.account.address)) === 0n)
        await send(friend, buyer.account, balance);
    }
    assert.equal(stalls[0].runs() + stalls[1].runs(), 3);
    assert.deepEqual([...new Set(codes)], ['settlement_refused', 'upfront_required']);
    assert.equal((await buyer.transfers()).length, 0);
  });

  /** Sends dollars as their owner does, who needs gas for it. */
  function sender(): (from: LocalAccount, to: LocalAccount, value: bigint) => Promise<void> {
    const clients = createClients(market.devnet.rpcUrl);
    return async ({ address: account }, { address: to }, value) => {
      await clients.control.setBalance({ address: account, value: 10n ** 18n });
      await clients.control.impersonateAccount({ address: account });
      const hash = await clients.sender.writeContract({
        address: market.devnet.dollar.address,
        abi: tokenAbi,
        functionName: 'transfer',
        args: [to, value],
        account,
        chain: null,
      });
      assert.equal((await waitForReceipt(clients, hash)).status, 'success');
    };
  }

  test('S01: the stock client signs the terms of paying first as they are, and is served; an honest one never meets them', async (t) => {
    const { buyer, stalls, attempt } = await cancelling(t, {});
    for (let turn = 0; turn < 4; turn += 1) await attempt(turn);
    const honest = await market.open({ store: stalls[0].store });
    const other = market.buyer();
    const served = await seen(await stockFetch(market.devnet, other.account).buy({ url: honest.url }));
    assert.deepEqual([served.status, served.text], [200, 'sunny 1']);

    const stock = stockFetch(market.devnet, buyer.account);
    const refused = await stock.buy({ url: honest.url });
    assert.deepEqual(
      [refused.status, stock.signatures()],
      [402, 1],
      'it signs once and gives the answer back',
    );
    const client = new x402Client().register(market.devnet.network, new ExactEvmScheme(buyer.account));
    client.setSpendControls({
      allowedAssets: [{ network: market.devnet.network, asset: market.devnet.dollar.address }],
    });
    const http = new x402HTTPClient(client);
    const required = http.getPaymentRequiredResponse(
      (name) => refused.headers.get(name),
      await refused.json(),
    );
    assert.equal(required.accepts[0]?.extra.paymentFlow, 'upfront');
    const headers = http.encodePaymentSignatureHeader(await client.createPaymentPayload(required));
    market.rig.clear();
    const answer = await seen(await fetch(honest.url, { headers }));
    assert.deepEqual([answer.status, answer.text, answer.response?.success], [200, 'sunny 2', true]);
    const { verify, settle } = market.rig.counts();
    assert.deepEqual([verify, settle, (await buyer.transfers()).length], [0, 1, 1]);
  });

  for (const words of ['nonce too low', 'replacement transaction underpriced']) {
    test(`S08: a relayer whose node says "${words}" is the facilitator’s failure, and its payer owes nothing`, async () => {
      const clients = createClients(market.devnet.rpcUrl);
      const { address } = market.devnet.accounts.relayer;
      const raced = async (): Promise<never> => {
        throw new Error(words);
      };
      const official = createOfficial(clients, { address, writeContract: raced, sendTransaction: raced });
      const local = createFacilitator(
        localTransport(official, {
          payment: (json) => json as unknown as OfficialPayment,
          requirement: (json) => json as unknown as OfficialRequirement,
        }),
      );
      const answers: SettleAnswer[] = [];
      const facilitator = (): Facilitator => ({
        ...local,
        settle: async (question) => {
          const answer = await local.settle(question);
          answers.push(answer);
          return answer;
        },
      });
      const stall = await market.open({ facilitator, seller: { breaker: { minimum: 5 } } });
      const buyer = market.buyer();
      for (let turn = 0; turn < 5; turn += 1) {
        const url = `${stall.url}?turn=${turn}`;
        const doubted = await present(url, await buyer.sign(url));
        assert.deepEqual(
          [doubted.status, doubted.code, doubted.required],
          [503, 'settlement_unknown', undefined],
        );
      }
      assert.equal(stall.runs(), 5, 'five runs, and none of them counts against the payer');
      for (const answer of answers) {
        assert.deepEqual(answer, { kind: 'look_up', reason: 'invalid_exact_evm_transaction_failed' });
      }
      assert.ok(stall.events.some((event) => event.event === 'breaker' && event.state === 'open'));
      assert.ok(!stall.events.some(({ event }) => event === 'run_unpaid'));
    });
  }

  test('S14: while a facilitator says 429 no work is done for nothing, and one trial finds out when it is back', async () => {
    const stall = await market.open({ seller: { breaker: { minimum: 4, coolDownMs: 1 } }, chain: 'none' });
    const buyers = Array.from({ length: 4 }, () => market.buyer());
    market.rig.setMode({ forward: false, answer: { kind: 'status', status: 429 } });
    for (const buyer of buyers) {
      const doubted = await present(stall.url, await buyer.sign(stall.url));
      assert.deepEqual([doubted.status, doubted.code], [503, 'settlement_unknown']);
    }
    const states = (): readonly string[] =>
      stall.events.flatMap((event) => (event.event === 'breaker' ? [event.state] : []));
    assert.deepEqual([states(), stall.runs()], [['open'], 4]);
    market.rig.setMode('pass');
    const honest = market.buyer();
    const payment = await honest.sign(stall.url);
    const served = await present(stall.url, payment);
    assert.deepEqual([served.status, states()], [200, ['open', 'half_open', 'closed']]);
    assert.equal((await honest.transfers()).length, 1);
  });
});
