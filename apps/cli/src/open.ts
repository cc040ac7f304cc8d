/**
 * Opens the claim store of a seller for a command: a SQLite file, or a server by its URL. A file that is not there is a
 * typing mistake, not a new store; a URL may hold a password, which is never shown.
 */
import { statSync } from 'node:fs';
import type { ClaimStore } from 'counterfoil/claim';
import { openSqliteStore } from 'counterfoil/stores/sqlite';
import { hushed } from 'counterfoil/wire';
import { explain, type Io, MisuseError } from './io.ts';

/** Where the store is, as the options of a command say it. */
export type StoreOptions = {
  /** Default: COUNTERFOIL_STORE, which unlike an argument is not shown to who lists the processes of a machine. */
  readonly store?: string;
  /** Of PostgreSQL. */
  readonly schema?: string;
  /** Of Redis and Valkey. */
  readonly prefix?: string;
};

type Work<Result> = (store: ClaimStore) => Promise<Result>;
type Address = StoreOptions & { readonly place: string };
type Opener = (address: Address, readOnly: boolean) => Promise<ClaimStore>;

type Server = {
  readonly driver: string;
  readonly open: Opener;
  /** The option that only another kind of store has. */
  readonly foreign: 'schema' | 'prefix';
};

/** The server that a URL names, by its scheme. */
function serverOf(scheme: string): Server {
  switch (scheme) {
    case 'postgres':
    case 'postgresql':
      return { driver: 'pg', open: openPostgres, foreign: 'prefix' };
    case 'redis':
    case 'rediss':
    case 'valkey':
    case 'valkeys':
      return { driver: 'ioredis', open: openRedis, foreign: 'schema' };
    default:
      throw new MisuseError(`A store is a SQLite file, postgres://… or redis://…, not ${scheme}://….`);
  }
}

/** Runs `work` on the store and closes it, whatever happens. Rejects with MisuseError where there is none. */
export async function withStore<Result>(
  options: StoreOptions,
  io: Pick<Io, 'env'>,
  work: Work<Result>,
): Promise<Result> {
  return closing(await open(addressOf(options, io), false), work);
}

/** The same for a look: nothing is made, migrated or written. */
export async function lookIntoStore<Result>(
  options: StoreOptions,
  io: Pick<Io, 'env'>,
  work: Work<Result>,
): Promise<Result> {
  return closing(await open(addressOf(options, io), true), work);
}

async function closing<Result>(store: ClaimStore, work: Work<Result>): Promise<Result> {
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

function addressOf(options: StoreOptions, { env }: Pick<Io, 'env'>): Address {
  const place = options.store ?? env.COUNTERFOIL_STORE ?? '';
  if (place === '')
    throw new MisuseError(
      'Say which store: --store with a SQLite file, postgres://… or redis://…, or COUNTERFOIL_STORE.',
    );
  return { ...options, place };
}

async function open(address: Address, readOnly: boolean): Promise<ClaimStore> {
  const scheme = /^([a-z][a-z0-9+]*):\/\//i.exec(address.place)?.[1]?.toLowerCase();
  if (scheme === undefined) {
    refuse(address, ['schema', 'prefix']);
    checkFile(address.place);
    return openSqliteStore(readOnly ? { path: address.place, readOnly } : { path: address.place });
  }
  const server = serverOf(scheme);
  refuse(address, [server.foreign]);
  if (!URL.canParse(address.place)) throw new MisuseError(`The ${scheme} URL of the store cannot be read.`);
  try {
    if (!readOnly) await checkThere(server, address);
    return await server.open(address, readOnly);
  } catch (fault) {
    throw told(fault, server.driver, address.place);
  }
}

/** An option that the store does not have would be passed over, and another store read than was meant. */
function refuse(address: Address, names: readonly ('schema' | 'prefix')[]): void {
  const given = names.find((name) => address[name] !== undefined);
  if (given === undefined) return;
  const owner = given === 'schema' ? 'PostgreSQL' : 'Redis and Valkey';
  throw new MisuseError(`--${given} is an option of ${owner}; the store is another.`);
}

/** Who may write would make a store where there is none, and a misspelt name is no wish for one. */
async function checkThere(server: Server, address: Address): Promise<void> {
  try {
    await (await server.open(address, true)).close();
  } catch (fault) {
    // An older one is there, and is brought up to date.
    if (!(fault instanceof Error && 'code' in fault && fault.code === 'store_older')) throw fault;
  }
}

/** What a store or its driver says may repeat the URL, or the password in it. */
function told(fault: unknown, driver: string, place: string): Error {
  const missing = fault instanceof Error && 'code' in fault && fault.code === 'ERR_MODULE_NOT_FOUND';
  if (missing) return new MisuseError(`This store needs the package ${driver}: npm install ${driver}.`);
  // The library's word for an option that is none; it repeats nothing of the URL.
  if (fault instanceof TypeError && !('code' in fault))
    return new MisuseError(fault.message.replace(/^(?=(?:schema|prefix) )/, '--'));
  return new Error(withoutSecrets(explain(fault), place));
}

/** Shorter ones are in every sentence, and hiding each place of them would show what they are. */
const leastSecret = 4;

/** The text with every part of the URL that lets somebody in left out. */
export function withoutSecrets(text: string, place: string): string {
  const { password, search } = new URL(place);
  const secrets = [place, password, decoded(password), search.slice(1)].filter((part) => part !== '');
  if (secrets.some((secret) => secret.length < leastSecret)) return 'The store could not be opened.';
  return secrets.reduce((left, secret) => left.replaceAll(secret, '***'), text);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

// Whether a server may hold claims is decided where the seller opens it; here they are, and somebody must look at them.

async function openPostgres({ place, schema }: Address, readOnly: boolean): Promise<ClaimStore> {
  const { openPostgresStore } = await import('counterfoil/stores/postgres');
  return openPostgresStore({
    url: place,
    readOnly,
    allowUnsynced: true,
    ...(schema === undefined ? {} : { schema }),
  });
}

async function openRedis({ place, prefix }: Address, readOnly: boolean): Promise<ClaimStore> {
  const { openRedisStore } = await import('counterfoil/stores/redis');
  const url = place.replace(/^valkey/i, 'redis');
  return openRedisStore({ url, readOnly, persistence: 'any', ...(prefix === undefined ? {} : { prefix }) });
}

function checkFile(path: string): void {
  const shown = hushed(path);
  const file = statSync(path, { throwIfNoEntry: false });
  if (file === undefined) throw new MisuseError(`There is no file ${shown}.`);
  if (!file.isFile()) throw new MisuseError(`${shown} is not a file.`);
  if (file.size === 0) throw new MisuseError(`${shown} is empty and no claim store.`);
}
