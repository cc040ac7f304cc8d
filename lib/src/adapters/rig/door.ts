/**
 * The four adapters behind one description of a handler, so that the same cases hold for all of them.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import express, { type ErrorRequestHandler } from 'express';
import { Hono } from 'hono';
import type { Route, RouteRequest, Seller, WorkContext } from '../../seller/index.ts';
import { paid as sellExpress } from '../express.ts';
import { paid as sellFetch } from '../fetch.ts';
import { paid as sellHono } from '../hono.ts';
import { paid as sellNode } from '../node.ts';
import { bridge } from './bridge.ts';
import { serveHono } from './hono.ts';

/** What a handler answers, whatever it is written for. */
export type Said = {
  readonly status?: number;
  readonly headers?: readonly (readonly [string, string])[];
  /** Written one after the other. */
  readonly parts?: readonly string[];
};

export type Handler = (parts: {
  readonly body: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly context: WorkContext<RouteRequest>;
}) => Said | Promise<Said>;

export type Door = {
  readonly name: 'fetch' | 'node' | 'express' | 'hono';
  /** A listener that sells `route` at every path. */
  readonly open: (seller: Seller, route: Route<RouteRequest>, handler: Handler) => RequestListener;
};

export const doors: readonly Door[] = [
  {
    name: 'fetch',
    open: (seller, route, handler) =>
      bridge(
        sellFetch(seller, route, async (request, context) =>
          respond(await handler({ ...(await seenIn(request)), context })),
        ),
      ),
  },
  {
    name: 'node',
    open: (seller, route, handler) =>
      sellNode(seller, route, async (request, response, context) =>
        write(request, response, handler, context),
      ),
  },
  {
    name: 'express',
    open: (seller, route, handler) => {
      const app = express();
      const gate = sellExpress(seller, route);
      app.all('/{*path}', gate, (request, response) =>
        write(request, response, handler, gate.context(request)),
      );
      app.use(((_fault, _request, response, _next) =>
        response.status(500).send('sorry')) satisfies ErrorRequestHandler);
      return app;
    },
  },
  {
    name: 'hono',
    open: (seller, route, handler) => {
      const app = new Hono();
      const gate = sellHono(seller, route);
      app.all('*', gate, async (c) =>
        respond(await handler({ ...(await seenIn(c.req.raw)), context: gate.context(c) })),
      );
      app.onError((_fault, c) => c.text('sorry', 500));
      return serveHono(app);
    },
  },
];

/** What a handler is shown of a Request. */
export async function seenIn(request: Request): Promise<Pick<Parameters<Handler>[0], 'body' | 'headers'>> {
  return { headers: Object.fromEntries(request.headers), body: await request.text() };
}

/** What a handler says, as a Response. */
export function respond(said: Said): Response {
  return new Response(said.parts === undefined ? null : streamOf(said.parts), {
    status: said.status ?? 200,
    headers: (said.headers ?? []).map(([name, value]): [string, string] => [name, value]),
  });
}

/** What a handler says, written to a response of Node's. */
export async function write(
  request: IncomingMessage,
  response: ServerResponse,
  handler: Handler,
  context: WorkContext<RouteRequest>,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const headers = Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
  );
  const said = await handler({ body: Buffer.concat(chunks).toString(), headers, context });
  for (const [name, value] of said.headers ?? []) response.appendHeader(name, value);
  response.writeHead(said.status ?? 200);
  for (const part of said.parts ?? []) await new Promise((resolve) => response.write(part, resolve));
  response.end();
}

function streamOf(parts: readonly string[]): ReadableStream<Uint8Array> {
  const rest = parts.map((part) => new TextEncoder().encode(part));
  return new ReadableStream({
    pull: (controller) => {
      const part = rest.shift();
      if (part === undefined) controller.close();
      else controller.enqueue(part);
    },
  });
}
