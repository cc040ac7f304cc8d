/**
 * The process with our seller: the node adapter, a SQLite store, the store key in a file of its own, a chain reader.
 * It is what a merchant would write, plus a count of its handlers.
 */
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { paid } from 'counterfoil/adapters/node';
import { createSeller, type LeaseSettings, type Seller } from 'counterfoil/seller';
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
import { createTally, freePath, paths, price, type Tally } from './tally.ts';

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
  const listeners = new Map<string, Listener>();
  const server = createServer((request, response) => answer(listeners, request, response));
  const port = await listen(server, config.port);
  const world = await createSystem();
  const store = await openSqliteStore({ path: config.storeFile });
  const seller = createSeller({
    world,
    store,
    facilitator: createFacilitator(httpTransport({ url: config.facilitatorUrl, http: world.http })),
    chains: { [config.network]: createChainReader(createRpc({ url: config.rpcUrl, http: world.http })) },
    origin: `http://127.0.0.1:${port}`,
    accepts: [{ network: config.network, payTo: config.payTo }],
    assets: [defineAsset({ network: config.network, dollar: true, ...config.asset })],
    storeKey: new Uint8Array(readFileSync(config.keyFile)),
    ...(config.timing === undefined ? {} : { lease: config.timing.lease }),
  });
  await seller.ready();
  for (const path of paths) listeners.set(path, sell(seller, path, { tally, config }));
  listeners.set(freePath, async (_request, response) => sendJson(response, await tally.hello()));
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

function sell(seller: Seller, path: string, about: { tally: Tally; config: SellerConfig }): Listener {
  const { tally, config } = about;
  const settleMs = config.timing?.settleMs;
  const route = seller.route({ method: 'GET', path, price, ...(settleMs === undefined ? {} : { settleMs }) });
  return paid(seller, route, async (_request, response, context) => {
    sendJson(response, await tally.work(path, context.signal));
  });
}

function answer(
  listeners: ReadonlyMap<string, Listener>,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const [path = ''] = (request.url ?? '').split('?', 1);
  const listener = listeners.get(path);
  if (listener !== undefined) {
    listener(request, response);
    return;
  }
  response.writeHead(404).end();
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
