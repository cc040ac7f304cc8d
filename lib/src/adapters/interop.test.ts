/**
 * The stock client buys from our sellers, unchanged, and the official facilitator with its official scheme settles in
 * this process: only the chain below it is scripted. Signatures, headers and clocks are real.
 */
import assert from 'node:assert/strict';
import type { RequestListener } from 'node:http';
import { type TestContext, test } from 'node:test';
import { x402Client } from '@x402/core/client';
import { x402Facilitator } from '@x402/core/facilitator';
import type { PaymentPayload, PaymentRequirements } from '@x402/core/types';
import { ExactEvmScheme as ClientScheme, type FacilitatorEvmSigner } from '@x402/evm';
import { ExactEvmScheme as FacilitatorScheme } from '@x402/evm/exact/facilitator';
import { decodePaymentResponseHeader, wrapFetchWithPayment } from '@x402/fetch';
import express from 'express';
import { Hono } from 'hono';
import { isHex, verifyTypedData } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { createRig, dollar, network } from '../../test/rig.ts';
import type { Route, RouteRequest, Seller } from '../seller/index.ts';
import { createFacilitator, localTransport } from '../settlement/index.ts';
import { createMemoryStore } from '../stores/memory.ts';
import { createSystem } from '../system.ts';
import { paid as sellExpress } from './express.ts';
import { paid as sellFetch } from './fetch.ts';
import { paid as sellHono } from './hono.ts';
import { paid as sellNode } from './node.ts';
import { bridge } from './rig/bridge.ts';
import { serveHono } from './rig/hono.ts';
import { serve } from './rig/wire.ts';

const world = await createSystem();

type Flow = 'authorization' | 'upfront';

/** What the handlers of all sellers do. */
type Work = (body: string) => { readonly status: number; readonly text: string };

const sellers: {
  readonly [name: string]: (seller: Seller, route: Route<RouteRequest>, work: Work) => RequestListener;
} = {
  express: (seller, route, work) => {
    const app = express();
    app.all('/weather', sellExpress(seller, route), express.text(), (request, response) => {
      const { status, text } = work(typeof request.body === 'string' ? request.body : '');
      response.status(status).type('text/plain').send(text);
    });
    return app;
  },
  node: (seller, route, work) =>
    sellNode(seller, route, async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const { status, text } = work(Buffer.concat(chunks).toString());
      response.writeHead(status, { 'content-type': 'text/plain' }).end(text);
    }),
  fetch: (seller, route, work) =>
    bridge(
      sellFetch(seller, route, async (request) => {
        const { status, text } = work(await request.text());
        return new Response(text, { status });
      }),
    ),
  hono: (seller, route, work) => {
    const app = new Hono();
    app.all('/weather', sellHono(seller, route), async (c) => {
      const { status, text } = work(await c.req.text());
      return new Response(text, { status });
    });
    return serveHono(app);
  },
};

/** The official facilitator over a chain on which every transfer succeeds. */
function officialFacilitator(): { readonly facilitator: x402Facilitator; readonly transfers: unknown[][] } {
  const transfers: unknown[][] = [];
  const signer: FacilitatorEvmSigner = {
    getAddresses: () => ['0x00000000000000000000000000000000000000fa'],
    readContract: async () => undefined,
    verifyTypedData: (typed) => verifyTypedData(typed),
    writeContract: async ({ functionName, args }) => {
      transfers.push([functionName, ...args]);
      return `0x${transfers.length.toString(16).padStart(64, '0')}`;
    },
    sendTransaction: () => Promise.reject(new Error('nothing else is sent')),
    waitForTransactionReceipt: async () => ({ status: 'success' }),
    getCode: async ({ address }) =>
      address.toLowerCase() === dollar.address.toLowerCase() ? '0x60' : undefined,
  };
  const facilitator = new x402Facilitator().register(network, new FacilitatorScheme(signer));
  return { facilitator, transfers };
}

type Market = {
  readonly buy: (init?: RequestInit) => Promise<Response>;
  readonly runs: () => number;
  readonly transfers: readonly unknown[][];
  readonly payer: string;
};

async function openMarket(
  t: TestContext,
  options: { readonly seller: string; readonly flow: Flow; readonly method?: string; readonly work?: Work },
): Promise<Market> {
  const { work = () => ({ status: 200, text: 'sunny' }), method = 'GET' } = options;
  const { facilitator, transfers } = officialFacilitator();
  let listener: RequestListener = (_request, response) => response.destroy();
  const port = await serve(t, (request, response) => listener(request, response));
  const rig = createRig({
    world,
    origin: `http://127.0.0.1:${port}`,
    store: createMemoryStore({ world }),
    facilitator: createFacilitator(
      localTransport<PaymentPayload, PaymentRequirements>(facilitator, {
        payment: (json) => json as unknown as PaymentPayload,
        requirement: (json) => json as unknown as PaymentRequirements,
      }),
    ),
  });
  const route = rig.seller.route({ method, path: '/weather', price: '$0.01', flow: options.flow });
  let runs = 0;
  const counted: Work = (body) => {
    runs += 1;
    return work(body);
  };
  const make = sellers[options.seller];
  assert.ok(make);
  listener = make(rig.seller, route, counted);
  const account = privateKeyToAccount(generatePrivateKey());
  const client = new x402Client().register('eip155:*', new ClientScheme(account));
  client.setSpendControls({
    allowedAssets: [{ network, asset: dollar.address, maxAmountPerPayment: '10000' }],
  });
  const pay = wrapFetchWithPayment(fetch, client);
  return {
    buy: (init = {}) => pay(`http://127.0.0.1:${port}/weather`, { method, ...init }),
    runs: () => runs,
    transfers,
    payer: account.address,
  };
}

for (const seller of Object.keys(sellers)) {
  for (const flow of ['authorization', 'upfront'] as const) {
    test(`the stock client buys from our ${seller} seller in the flow ${flow}`, async (t) => {
      const market = await openMarket(t, { seller, flow });
      const answer = await market.buy();
      assert.equal(answer.status, 200);
      assert.equal(await answer.text(), 'sunny');
      const receipt = decodePaymentResponseHeader(answer.headers.get('payment-response') ?? '');
      assert.deepEqual(
        [receipt.success, receipt.network, receipt.payer?.toLowerCase()],
        [true, network, market.payer.toLowerCase()],
      );
      assert.ok(isHex(receipt.transaction));
      assert.deepEqual([market.runs(), market.transfers.length], [1, 1]);
      const [transfer] = market.transfers;
      assert.equal(transfer?.[0], 'transferWithAuthorization');
      assert.equal(transfer?.[3], 10_000n);
    });
  }

  test(`the stock client’s body reaches the handler of our ${seller} seller as it was sent`, async (t) => {
    const work: Work = (body) => ({ status: 200, text: `for ${body}` });
    const market = await openMarket(t, { seller, flow: 'authorization', method: 'POST', work });
    const answer = await market.buy({ body: 'Łódź', headers: { 'content-type': 'text/plain' } });
    assert.deepEqual([answer.status, await answer.text()], [200, 'for Łódź']);
  });

  test(`the stock client is not charged for a failure of our ${seller} seller, nor led to pay twice`, async (t) => {
    const market = await openMarket(t, {
      seller,
      flow: 'authorization',
      work: () => ({ status: 503, text: 'later' }),
    });
    const answer = await market.buy();
    assert.deepEqual([answer.status, await answer.text()], [503, 'later']);
    assert.deepEqual([market.runs(), market.transfers.length], [1, 0]);
  });
}
