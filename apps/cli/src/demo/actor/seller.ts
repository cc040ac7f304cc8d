/**
 * The process with our seller: the node adapter, a SQLite store, the store key in a file of its own, a chain reader,
 * every route met once before anything is sold. It is what a merchant would write, plus a count of its handlers.
 */
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type PaidListener, paidRoutes, probe } from 'counterfoil/adapters/node';
import {
  createSeller,
  type LeaseSettings,
  type Route,
  type RouteRequest,
  type Seller,
  type SellerOptions,
} from 'counterfoil/seller';
import { createChainReader, createFacilitator, createRpc, httpTransport } from 'counterfoil/settlement';
import { openSqliteStore } from 'counterfoil/stores/sqlite';
import { createSystem } from 'counterfoil/system';
import { defineAsset } from 'counterfoil/terms';
import { isStarted } from '../../entry.ts';
import { readCount, readObject, readText } from '../process/read.ts';
import { serveParent } from '../process/serve.ts';
import type { Actor } from '../process/spawn.ts';
import { closeServer, listen, readShopConfig } from './config.ts';
import { type ShopActor, type ShopConfig, startShop } from './shop.ts';
import {
  chatPath,
  createTally,
  ditheredPaths,
  ditheredPrice,
  freePath,
  paths,
  price,
  type Tally,
} from './tally.ts';

/** What our seller is told beyond what every seller is. */
export type SellerConfig = ShopConfig & {
  readonly rpcUrl: string;
  readonly storeFile: string;
  readonly keyFile: string;
  /** 0 takes a free one; a restart takes the one it had, because the origin is part of what is bought. */
  readonly port: number;
  /** Short ones for the crash; the defaults of the library without. */
  readonly timing?: { readonly lease: LeaseSettings; readonly settleMs: number };
};

/** Starts our seller in a process of its own. */
export function startSeller(config: SellerConfig, onActor?: (actor: Actor) => void): Promise<ShopActor> {
  const about = { name: 'seller', file: import.meta.filename };
  return startShop(onActor === undefined ? about : { ...about, onActor }, config);
}

type Listener = (request: IncomingMessage, response: ServerResponse) => unknown;

async function open(
  config: SellerConfig,
): Promise<{ tally: Tally; port: number; close: () => Promise<void> }> {
  const tally = createTally(config.workMs);
  let listener: Listener = (_request, response) => response.writeHead(503).end();
  const server = createServer((request, response) => void listener(request, response));
  const port = await listen(server, config.port);
  const world = await createSystem();
  const options: SellerOptions = {
    world,
    store: await openSqliteStore({ path: config.storeFile }),
    facilitator: createFacilitator(httpTransport({ url: config.facilitatorUrl, http: world.http })),
    chains: { [config.network]: createChainReader(createRpc({ url: config.rpcUrl, http: world.http })) },
    origin: `http://127.0.0.1:${port}`,
    accepts: [{ network: config.network, payTo: config.payTo }],
    assets: [defineAsset({ network: config.network, dollar: true, ...config.asset })],
    storeKey: new Uint8Array(readFileSync(config.keyFile)),
    ...(config.timing === undefined ? {} : { lease: config.timing.lease }),
  };
  const seller = createSeller(options);
  // How siblings are told apart is said for a whole seller; the two share their records, as two processes would.
  const dithering = createSeller({ ...options, siblings: 'dither' });
  const shop = listenerOf({ seller, dithering, tally, settleMs: config.timing?.settleMs });
  for (const each of [seller, dithering]) await each.ready({ probe: probe(shop) });
  listener = shop;
  return {
    tally,
    port,
    close: async () => {
      await closeServer(server);
      await seller.close();
      await world.close();
    },
  };
}

type Goods = {
  readonly seller: Seller;
  readonly dithering: Seller;
  readonly tally: Tally;
  readonly settleMs: number | undefined;
};

/** Everything that is sold, and the one path that is free; nothing else is answered. */
function listenerOf({ seller, dithering, tally, settleMs }: Goods): Listener {
  const timing = settleMs === undefined ? {} : { settleMs };
  const sell = (route: Route<RouteRequest>): readonly [Route<RouteRequest>, PaidListener<RouteRequest>] => [
    route,
    async (_request, response, context) => sendJson(response, await tally.work(route.path, context.signal)),
  ];
  const echoed = paths.map((path) => sell(seller.route({ method: 'GET', path, price, ...timing })));
  const committed = ['POST', 'PUT'].map((method) =>
    sell(seller.route({ method, path: chatPath, price, binding: 'required', ...timing })),
  );
  const dithered = ditheredPaths.map((path) =>
    sell(dithering.route({ method: 'GET', path, price: ditheredPrice, ...timing })),
  );
  return paidRoutes(seller, [...echoed, ...committed], {
    otherwise: paidRoutes(dithering, dithered, {
      closed: ['/'],
      free: [`GET ${freePath}`],
      otherwise: async (_request, response) => sendJson(response, await tally.hello()),
    }),
  });
}

function sendJson(response: ServerResponse, text: string): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(text);
}

function readConfig(input: unknown): SellerConfig {
  const config = readObject(input, 'config');
  return {
    ...readShopConfig(config),
    rpcUrl: readText(config, 'rpcUrl'),
    storeFile: readText(config, 'storeFile'),
    keyFile: readText(config, 'keyFile'),
    port: readCount(config, 'port'),
    ...(config.timing === undefined ? {} : { timing: readTiming(config.timing) }),
  };
}

function readTiming(value: unknown): { readonly lease: LeaseSettings; readonly settleMs: number } {
  const timing = readObject(value, 'timing');
  const lease = readObject(timing.lease, 'lease');
  return {
    settleMs: readCount(timing, 'settleMs'),
    lease: {
      leaseMs: readCount(lease, 'leaseMs'),
      heartbeatMs: readCount(lease, 'heartbeatMs'),
      marginMs: readCount(lease, 'marginMs'),
      graceMs: readCount(lease, 'graceMs'),
    },
  };
}

function serve(): void {
  let opened: Awaited<ReturnType<typeof open>> | undefined;
  serveParent(
    {
      start: async (input) => {
        opened = await open(readConfig(input));
        return { port: opened.port };
      },
      counts: () => ({ begun: opened?.tally.begun() ?? {}, runs: opened?.tally.runs() ?? [] }),
    },
    async () => opened?.close(),
  );
}

if (isStarted(import.meta.filename)) serve();
