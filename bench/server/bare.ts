/** The frameworks without any gate: what a request costs that nobody has to pay for. */
import type { RequestListener } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import express from 'express';
import { Hono } from 'hono';
import { freePath } from './goods.ts';
import type { Premises, Shop } from './shop.ts';

/** Opens a shop that gives its goods away. */
export async function openBare(premises: Premises): Promise<Shop> {
  return { listener: listenerOf(premises), close: async () => {} };
}

function listenerOf({ variant, goods, work }: Premises): RequestListener {
  const paths = new Set([...goods.paths, freePath]);
  const answer = (path: string) => (path === freePath ? {} : work.answer());
  switch (variant.framework) {
    case 'node':
      return async (request, response) => {
        const path = request.url ?? '';
        if (!paths.has(path)) return response.writeHead(404).end();
        const text = JSON.stringify(await answer(path));
        response.writeHead(200, { 'content-type': 'application/json' });
        return response.end(text);
      };
    case 'fetch':
      return getRequestListener(async ({ url }) => {
        const path = new URL(url).pathname;
        return paths.has(path) ? Response.json(await answer(path)) : new Response(null, { status: 404 });
      });
    case 'express': {
      const app = express();
      app.get(freePath, (_request, response) => void response.json({}));
      app.get(goods.pattern, async (_request, response) => void response.json(await work.answer()));
      return app;
    }
    case 'hono': {
      const app = new Hono();
      app.get(freePath, (context) => context.json({}));
      app.get(goods.pattern, async (context) => context.json(await work.answer()));
      return getRequestListener(app.fetch);
    }
    default:
      return variant.framework satisfies never;
  }
}
