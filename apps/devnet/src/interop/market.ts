/**
 * A market on a real chain, for the tests in this folder: sellers of the library behind real HTTP servers, a
 * facilitator that can break, and buyers with funded accounts who pay with the stock client or with ours.
 */
import { createServer, type RequestListener, type Server } from 'node:http';
import { ExactEvmScheme } from '@x402/evm';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { paid as sellExpress } from 'counterfoil/adapters/express';
import { paid as sellNode } from 'counterfoil/adapters/node';
import type { ClaimRecord, ClaimStore } from 'counterfoil/claim';
import { signExactEvm } from 'counterfoil/payment';
import {
  createSeller,
  type Route,
  type RouteRequest,
  type Seller,
  type SellerEvent,
  type SellerOptions,
  type WorkContext,
} from 'counterfoil/seller';
import {
  type ChainReader,
  createChainReader,
  createFacilitator,
  createRpc,
  type Facilitator,
  httpTransport,
} from 'counterfoil/settlement';
import { createMemoryStore } from 'counterfoil/stores/memory';
import { createSystem, type System } from 'counterfoil/system';
import type { Asset } from 'counterfoil/terms';
import {
  decodeHex,
  decodePaymentRequired,
  decodePaymentResponse,
  encodeHex,
  encodePaymentSignature,
  type PaymentPayload,
  type PaymentRequired,
  type SettlementResponse,
} from 'counterfoil/wire';
import express from 'express';
import type { LocalAccount } from 'viem';
import type { AuthorizationEvent, Transfer } from '../chain.ts';
import { type Devnet, startDevnet } from '../devnet.ts';
import { type FaultyFacilitator, startFaultyFacilitator } from '../fault.ts';
import { closeServer, listenLocal } from '../http.ts';
import { assetOf } from './asset.ts';

/** Each test takes a buyer of its own, so that what moved for it can be counted on the chain. */
const buyers = 60;
/** A seller that leaves a request unanswered for so long never will: the test fails here and not by its own limit. */
const answerLimitMs = 30_000;
/** What a stock client may spend at once: a dollar. */
const spendLimit = '1000000';

export type Flow = 'authorization' | 'upfront';

export type StallOptions = {
  readonly binding?: 'off' | 'advisory' | 'echoed' | 'required';
  /** Default `node`. */
  readonly adapter?: 'express' | 'node';
  /** Default `authorization`. */
  readonly flow?: Flow;
  /** Replaces or wraps the facilitator, which is the breakable one over HTTP. */
  readonly facilitator?: (real: Facilitator) => Facilitator;
  /** Replaces or wraps the store, which is in memory. */
  readonly store?: ClaimStore;
  /** Whether the seller reads the chain itself; default `read`. */
  readonly chain?: 'read' | 'none';
  /** Replaces the seller's world, as for a wrong clock. */
  readonly world?: System;
  /** The longest that a settlement may take; default 10 s. */
  readonly settleMs?: number;
  /** What else the seller is told, as its limits, or on whose word it believes a settlement. */
  readonly seller?: Pick<SellerOptions, 'assurance' | 'breaker' | 'limits' | 'reconcile' | 'unpaidRuns'>;
  readonly work?: (context: WorkContext<RouteRequest>) => Promise<string> | string;
};

/** A seller of one cent's worth of weather at `url`. */
export type Stall = {
  readonly url: string;
  readonly seller: Seller;
  readonly store: ClaimStore;
  readonly events: readonly SellerEvent[];
  /** How often the work started. */
  readonly runs: () => number;
  /** The only record of the stall, or the newest of them. */
  readonly record: () => Promise<ClaimRecord>;
};

/** What a buyer sees of an answer. */
export type Seen = {
  readonly status: number;
  readonly text: string;
  readonly code: string | undefined;
  readonly money: string | undefined;
  readonly retry: string | undefined;
  /** The terms, where a new payment is invited. */
  readonly required: PaymentRequired | undefined;
  readonly response: SettlementResponse | undefined;
};

