/**
 * The start-up self-test's way through a node:http application (H05): a server of its own on the loopback, for one
 * request whose octets are as they were given, and gone with it.
 */
import { createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http';
import type { Probe, ProbeAnswer, ProbeRequest } from '../../seller/index.ts';
import { inTime, probeMs } from '../probe.ts';

/** What `http.createServer` takes: a listener, or an application of Express. */
export type Listener = (request: IncomingMessage, response: ServerResponse) => unknown;

/** A probe through a listener. What the listener throws, or rejects with, is the probe's own failure. */
export function createProbe(listener: Listener, limitMs: number = probeMs): Probe {
  return (asked) => inTime(asked, limitMs, (stop) => serveOnce(listener, asked, stop));
}

/** The server closes when `stop` aborts. */
async function serveOnce(listener: Listener, asked: ProbeRequest, stop: AbortSignal): Promise<ProbeAnswer> {
  const broken = Promise.withResolvers<never>();
  const server = createServer((request, response) => {
    const run = async (): Promise<unknown> => listener(request, response);
    run().catch(broken.reject);
  });
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  stop.addEventListener('abort', close, { once: true });
  const answer = portOf(server).then((port) => ask(port, asked));
  return Promise.race([answer, broken.promise]);
}

function portOf(server: ReturnType<typeof createServer>): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      if (address === null || typeof address === 'string') reject(new Error('The probe has no port.'));
      else resolve(address.port);
    });
  });
}

function ask(port: number, { method, target, headers, body }: ProbeRequest): Promise<ProbeAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<ProbeAnswer>();
  const length = body.length === 0 ? [] : ['content-length', String(body.length)];
  const request = send({
    host: '127.0.0.1',
    port,
    method,
    path: target,
    agent: false,
    // As a list they are sent as they stand.
    headers: [...headers.flat(), ...length, 'connection', 'close'],
  });
  request.once('error', reject);
  request.once('response', (response) => {
    const { statusCode = 0, rawHeaders } = response;
    resolve({ status: statusCode, headers: pairs(rawHeaders) });
    response.destroy();
  });
  request.end(body);
  return promise;
}

function pairs(raw: readonly string[]): ProbeAnswer['headers'] {
  const list: [string, string][] = [];
  for (let at = 0; at + 1 < raw.length; at += 2)
    list.push([String(raw[at]).toLowerCase(), String(raw[at + 1])]);
  return list;
}
