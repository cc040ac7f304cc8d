/**
 * A port for a server that will be killed and started again on it. Ports that the system hands out by itself will not
 * do: while the server is down a client's next connection may be given that very number, and then it even connects to
 * itself (RFC 9293 section 3.5, simultaneous open).
 */
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the numbers that Linux (32768) and the others (49152) hand out, above the well known ones. */
const firstPort = 20_000;
const lastPort = 32_000;
/** So many numbers in a row are not taken on a machine that can run tests. */
const mostLooks = 100;
/** Somebody else can take a port between our asking for a free one and the server binding it; hardly thrice in a row. */
const mostStarts = 3;

/** A port of 127.0.0.1 that nothing listens on and that no client is given. */
export async function freePort(): Promise<number> {
  for (let look = 0; look < mostLooks; look += 1) {
    const port = firstPort + Math.floor(Math.random() * (lastPort - firstPort));
    if (await isFree(port)) return port;
  }
  throw new Error(`No free port of 127.0.0.1 between ${firstPort} and ${lastPort} after ${mostLooks} looks.`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}

/** Starts a server on a free port, again on another one when somebody was faster. */
export async function onFreePort<Server>(start: (port: number) => Promise<Server>): Promise<Server> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await start(await freePort());
    } catch (fault) {
      if (tries === mostStarts || !/address already in use/i.test(String(fault))) throw fault;
    }
  }
}
