/** The official packages, as their documentation shows them: one middleware in front of the application. */
import type { RequestListener } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { HTTPFacilitatorClient } from '@x402/core/server';
import { ExactEvmScheme } from '@x402/evm/exact/server';
import { paymentMiddleware as expressMiddleware, x402ResourceServer } from '@x402/express';
import { paymentMiddleware as honoMiddleware } from '@x402/hono';
import express from 'express';
import { Hono } from 'hono';
import { createStandIn } from './facilitator.ts';
import { amount, freePath, network, payTo, token } from './goods.ts';
import type { Premises, Shop } from './shop.ts';

/** Opens a shop with the official middleware. */
export async function openOfficial(premises: Premises): Promise<Shop> {
  return { listener: listenerOf(premises), close: async () => {} };
}

function listenerOf({ variant, goods, work, facilitatorUrl }: Premises): RequestListener {
  const facilitator =
    facilitatorUrl === undefined ? createStandIn() : new HTTPFacilitatorClient({ url: facilitatorUrl });
  const server = new x402ResourceServer(facilitator).register(network, new ExactEvmScheme());
  const price = { asset: token.address, amount, extra: { name: token.name, version: token.version } };
  const accepts = { scheme: 'exact', network, payTo, price, maxTimeoutSeconds: 300 } as const;
  const routes = Object.fromEntries(goods.paths.map((path) => [`GET ${path}`, { accepts }]));
  switch (variant.framework) {
    case 'express': {
      const app = express();
      app.use(expressMiddleware(routes, server));
      app.get(freePath, (_request, response) => void response.json({}));
      app.get(goods.pattern, async (_request, response) => void response.json(await work.answer()));
      return app;
    }
    case 'hono': {
      const app = new Hono();
      app.use(honoMiddleware(routes, server));
      app.get(freePath, (context) => context.json({}));
      app.get(goods.pattern, async (context) => context.json(await work.answer()));
      return getRequestListener(app.fetch);
    }
    case 'node':
    case 'fetch':
      throw new TypeError(`There is no official adapter for ${variant.framework}.`);
    default:
      return variant.framework satisfies never;
  }
}
