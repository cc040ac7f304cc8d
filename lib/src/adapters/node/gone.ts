/**
 * When a client is gone. A response says so by `close`, but only once its turn on the connection has come: of several
 * requests sent at once the later ones would never hear of it. So the connection itself is asked, once for all of them.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** What is known of the client of one request. */
export type Client = {
  readonly gone: () => boolean;
  /** Calls `leave` when the connection closes, until the returned function is called. */
  readonly onLeave: (leave: () => void) => () => void;
};

/** What waits for each connection to close; one ear on the connection serves them all. */
const waiting = new WeakMap<Socket, Set<() => void>>();

/** The client at the other end of a request's connection. */
export function clientOf(request: IncomingMessage): Client {
  // Kept here: while a handler runs, its request shows another socket.
  const { socket } = request;
  return {
    gone: () => socket.destroyed,
    onLeave: (leave) => {
      const ears = earsOf(socket);
      ears.add(leave);
      return () => void ears.delete(leave);
    },
  };
}

function earsOf(socket: Socket): Set<() => void> {
  const known = waiting.get(socket);
  if (known !== undefined) return known;
  const ears = new Set<() => void>();
  socket.once('close', () => {
    for (const leave of ears) leave();
  });
  waiting.set(socket, ears);
  return ears;
}
