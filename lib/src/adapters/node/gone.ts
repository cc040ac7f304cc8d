/**
 * When a client is gone. A response says so by `close`, but only once its turn on the connection has come: of several
 * requests sent at once the later ones would never hear of it. So the connection itself is asked, once for all of them.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

const connections = new WeakMap<Socket, AbortSignal>();

/** Aborts when the client's connection closes before this response has gone out, and not any more afterwards. */
export function goneSignal(request: IncomingMessage, response: ServerResponse): AbortSignal {
  const closed = closedSignal(request.socket);
  const gone = new AbortController();
  const leave = (): void => gone.abort(new Error('The client went away.'));
  if (closed.aborted || request.socket.destroyed) leave();
  closed.addEventListener('abort', leave, { once: true });
  response.once('finish', () => closed.removeEventListener('abort', leave));
  return gone.signal;
}

function closedSignal(socket: Socket): AbortSignal {
  const known = connections.get(socket);
  if (known !== undefined) return known;
  const closed = new AbortController();
  socket.once('close', () => closed.abort());
  connections.set(socket, closed.signal);
  return closed.signal;
}