export type Buyer = {
  readonly account: LocalAccount;
  readonly transfers: () => Promise<readonly Transfer[]>;
  readonly used: () => Promise<readonly AuthorizationEvent[]>;
  /** Asks for the terms and signs a payment with the library's own client. */
  readonly sign: (url: string) => Promise<PaymentPayload>;
  /** The stock client, unchanged. */
  readonly fetch: (url: string) => Promise<Response>;
};

export type Market = {
  readonly devnet: Devnet;
  readonly rig: FaultyFacilitator;
  readonly world: System;
  readonly asset: Asset;
  readonly chain: ChainReader;
  readonly open: (options?: StallOptions) => Promise<Stall>;
  readonly buyer: () => Buyer;
  readonly close: () => Promise<void>;
};

/** Opens a market with a devnet of its own; close it when the tests are over. */
export async function openMarket(): Promise<Market> {
  const devnet = await startDevnet({ accounts: buyers });
  const rig = await startFaultyFacilitator({ upstream: devnet.facilitatorUrl });
  const world = await createSystem();
  const servers: Server[] = [];
  let taken = 0;
  const market = {
    devnet,
    rig,
    world,
    asset: assetOf(devnet),
    chain: createChainReader(createRpc({ url: devnet.rpcUrl, http: world.http })),
  };
  return {
    ...market,
    open: async (options = {}) => {
      const { stall, server } = await openStall(market, options);
      servers.push(server);
      return stall;
    },
    buyer: () => {
      taken += 1;
      return createBuyer(market, devnet.signer(taken - 1));
    },
    close: async () => {
      await Promise.all(servers.map((server) => closeServer(server, 0)));
      await world.close();
      await rig.close();
      await devnet.stop();
    },
  };
}

type Grounds = Pick<Market, 'devnet' | 'rig' | 'world' | 'asset' | 'chain'>;

async function openStall(
  market: Grounds,
  options: StallOptions,
): Promise<{ readonly stall: Stall; readonly server: Server }> {
  const { devnet, rig, asset } = market;
  const world = options.world ?? market.world;
  let listener: RequestListener = (_request, response) => void response.writeHead(503).end();
  const server = createServer((request, response) => listener(request, response));
  const origin = `http://127.0.0.1:${await listenLocal(server, 0)}`;
  const real = createFacilitator(httpTransport({ url: rig.url, http: world.http }));
  const store = options.store ?? createMemoryStore({ world });
  const events: SellerEvent[] = [];
  const seller = createSeller({
    world,
    store,
    facilitator: options.facilitator?.(real) ?? real,
    ...(options.chain === 'none' ? {} : { chains: { [devnet.network]: market.chain } }),
    origin,
    accepts: [{ network: devnet.network, payTo: devnet.accounts.seller.address }],
    assets: [asset],
    storeKey: new Uint8Array(32).fill(7),
    ...options.seller,
    observe: (event) => events.push(event),
  });
  const route = seller.route({
    method: 'GET',
    path: '/weather',
    price: '$0.01',
    flow: options.flow ?? 'authorization',
    settleMs: options.settleMs ?? 10_000,
    ...(options.binding === undefined ? {} : { binding: options.binding }),
  });
  let runs = 0;
  const work = async (context: WorkContext<RouteRequest>): Promise<string> => {
    runs += 1;
    const run = runs;
    return options.work?.(context) ?? `sunny ${run}`;
  };
  listener = listenerOf(options.adapter ?? 'node', { seller, route, work });
  await seller.ready();
  const record = async (): Promise<ClaimRecord> => newest(await store.list({ limit: 100 }));
  return { server, stall: { url: `${origin}/weather`, seller, store, events, runs: () => runs, record } };
}

type Sale = {
  readonly seller: Seller;
  readonly route: Route<RouteRequest>;
  readonly work: (context: WorkContext<RouteRequest>) => Promise<string>;
};

