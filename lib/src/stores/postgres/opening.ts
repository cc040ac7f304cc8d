/**
 * What is looked at before a store is used: whether this server can keep the promise at all, and whether the schema is
 * the one that this version knows. Whoever may write brings an older schema up to date, in one transaction and one
 * process at a time. Where the schema is already there, none of the rights to change it are needed.
 */
import { StoreError, type StoreErrorCode } from '../error.ts';
import { lockId } from './locks.ts';
import type { Pool, Row, Session } from './pool.ts';
import { migrationsOf, oldestReadable } from './schema.ts';

/** PostgreSQL 13 is the oldest that this was written for; version 12 is no longer looked after since 2024. */
const oldestServer = 130_000;

const rightsToRead = { claims: ['SELECT'], blobs: ['SELECT'] };
const rightsToWrite = {
  claims: ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
  blobs: ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
  tally: ['SELECT', 'UPDATE'],
};

export type OpeningOptions = {
  /** Not quoted. */
  readonly schema: string;
  readonly readOnly: boolean;
  /** Whether a server that may forget what it has acknowledged will do. */
  readonly allowUnsynced: boolean;
};

/** The name in SQL; it was checked to consist of letters, digits and underscores. */
export function quoted(schema: string): string {
  return `"${schema}"`;
}

/** What the server promises: whether it keeps what it has acknowledged. */
export type Opened = { readonly durable: boolean };

/** Rejects with a {@link StoreError} that says what is wrong with the server or the schema. */
export async function prepareSchema(pool: Pool, options: OpeningOptions): Promise<Opened> {
  return pool.session(async (ask) => {
    const server = await facts(ask);
    checkServer(server, pool.place, options);
    const { schema, readOnly } = options;
    const version = await versionOf(ask, schema);
    const newest = migrationsOf(quoted(schema)).length;
    refuseNewer({ version, newest, schema, place: pool.place });
    if (readOnly) refuseUnread(version, schema, pool.place);
    else if (version < newest) await migrate(ask, schema, pool.place);
    await checkRights(ask, options, pool.place);
    return { durable: server.fsync === 'on' };
  });
}

async function facts(ask: Session): Promise<Row> {
  const [row] = await ask(`SELECT current_setting('server_version_num')::integer AS version,
    current_setting('transaction_read_only') AS read_only, current_setting('fsync') AS fsync,
    current_setting('transaction_isolation') AS isolation, current_setting('server_encoding') AS encoding`);
  return row ?? {};
}

function checkServer(row: Row, place: string, { readOnly, allowUnsynced }: OpeningOptions): void {
  const refuse = (code: StoreErrorCode, what: string): never => {
    throw new StoreError(code, `The database ${place} cannot hold a claim store: ${what}.`);
  };
  if (Number(row.version) < oldestServer) refuse('store_unsuitable', 'PostgreSQL 13 or later is needed');
  if (row.encoding !== 'UTF8') refuse('store_unsuitable', 'its encoding is not UTF8');
  if (readOnly) return;
  if (row.read_only !== 'off') refuse('store_read_only', 'it takes no writes; it may be a standby');
  if (row.isolation !== 'read committed') {
    refuse('store_unsuitable', 'default_transaction_isolation is not read committed');
  }
  if (!allowUnsynced && row.fsync !== 'on') {
    refuse('store_unsuitable', 'fsync is off, so that a crash could sell a payment twice');
  }
}

/** 0 where there is no store yet. */
async function versionOf(ask: Session, schema: string): Promise<number> {
  const [found] = await ask('SELECT to_regclass($1) IS NOT NULL AS found', [`${quoted(schema)}.migrations`]);
  if (found?.found !== 't') return 0;
  const [ours] = await ask(
    `SELECT EXISTS (SELECT FROM pg_attribute WHERE attrelid = to_regclass($1) AND attname = 'version'
      AND atttypid = 'integer'::regtype AND NOT attisdropped) AS ours`,
    [`${quoted(schema)}.migrations`],
  );
  if (ours?.ours !== 't') throw foreign(schema, 'migrations');
  const [row] = await ask(`SELECT coalesce(max(version), 0) AS version FROM ${quoted(schema)}.migrations`);
  return Number(row?.version);
}

function foreign(schema: string, tables: string): StoreError {
  const what = `The schema ${schema} holds tables of something else (${tables})`;
  return new StoreError('store_foreign', `${what}; it was left as it is. Name another schema.`);
}

/** What has no version was not made here, whatever it is called. */
async function refuseForeign(ask: Session, schema: string): Promise<void> {
  const [row] = await ask(
    `SELECT string_agg(c.relname, ', ' ORDER BY c.relname) AS tables FROM pg_class c
      JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = ANY ($2::text[])`,
    [schema, Object.keys(rightsToWrite)],
  );
  if (typeof row?.tables === 'string') throw foreign(schema, row.tables);
}

function refuseUnread(version: number, schema: string, place: string): void {
  if (version >= oldestReadable) return;
  const [code, what]: readonly [StoreErrorCode, string] =
    version === 0
      ? ['store_unreadable', 'there is none']
      : ['store_older', `it is of version ${version}, and a store that may write brings it up to date`];
  throw new StoreError(code, `The claim store ${schema} ${place} cannot be read: ${what}.`);
}

/** So that a right that is missing shows when the shop opens, and not with its first payment. */
async function checkRights(ask: Session, { schema, readOnly }: OpeningOptions, place: string): Promise<void> {
  const needed = readOnly ? rightsToRead : rightsToWrite;
  for (const [table, rights] of Object.entries(needed)) {
    const name = `${quoted(schema)}.${table}`;
    const [row] = await ask(
      'SELECT string_agg(r, $2) AS missing FROM unnest($3::text[]) AS r WHERE NOT has_table_privilege($1, r)',
      [name, ', ', rights],
    );
    if (row?.missing === null) continue;
    throw new StoreError('store_unreadable', `The claim store ${place} lacks ${row?.missing} on ${name}.`);
  }
}

function refuseNewer(about: {
  readonly version: number;
  readonly newest: number;
  readonly schema: string;
  readonly place: string;
}): void {
  const { version, newest, schema, place } = about;
  if (version <= newest) return;
  throw new StoreError(
    'store_newer',
    `The schema ${schema} of the database ${place} is of version ${version}; this software knows ${newest}.`,
  );
}

async function migrate(ask: Session, schema: string, place: string): Promise<void> {
  const name = quoted(schema);
  await ask('BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE');
  await ask("SELECT set_config('synchronous_commit', 'on', true)");
  await ask('SELECT pg_advisory_xact_lock($1::bigint)', [String(lockId(schema, 'migrate'))]);
  // Asked for first, since who may not make a schema may well use one that is there.
  const [found] = await ask('SELECT to_regnamespace($1) IS NOT NULL AS found', [name]);
  if (found?.found !== 't') await ask(`CREATE SCHEMA ${name}`);
  // Another process may have been faster.
  const version = await versionOf(ask, schema);
  const all = migrationsOf(name);
  refuseNewer({ version, newest: all.length, schema, place });
  if (version === 0) await refuseForeign(ask, schema);
  if (version === 0) await ask(`CREATE TABLE IF NOT EXISTS ${name}.migrations (version integer PRIMARY KEY)`);
  for (const migration of all.filter((one) => one.version > version)) {
    for (const statement of migration.statements) await ask(statement);
    await ask(`INSERT INTO ${name}.migrations (version) VALUES ($1::integer)`, [migration.version]);
  }
  await ask('COMMIT');
}
