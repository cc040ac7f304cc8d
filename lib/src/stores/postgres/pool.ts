/**
 * Connections to one database, and one statement over one of them. Every wait is bounded: for a connection, for an
 * answer, and for the end. A statement whose answer did not come may have been applied, so it is never asked again here.
 */
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { StoreError } from '../error.ts';
import { asOpeningError, asStoreError, isAnswer, isOvertaken } from './failure.ts';

/** Calls that wait for a connection: about half a second of work, after which a client is better told to come back. */
const waitingLimit = 10_000;
/** The server rolls a step back only when it stood in another's way; a second time is rare, more is a fault. */
const overtakenLimit = 5;
/** How long one statement of a migration may take, the wait for another process's migration included. */
const sessionMs = 60_000;
/** Saying goodbye to the server takes one packet. */
const closeMs = 1_000;
/** A connection that was idle this long is closed, as proxies in between would do without saying so. */
const idleMs = 30_000;

export type PoolOptions = {
  readonly url: string;
  readonly poolSize: number;
  readonly timeoutMs: number;
  /** Whether statements are prepared by name, once a connection. */
  readonly prepare: boolean;
};

/** Values as they come from the server: text, octets, or null. */
export type Row = { readonly [column: string]: unknown };
export type Parameter = string | number | Uint8Array | null | readonly string[];

/** Without a name it is planned for each call anew. Where `check` throws, the connection is not used again. */
export type Statement = {
  readonly name?: string;
  readonly text: string;
  readonly check?: (rows: readonly Row[]) => void;
};

/** Several statements on one connection. */
export type Session = (text: string, parameters?: readonly Parameter[]) => Promise<readonly Row[]>;

export type Pool = {
  /** Names the server and the database in messages. */
  readonly place: string;
  readonly query: (statement: Statement, parameters: readonly Parameter[]) => Promise<readonly Row[]>;
  /** Lends one connection; whatever fails closes it. */
  readonly session: <T>(work: (session: Session) => Promise<T>) => Promise<T>;
  readonly close: () => Promise<void>;
};

/** Octets arrive in hex; everything else is text, whatever the application has told the driver about its own types. */
const types = { getTypeParser: (oid: number) => (oid === byteaOid ? octets : text) };

/** The number that PostgreSQL gives to the type of octets, in every database. */
const byteaOid = 17;

function octets(value: string): Uint8Array {
  // A copy, since a small buffer is a part of memory that others use as well.
  return new Uint8Array(Buffer.from(value.slice(2), 'hex'));
}

function text(value: string): string {
  return value;
}

/** A pool that has not connected yet; throws TypeError for a URL that is none. */
export function createPool(options: PoolOptions): Pool {
  const settings = settingsOf(options);
  const place = placeOf(settings);
  const pool = new pg.Pool(settings);
  // A connection that breaks while nobody uses it is replaced; one that is in use rejects what it was asked.
  pool.on('error', () => {});
  pool.on('connect', (client) => {
    client.on('error', () => {});
  });
  const under = new Set<Promise<unknown>>();
  let closing: Promise<void> | undefined;
  const lend = async <T>(work: Work<T>, keeps: (cause: unknown) => boolean): Promise<T> => {
    if (closing !== undefined) throw new StoreError('store_closed', 'The claim store is closed.');
    if (pool.waitingCount >= waitingLimit) throw overloaded();
    const call = connect(pool, options.poolSize, place).then((client) => use(client, work, keeps));
    under.add(call);
    try {
      return await call;
    } catch (cause) {
      throw asStoreError(cause, place);
    } finally {
      under.delete(call);
    }
  };
  return {
    place,
    query: (statement, parameters) =>
      lend(async (client) => {
        const rows = await ask(client, { ...named(statement, options), values: [...parameters] });
        statement.check?.(rows);
        return rows;
      }, isAnswer),
    session: (work) =>
      lend(
        (client) => work(sessionOf(client)),
        () => false,
      ),
    close: () => {
      closing ??= close(pool, under, options.timeoutMs);
      return closing;
    },
  };
}

type Work<T> = (client: pg.PoolClient) => Promise<T>;

function settingsOf({ url, poolSize, timeoutMs }: PoolOptions): pg.PoolConfig {
  if (typeof url !== 'string' || !/^postgres(ql)?:\/\//.test(url) || !isDecodable(url)) throw noUrl();
  return {
    connectionString: url,
    max: poolSize,
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
    idleTimeoutMillis: idleMs,
    allowExitOnIdle: true,
    keepAlive: true,
    fallback_application_name: 'counterfoil',
    types,
  };
}

/** The driver guesses at what a stray % stands for, and a password that was guessed is the wrong one. */
function isDecodable(url: string): boolean {
  try {
    decodeURIComponent(url);
    return true;
  } catch {
    return false;
  }
}

/** The driver reads the URL; what it says of a bad one would repeat the URL, password and all. */
function placeOf(settings: pg.PoolConfig): string {
  try {
    const { host, port, database } = new pg.Client(settings);
    return `at ${host}:${port}/${database ?? ''}`;
  } catch {
    throw noUrl();
  }
}

function noUrl(): TypeError {
  return new TypeError(
    'url must be the address of a database, such as postgres://user@host:5432/name, a % in it written %25; files that it names must be there.',
  );
}

/** Whatever goes wrong here, nobody has asked anything yet, so nothing was written. */
async function connect(pool: pg.Pool, poolSize: number, place: string): Promise<pg.PoolClient> {
  try {
    return await pool.connect();
  } catch (cause) {
    const timedOut = cause instanceof Error && cause.message === 'timeout exceeded when trying to connect';
    if (timedOut && pool.totalCount >= poolSize) throw overloaded();
    throw asOpeningError(cause, place);
  }
}

function overloaded(): StoreError {
  return new StoreError('store_overloaded', 'Too many calls of the claim store wait for a connection.');
}

async function use<T>(client: pg.PoolClient, work: Work<T>, keeps: (cause: unknown) => boolean): Promise<T> {
  try {
    const result = await work(client);
    client.release();
    return result;
  } catch (cause) {
    client.release(!keeps(cause));
    throw cause;
  }
}

function named({ name, text: words }: Statement, { prepare }: PoolOptions): pg.QueryConfig {
  return prepare && name !== undefined ? { name: `counterfoil_${name}`, text: words } : { text: words };
}

async function ask(client: pg.PoolClient, statement: pg.QueryConfig): Promise<readonly Row[]> {
  for (let time = 1; ; time += 1) {
    try {
      const { rows } = await client.query<Row>(statement);
      return rows;
    } catch (cause) {
      if (!isOvertaken(cause) || time === overtakenLimit) throw cause;
    }
  }
}

/** One statement after the other on one connection; migrations are not hurried. */
function sessionOf(client: pg.PoolClient): Session {
  return async (words, parameters = []) => {
    const query = { text: words, values: [...parameters], query_timeout: sessionMs };
    const { rows } = await client.query<Row>(query);
    return rows;
  };
}

/** Waits for what is under way, and no longer than that may take; an idle connection keeps no process alive. */
async function close(pool: pg.Pool, under: Set<Promise<unknown>>, timeoutMs: number): Promise<void> {
  const enough = new AbortController();
  const late = delay(2 * timeoutMs + closeMs, undefined, { signal: enough.signal }).catch(() => {});
  const done = Promise.allSettled(under).then(() => pool.end());
  await Promise.race([done, late]);
  enough.abort();
}
