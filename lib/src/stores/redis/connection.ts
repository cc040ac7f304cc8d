/**
 * One connection to the server: bounded in every wait, never asking twice by itself, and used only while the server at
 * its other end has been looked at. A step whose answer was lost may have been applied; asking it again would find its
 * own write and take it for somebody else's, which is safe, but the caller must hear that nobody knows.
 */
import { Redis } from 'ioredis';
import { StoreError } from '../error.ts';
import { asStoreError, isDemoted } from './failure.ts';
import type { Ask } from './opening.ts';

/** Between two attempts to connect again: soon, then up to this, and this at once where the server was refused. */
const longestPauseMs = 2_000;

export type ConnectionOptions = {
  readonly url: string;
  /** How long a connection, and each answer, is waited for. */
  readonly timeoutMs: number;
  /** Rejects where the server at the other end is not to be used. */
  readonly inspect: (ask: Ask, place: string) => Promise<void>;
};

export type Connection = {
  /** Host and port, for messages. */
  readonly place: string;
  /** Resolves when the server is there and was looked at. */
  readonly connect: () => Promise<void>;
  /** Resolves where commands can be sent, at once; rejects with the reason where not. */
  readonly usable: () => Promise<void>;
  readonly send: (command: string, args: readonly (string | Buffer)[]) => Promise<unknown>;
  readonly sendForBytes: (command: string, args: readonly string[]) => Promise<unknown>;
  /** Whether the process stays alive for this connection: while somebody waits for an answer. */
  readonly keepAlive: (now: boolean) => void;
  readonly close: () => void;
};

/** What is known of the server at the other end. */
type Judgement = {
  /** Of the connection there is: resolves with why it is not to be used. Absent while nobody has looked at it. */
  current: Promise<StoreError | undefined> | undefined;
  /** Why the last server was refused. */
  refused: StoreError | undefined;
  /** What the network said last. */
  trouble: unknown;
};

/** A connection that is not there yet; throws TypeError for what is no Redis URL. */
export function createConnection(options: ConnectionOptions): Connection {
  const { url, host, port, db } = addressOf(options.url);
  const place = `on ${host}:${port}`;
  const judgement: Judgement = { current: undefined, refused: undefined, trouble: undefined };
  const redis = createRedis({ ...options, url }, judgement);
  const ask: Ask = (command, ...args) => redis.call(command, ...args);
  // Opening is waited for.
  let awaited = true;
  const stayAlive = (): void => {
    if (redis.status !== 'ready') return;
    if (awaited) redis.stream.ref();
    else redis.stream.unref();
  };
  const judge = async (): Promise<StoreError | undefined> => {
    try {
      // The client goes on with database 0 where this one does not exist.
      await ask('SELECT', db);
      await options.inspect(ask, place);
      judgement.refused = undefined;
    } catch (cause) {
      judgement.refused = asStoreError(cause, place);
      redis.disconnect(true);
    }
    stayAlive();
    return judgement.refused;
  };
  redis.on('error', (cause: unknown) => {
    // Each call hears of it; an error event that nobody hears would end the process.
    judgement.trouble = cause;
  });
  redis.on('ready', () => {
    judgement.trouble = undefined;
    judgement.current = judge();
  });
  redis.on('close', () => {
    // The next connection calls itself ready a turn before its event comes.
    judgement.current = undefined;
  });
  const usable = async (): Promise<void> => {
    const current = redis.status === 'ready' ? judgement.current : undefined;
    const refused = current === undefined ? judgement.refused : await current;
    if (refused !== undefined) throw refused;
    if (current === undefined || redis.status !== 'ready') throw notConnected(place, judgement.trouble);
  };
  return {
    place,
    connect: async () => {
      try {
        await redis.connect();
      } catch (cause) {
        throw asStoreError(judgement.trouble ?? cause, place);
      }
      await usable();
    },
    usable,
    send: (command, args) => redis.call(command, ...args),
    sendForBytes: (command, args) => redis.callBuffer(command, ...args),
    keepAlive: (now) => {
      awaited = now;
      stayAlive();
    },
    close: () => redis.disconnect(),
  };
}

function createRedis({ url, timeoutMs }: ConnectionOptions, judgement: Judgement): Redis {
  return new Redis(url, {
    lazyConnect: true,
    connectTimeout: timeoutMs,
    commandTimeout: timeoutMs,
    // A line that went dead without a word is given up, or it would stay in use until TCP has lost its patience.
    socketTimeout: 2 * timeoutMs,
    // Fails at once while there is no connection: the seller answers 503, and the buyer comes back.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    // Our own look says the same, and waits for no server that still reads its data.
    enableReadyCheck: false,
    // Fails the step that met it, and looks for the primary where the name points now.
    reconnectOnError: isDemoted,
    retryStrategy: (times) =>
      judgement.refused === undefined
        ? Math.min(50 * 2 ** Math.min(times, 10), longestPauseMs)
        : longestPauseMs,
  });
}

function notConnected(place: string, trouble: unknown): StoreError {
  const why = trouble === undefined ? '' : ` (${asStoreError(trouble, place).message})`;
  return new StoreError('store_unreadable', `The claim store ${place} is not connected${why}.`);
}

type Address = { readonly url: string; readonly host: string; readonly port: string; readonly db: string };

/**
 * The client would take its options from the parameters of a URL, before ours; it knows no name of Valkey, and what it
 * says of a sign that cannot be decoded names no option.
 */
function addressOf(text: string): Address {
  const url = typeof text === 'string' && URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^(?:redis|valkey)s?:$/.test(url.protocol) || url.hostname === '') {
    throw new TypeError('The Redis URL must be as redis://host:6379/0 or rediss://host:6379/0.');
  }
  if (url.search !== '' || url.hash !== '') {
    throw new TypeError('The Redis URL must be without parameters; what can be set are the options.');
  }
  const db = /^\/?(\d{0,5})$/.exec(url.pathname)?.[1];
  if (db === undefined) throw new TypeError('The path of the Redis URL must be the number of a database.');
  if (!isDecodable(url.username) || !isDecodable(url.password)) {
    throw new TypeError('The Redis URL has a % that stands for nothing; a % itself is written %25.');
  }
  return {
    url: url.href.replace(/^valkey/, 'redis'),
    host: url.hostname,
    port: url.port === '' ? '6379' : url.port,
    db: db === '' ? '0' : db,
  };
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
