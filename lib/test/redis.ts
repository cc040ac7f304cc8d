/** Prefixes, plain connections and unreliable lines of their own for tests of the Redis store. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { sharedRedis } from '../../tools/servers/redis.ts';

export type Place = { readonly url: string; readonly prefix: string };

/** A prefix that nobody has, on the shared server; its keys begin with `keysOf`. */
export async function newPlace(): Promise<Place> {
  const { url, prefix } = await sharedRedis();
  return { url, prefix: prefix.replace(/:$/, '') };
}

/** What stands before the keys of a store. */
export function keysOf({ prefix }: Pick<Place, 'prefix'>): string {
  return `{${prefix}}:`;
}

export type Command = readonly [name: string, ...args: string[]];

/** Runs some commands on a connection of their own; resolves with the answer of the last. */
export async function ask(url: string, ...commands: readonly Command[]): Promise<unknown> {
  const redis = new Redis(url, { lazyConnect: true });
  try {
    await redis.connect();
    let answer: unknown;
    for (const [name, ...args] of commands) answer = await redis.call(name, ...args);
    return answer;
  } finally {
    redis.disconnect();
  }
}

/** Resolves when a replica follows this server and confirms what is written. */
export async function replicaOnline(url: string): Promise<void> {
  // A wait that began before the replica did is not always ended by it, so each is short.
  while (!(Number(await ask(url, ['SET', 'mark', '1'], ['WAIT', '1', '100'])) >= 1)) await delay(5);
}

export type Line = {
  readonly url: string;
  /** What happens to the next octets of the server. */
  answers: 'pass' | 'vanish' | 'break';
  /** Where the next connection goes. */
  target: string;
  /** Octets that went to the server. */
  sent: string;
  /** How many connections there have been. */
  connections: number;
  readonly cut: () => void;
  readonly close: () => void;
};

/** A line to the server that can lose its answers, break, or lead elsewhere. */
export async function lineTo(url: string): Promise<Line> {
  const sockets = new Set<Socket>();
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  const proxy = createServer((near) => join(line, near, sockets)).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const { port } = proxy.address() as AddressInfo;
  const line: Line = {
    url: `redis://127.0.0.1:${port}`,
    answers: 'pass',
    target: url,
    sent: '',
    connections: 0,
    cut,
    close: () => {
      proxy.close();
      cut();
    },
  };
  return line;
}

function join(line: Line, near: Socket, sockets: Set<Socket>): void {
  const { hostname, port } = new URL(line.target);
  const far = connect(Number(port), hostname);
  line.connections += 1;
  for (const socket of [near, far]) {
    sockets.add(socket);
    socket.on('error', () => {});
  }
  near.on('data', (bytes) => {
    line.sent += bytes.toString('latin1');
    far.write(bytes);
  });
  near.on('close', () => far.destroy());
  far.on('data', (bytes) => {
    if (line.answers === 'pass') near.write(bytes);
    if (line.answers === 'break') near.destroy();
  });
  far.on('close', () => near.destroy());
}
