/**
 * A real redis-server for tests: on a free port of 127.0.0.1, with its data in a folder that goes when it stops. Unless
 * told otherwise it keeps what it acknowledged (append-only file, synced at every write), as a seller's must.
 */
import { mkdtempSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Daemon, startDaemon } from './daemon.ts';
import { refuseUnknown, requireProgram } from './options.ts';
import { onFreePort } from './port.ts';

/** How Redis keeps its data: `aof: false` forgets everything at each end. */
export type RedisOptions = {
  /** When the append-only file is forced to disk; 'always' unless said. */
  readonly appendfsync?: 'always' | 'everysec' | 'no';
  /** Whether there is an append-only file; true unless said. */
  readonly aof?: boolean;
  /** Further arguments of redis-server, such as `['--maxmemory', '10mb']`. */
  readonly args?: readonly string[];
};

/** A running redis-server; `url` is for a client. */
export type Redis = Daemon & { readonly url: string; readonly port: number };

/** Starts a redis-server and resolves when it answers. */
export async function startRedis(options: RedisOptions = {}): Promise<Redis> {
  refuseUnknown(options, ['appendfsync', 'aof', 'args']);
  const program = requireProgram('redis-server');
  return onFreePort(async (port) => {
    const folder = mkdtempSync(join(tmpdir(), 'counterfoil-redis-'));
    const daemon = await startDaemon({
      program,
      args: redisArguments(options, folder, port),
      folder,
      signals: { stop: 'SIGTERM', end: 'SIGTERM' },
      ready: async () => answers(port),
    });
    // Its pid changes with a restart, so the object itself gets two more members and is not copied.
    return Object.assign(daemon, { url: `redis://127.0.0.1:${port}`, port });
  });
}

function redisArguments(options: RedisOptions, folder: string, port: number): readonly string[] {
  const { appendfsync = 'always', aof = true, args = [] } = options;
  const place = ['--bind', '127.0.0.1', '--port', String(port), '--dir', folder, '--daemonize', 'no'];
  // No snapshots beside the log: what is kept is what the log holds.
  const kept = ['--save', '', '--appendonly', aof ? 'yes' : 'no', '--appendfsync', appendfsync];
  return [...place, ...kept, ...args];
}

/** Whether it serves: while it reads its log it answers PING with an error. */
async function answers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const { promise, resolve } = Promise.withResolvers<boolean>();
  socket.on('error', () => resolve(false));
  socket.on('close', () => resolve(false));
  socket.on('data', (data) => resolve(data.toString().startsWith('+PONG')));
  socket.write('PING\r\n');
  try {
    return await promise;
  } finally {
    socket.destroy();
  }
}

let shared: Promise<Redis> | undefined;
let callers = 0;

/**
 * The one Redis of this process for tests that neither stop nor crash it, with a prefix that no other caller has. It
 * starts at the first call and ends with the process.
 */
export async function sharedRedis(): Promise<{ readonly url: string; readonly prefix: string }> {
  shared ??= startRedis();
  callers += 1;
  const prefix = `test${callers}:`;
  const { url } = await shared;
  return { url, prefix };
}