function listenerOf(adapter: 'express' | 'node', { seller, route, work }: Sale): RequestListener {
  switch (adapter) {
    case 'node': {
      const sell = sellNode(seller, route, async (_request, response, context) => {
        response.setHeader('content-type', 'text/plain');
        response.end(await work(context));
      });
      return (request, response) => void sell(request, response);
    }
    case 'express': {
      const app = express();
      const gate = sellExpress(seller, route);
      app.get('/weather', gate, async (request, response) => {
        response.type('text/plain').send(await work(gate.context(request)));
      });
      return app;
    }
    default:
      return adapter satisfies never;
  }
}

function newest(records: readonly ClaimRecord[]): ClaimRecord {
  const [first] = records.toSorted((a, b) => b.createdAtMs - a.createdAtMs);
  if (first === undefined) throw new Error('the store holds no record');
  return first;
}

function createBuyer(market: Grounds, account: LocalAccount): Buyer {
  const { devnet } = market;
  return {
    account,
    transfers: () => devnet.chain.transfers({ from: account.address, to: devnet.accounts.seller.address }),
    used: () => devnet.chain.authorizationsUsed(account.address),
    sign: async (url) => sign(market, account, await termsAt(url)),
    fetch: stockFetch(devnet, account),
  };
}

/** Asks without a payment; throws where the answer holds no terms. */
export async function termsAt(url: string): Promise<PaymentRequired> {
  const { required, status } = await present(url);
  if (required === undefined) throw new Error(`status ${status} without terms`);
  return required;
}

async function sign(
  { world }: Grounds,
  account: LocalAccount,
  required: PaymentRequired,
): Promise<PaymentPayload> {
  const [requirement] = required.accepts;
  if (requirement === undefined || account.sign === undefined) throw new Error('nothing can be signed');
  const { sign: signHash } = account;
  return signExactEvm({
    requirement,
    signer: {
      address: account.address,
      signDigest: async (digest) => bytesOf(await signHash({ hash: encodeHex(digest) })),
    },
    nowMs: world.nowMs(),
    random: world.random,
    resource: required.resource,
  });
}

function bytesOf(hex: string): Uint8Array {
  const bytes = decodeHex(hex);
  if (bytes === undefined) throw new Error('a signature is no hex');
  return bytes;
}

function stockFetch(devnet: Devnet, account: LocalAccount): (url: string) => Promise<Response> {
  const client = new x402Client().register(devnet.network, new ExactEvmScheme(account));
  client.setSpendControls({
    allowedAssets: [
      { network: devnet.network, asset: devnet.dollar.address, maxAmountPerPayment: spendLimit },
    ],
  });
  const pay = wrapFetchWithPayment(fetch, client);
  return (url) => pay(url, { signal: AbortSignal.timeout(answerLimitMs) });
}

/** One request, with a payment or without. */
export async function present(url: string, payment?: PaymentPayload): Promise<Seen> {
  const headers = payment === undefined ? {} : { 'payment-signature': encodePaymentSignature(payment) };
  return seen(await fetch(url, { headers, signal: AbortSignal.timeout(answerLimitMs) }));
}

/** Reads an answer as a buyer would. */
export async function seen(response: Response): Promise<Seen> {
  const text = await response.text();
  const problem = response.headers.get('content-type') === 'application/problem+json' ? JSON.parse(text) : {};
  const required = response.headers.get('payment-required');
  const settled = response.headers.get('payment-response');
  return {
    status: response.status,
    text,
    code: problem.code,
    money: problem.money,
    retry: problem.retry,
    required: required === null ? undefined : opened(decodePaymentRequired(required)),
    response: settled === null ? undefined : opened(decodePaymentResponse(settled)),
  };
}

function opened<T>(outcome: { readonly ok: true; readonly value: T } | { readonly ok: false }): T {
  if (!outcome.ok) throw new Error('a header cannot be read');
  return outcome.value;
}
