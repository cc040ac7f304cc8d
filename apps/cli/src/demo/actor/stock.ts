/**
 * The process with the official seller: `@x402/express` as its documentation shows it, in front of the same work and
 * the same facilitator. What it does is measured, never assumed.
 */
import { createServer } from 'node:http';
import { isStarted } from '../../entry.ts';
import { serveParent } from '../process/serve.ts';
import type { Actor } from '../process/spawn.ts';
import { closeServer, listen, readShopConfig } from './config.ts';
import { type ShopActor, type ShopConfig, startShop } from './shop.ts';
import { createTally, freePath, paths, type Tally } from './tally.ts';

/** One cent in atomic units of a token with six decimals; the official package knows no price in a local token. */
const amount = '10000';

/** Starts the official seller in a process of its own. */
export function startStock(config: ShopConfig, onActor?: (actor: Actor) => void): Promise<ShopActor> {
  const about = { name: 'official seller', file: import.meta.filename };
  return startShop(onActor === undefined ? about : { ...about, onActor }, config);
}

async function open(config: ShopConfig): Promise<{ tally: Tally; port: number; close: () => Promise<void> }> {
  // Loaded here, so that the parent, which imports this file to start it, does not load a second framework.
  const { default: express } = await import('express');
  const { paymentMiddleware, x402ResourceServer } = await import('@x402/express');
  const { HTTPFacilitatorClient } = await import('@x402/core/server');
  const { ExactEvmScheme } = await import('@x402/evm/exact/server');
  const tally = createTally(config.workMs);
  const { network, payTo, asset } = config;
  const price = { asset: asset.address, amount, extra: { name: asset.name, version: asset.version } };
  const accepts = { scheme: 'exact', network, payTo, price, maxTimeoutSeconds: 300 };
  const facilitator = new HTTPFacilitatorClient({ url: config.facilitatorUrl });
  const resourceServer = new x402ResourceServer(facilitator).register(network, new ExactEvmScheme());
  const routes = Object.fromEntries(paths.map((path) => [`GET ${path}`, { accepts }]));
  const app = express();
  app.use(paymentMiddleware(routes, resourceServer));
  for (const path of paths) {
    app.get(path, async (_request, response) => {
      response.type('application/json').send(await tally.work(path));
    });
  }
  app.get(freePath, async (_request, response) => {
    response.type('application/json').send(await tally.hello());
  });
  const server = createServer(app);
  const port = await listen(server, 0);
  return { tally, port, close: () => closeServer(server) };
}

function serve(): void {
  let opened: Awaited<ReturnType<typeof open>> | undefined;
  serveParent(
    {
      start: async (input) => {
        opened = await open(readShopConfig(input));
        return { port: opened.port };
      },
      counts: () => ({ begun: opened?.tally.begun() ?? {}, runs: opened?.tally.runs() ?? [] }),
    },
    async () => opened?.close(),
  );
}

if (isStarted(import.meta.filename)) serve();
