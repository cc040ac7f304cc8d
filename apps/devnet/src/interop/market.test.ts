import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { HTTPFacilitatorClient } from '@x402/core/server';
import type { PaymentPayload, PaymentRequirements } from '@x402/core/types';
import { ExactEvmScheme } from '@x402/evm/exact/server';
import { paymentMiddleware, x402ResourceServer } from '@x402/express';
import { decodePaymentResponseHeader } from '@x402/fetch';
import { createFacilitator, localTransport } from 'counterfoil/settlement';
import express from 'express';
import { closeServer, listenLocal } from '../http.ts';
import { type Market, openMarket, present, type Stall, seen } from './market.ts';

describe('the stock client and the official facilitator on a real chain', () => {
  let market: Market;
  before(async () => {
    market = await openMarket();
  });
  after(() => market.close());

  /** One purchase by the stock client, judged by the chain. */
  async function buyOnce(stall: Stall): Promise<void> {
    const buyer = market.buyer();
    const response = await buyer.fetch(stall.url);
    assert.equal(response.status, 200);
    assert.equal(await response.clone().text(), 'sunny 1');
    const settled = decodePaymentResponseHeader(response.headers.get('payment-response') ?? '');
    const [transfers, used] = [await buyer.transfers(), await buyer.used()];
    assert.deepEqual(
      transfers.map(({ value, transaction }) => [value, transaction]),
      [[10_000n, settled.transaction]],
    );
    assert.deepEqual(
      used.map(({ transaction }) => transaction),
      [settled.transaction],
    );
    const { success, network, payer } = settled;
    assert.deepEqual([success, network], [true, market.devnet.network]);
    assert.equal(payer?.toLowerCase(), buyer.account.address.toLowerCase());
    assert.equal(stall.runs(), 1);
    assert.equal((await seen(response)).response?.amount, 10_000n);
  }

  for (const adapter of ['express', 'node'] as const) {
    for (const flow of ['authorization', 'upfront'] as const) {
      test(`stock @x402/fetch buys from our ${adapter} seller in ${flow}, over an HTTP facilitator`, async () => {
        await buyOnce(await market.open({ adapter, flow }));
      });

      test(`stock @x402/fetch buys from our ${adapter} seller in ${flow}, with the facilitator in process`, async () => {
        const facilitator = createFacilitator(
          localTransport(market.devnet.facilitator, {
            payment: (json) => json as unknown as PaymentPayload,
            requirement: (json) => json as unknown as PaymentRequirements,
          }),
        );
        await buyOnce(await market.open({ adapter, flow, facilitator: () => facilitator }));
      });
    }
  }

  test('a stock client that buys twice pays twice and gets two answers', async () => {
    const stall = await market.open();
    const buyer = market.buyer();
    const texts = [await (await buyer.fetch(stall.url)).text(), await (await buyer.fetch(stall.url)).text()];
    assert.deepEqual(texts, ['sunny 1', 'sunny 2']);
    assert.equal((await buyer.transfers()).length, 2);
  });

  test('our own client pays a stock @x402/express seller', async (t) => {
    const { devnet, asset } = market;
    const client = new HTTPFacilitatorClient({ url: devnet.facilitatorUrl });
    const server = new x402ResourceServer(client).register(devnet.network, new ExactEvmScheme());
    const price = {
      amount: '10000',
      asset: devnet.dollar.address,
      extra: { name: asset.domain.name, version: asset.domain.version },
    };
    const { address: payTo } = devnet.accounts.seller;
    const app = express();
    app.use(
      paymentMiddleware(
        { 'GET /weather': { accepts: { scheme: 'exact', network: devnet.network, payTo, price } } },
        server,
      ),
    );
    app.get('/weather', (_request, response) => void response.type('text/plain').send('stock weather'));
    const http = createServer(app);
    t.after(() => closeServer(http, 0));
    const url = `http://127.0.0.1:${await listenLocal(http, 0)}/weather`;
    const buyer = market.buyer();
    const answer = await present(url, await buyer.sign(url));
    assert.deepEqual([answer.status, answer.text], [200, 'stock weather']);
    const [transfer] = await buyer.transfers();
    assert.equal(transfer?.transaction, answer.response?.transaction);
    assert.equal(transfer?.value, 10_000n);
  });

  test('twenty honest twins, twenty payments of one buyer for one request at once, are twenty transfers and deliveries', async () => {
    for (const flow of ['authorization', 'upfront'] as const) {
      const stall = await market.open({ flow });
      const buyer = market.buyer();
      const payments = await Promise.all(Array.from({ length: 20 }, () => buyer.sign(stall.url)));
      const answers = await Promise.all(payments.map((payment) => present(stall.url, payment)));
      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
      assert.equal(new Set(answers.map(({ text }) => text)).size, 20);
      assert.equal(new Set(answers.map(({ response }) => response?.transaction)).size, 20);
      assert.equal((await buyer.transfers()).length, 20);
      assert.equal(stall.runs(), 20);
    }
  });

  for (const flow of ['authorization', 'upfront'] as const) {
    test(`C01: ${flow}, fifty copies of one payment run the work once, settle once and move the money once`, async () => {
      const release = Promise.withResolvers<void>();
      const stall: Stall = await market.open({
        flow,
        work: async () => {
          // A second run is the failure that this test is for, and must not be one that waits.
          if (stall.runs() > 1) release.resolve();
          await release.promise;
          return 'sunny';
        },
      });
      const buyer = market.buyer();
      const payment = await buyer.sign(stall.url);
      market.rig.clear();
      const copies = Array.from({ length: 50 }, () => present(stall.url, payment));
      let lost = 0;
      const told = (): void => {
        lost += 1;
        if (lost === 49) release.resolve();
      };
      for (const copy of copies) copy.then(told, told);
      const answers = await Promise.all(copies);
      const losers = answers.filter(({ status }) => status !== 200);
      assert.equal(losers.length, 49);
      for (const loser of losers) {
        assert.deepEqual([loser.status, loser.code, loser.required], [402, 'payment_in_progress', undefined]);
      }
      const { verify, settle } = market.rig.counts();
      assert.deepEqual([stall.runs(), settle, (await buyer.transfers()).length], [1, 1, 1]);
      assert.ok(verify <= 1);
    });
  }
});
