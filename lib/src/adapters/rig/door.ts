/**
 * The three adapters behind one description of a handler, so that one file of cases holds for all of them.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import express, { type ErrorRequestHandler } from 'express';
import type { Route, RouteRequest, Seller, WorkContext } from '../../seller/index.ts';
import { paid as sellExpress } from '../express.ts';
import { paid as sellFetch } from '../fetch.ts';
import { paid as sellNode } from '../node.ts';
import { bridge } from './bridge.ts';

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
  readonly name: 'fetch' | 'node' | 'express';
  /** A listener that sells `route` at every path. */
  readonly open: (seller: Seller, route: Route<RouteRequest>, handler: Handler) => RequestListener;
};

export const doors: readonly Door[] = [
  {
    name: 'fetch',
    open: (seller, route, handler) =>
      bridge(
        sellFetch(seller, route, async (request, context) => {
          const headers = Object.fromEntries(request.headers);
          const said = await handler({ body: await request.text(), headers, context });
          return new Response(streamOf(said.parts), {
            status: said.status ?? 200,
            headers: (said.headers ?? []).map(([name, value]): [string, string] => [name, value]),
          });
        }),
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
];

async function write(
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

function streamOf(parts: readonly string[] = []): ReadableStream<Uint8Array> {
  const rest = parts.map((part) => new TextEncoder().encode(part));
  return new ReadableStream({
    pull: (controller) => {
      const part = rest.shift();
      if (part === undefined) controller.close();
      else controller.enqueue(part);
    },
  });
}
