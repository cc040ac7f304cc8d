/**
 * The little of HTTP that the facilitator and the fault proxy share: bounded bodies, JSON answers,
 * listening on the loopback address, closing without waiting for ever.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { DevnetError, errorCode, explain } from './failure.ts';

/** A payment is about 2 KiB; a batch of extensions may make it some times larger, never this large. */
export const MAX_BODY_BYTES: number = 256 * 1024;

/** A request must be complete in this time, or its connection is closed. */
const REQUEST_LIMIT_MS = 30_000;

/** A connection closed while a caller reuses it looks like a lost settle; so idle ones are kept for long. */
const KEEP_ALIVE_MS = 60_000;

/** How long a closing server waits for answers that are under way. */
const CLOSE_LIMIT_MS = 2_000;

/** What answers one request; whatever it throws becomes a plain 500 without details. */
export type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** A server that is not listening yet, with limits set, which answers every failure in JSON. */
export function createJsonServer(handler: Handler): Server {
  const server = createServer({ requestTimeout: REQUEST_LIMIT_MS }, (request, response) => {
    handler(request, response).catch(() => {
      if (response.headersSent) response.destroy();
      else
        sendJson(response, 500, { error: 'internal_error', message: 'The request could not be answered.' });
    });
  });
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.on('clientError', (_error, socket) => {
    socket.end('HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n');
  });
  return server;
}

/** Listens on 127.0.0.1 and resolves with the port; {@link DevnetError} `port_taken` when it is not free. */
export async function listenLocal(server: Server, port: number): Promise<number> {
  server.listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch (error) {
    if (errorCode(error) !== 'EADDRINUSE') throw error;
    throw new DevnetError(
      'port_taken',
      `Port ${port} on 127.0.0.1 is taken. Give another one, or 0 for a free one.`,
    );
  }
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error(`no port: ${explain(address)}`);
  return address.port;
}

/** Stops listening, lets answers that are under way finish for a moment, then closes every connection. */
export async function closeServer(server: Server, limitMs: number = CLOSE_LIMIT_MS): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, 'close');
  server.close();
  server.closeIdleConnections();
  const force = setTimeout(() => server.closeAllConnections(), limitMs);
  await closed;
  clearTimeout(force);
}

/** The whole body, or `undefined` when it is larger than the limit (the rest is not read). */
export async function readBody(
  request: IncomingMessage,
  limit: number = MAX_BODY_BYTES,
): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > limit) return undefined;
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

/** Answers with one JSON value and nothing else. */
export function sendJson(response: ServerResponse, status: number, value: unknown): void {
  const body = Buffer.from(JSON.stringify(value));
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': body.length });
  response.end(body);
}

/** The JSON value in these bytes, or `undefined`. */
export function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}
