/** Schemas and connections of their own for tests of the PostgreSQL store, beside the store's own pool. */
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { sharedPostgres } from '../../tools/servers/postgres.ts';

export type Place = { readonly url: string; readonly schema: string };

let database: Promise<{ readonly url: string }> | undefined;
let schemas = 0;

/** A schema that does not exist yet, in one database of the shared server. */
export async function newPlace(): Promise<Place> {
  database ??= sharedPostgres();
  schemas += 1;
  return { url: (await database).url, schema: `store_${schemas}` };
}

export type Connection = {
  readonly run: (text: string, parameters?: readonly unknown[]) => Promise<readonly Row[]>;
  readonly end: () => Promise<void>;
};

type Row = { readonly [column: string]: unknown };

/** One connection, whose server may kill it. */
export async function connectTo(url: string): Promise<Connection> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  return {
    run: async (text, parameters = []) => (await client.query<Row>(text, [...parameters])).rows,
    end: () => client.end(),
  };
}

/** Runs some statements on a connection of their own; resolves with the rows of the last. */
export async function sql(url: string, ...texts: readonly string[]): Promise<readonly Row[]> {
  const connection = await connectTo(url);
  let rows: readonly Row[] = [];
  for (const text of texts) rows = await connection.run(text);
  await connection.end();
  return rows;
}

/** Resolves when somebody waits for a lock in this database. */
export async function somebodyWaits(connection: Connection): Promise<void> {
  for (;;) {
    const [row] = await connection.run('SELECT count(*)::integer AS waiting FROM pg_locks WHERE NOT granted');
    if (row?.waiting !== 0) return;
    await delay(2);
  }
}
