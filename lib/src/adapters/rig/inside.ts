/** Requests and responses of node:http without a connection, for applications that are asked in process. */
import { IncomingMessage, type RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { Bent } from './targets.ts';

/** What the rig's seller is called. */
export const host = 'api.example.com';

/** A connection whose octets go nowhere. */
function nowhere(): Socket {
  const sink = new Duplex({ read: () => {}, write: (_chunk, _encoding, done) => done() });
  return Object.assign(sink, { remoteAddress: '127.0.0.1' }) as unknown as Socket;
}

/** For requests that nobody answers. */
const shared = nowhere();

/** A request with a Host and no body. */
export function incomingOf({ method, target }: Bent, socket: Socket = shared): IncomingMessage {
  const incoming = new IncomingMessage(socket);
  incoming.method = method;
  incoming.url = target;
  incoming.rawHeaders.push('Host', host);
  incoming.headers.host = host;
  incoming.complete = true;
  incoming.push(null);
  return incoming;
}

/** Asks a listener and resolves to the status that it answered with; 0 if it broke off. */
export function askInside(listener: RequestListener, bent: Bent): Promise<number> {
  const socket = nowhere();
  const incoming = incomingOf(bent, socket);
  const outgoing = new ServerResponse(incoming);
  outgoing.assignSocket(socket);
  return new Promise((resolve, reject) => {
    outgoing.once('finish', () => resolve(outgoing.statusCode));
    outgoing.once('close', () => resolve(0));
    Promise.resolve(listener(incoming, outgoing as never)).catch(reject);
  });
}
