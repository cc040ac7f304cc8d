/** The little of node:http that every server of the comparison shares. */
import { once } from 'node:events';
import type { Server } from 'node:http';

/** Listens on a free port of 127.0.0.1 and gives it. */
export async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return address.port;
}

/** Stops listening and cuts what is still open. */
export async function closeServer(server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}
