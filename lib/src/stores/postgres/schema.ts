/**
 * The schema of the PostgreSQL store, one entry a version. An entry is never edited after a release: a change is a new
 * entry at the end, and a schema that knows a higher version than this list is refused. Processes of an older version
 * may go on while a newer one brings the schema up to date, so a function that changes its arguments or its answer gets
 * a new name.
 */
import { attemptFunction, expireFunction, stripes } from './functions.ts';

export type Migration = { readonly version: number; readonly statements: readonly string[] };

/** Versions from this one on can be looked at as they are. */
export const oldestReadable = 1;

/**
 * The statements of every version, for a schema whose quoted name is given. The record is JSON in `body`; the other
 * columns repeat what is searched for (see `columns.ts`), and names whose length nobody bounds stand there as
 * digests. Answers and payloads lie apart, so that a step never rewrites them.
 */
export function migrationsOf(schema: string): readonly Migration[] {
  return [
    {
      version: 1,
      statements: [
        `CREATE TABLE ${schema}.claims (
          key text COLLATE "C" PRIMARY KEY,
          version uuid NOT NULL,
          twins text COLLATE "C" NOT NULL,
          flow text NOT NULL,
          money text NOT NULL,
          work text NOT NULL,
          lease_until_ms bigint NOT NULL,
          created_ms bigint NOT NULL,
          blocks_from_ms bigint,
          due_from_ms bigint,
          proof_from_ms bigint,
          forget_at_ms bigint,
          answer_forget_at_ms bigint,
          alias text COLLATE "C",
          exposed text COLLATE "C",
          open_until_ms bigint,
          body text NOT NULL
        )`,
        `CREATE INDEX claims_blocking ON ${schema}.claims (twins, created_ms, key) WHERE blocks_from_ms IS NOT NULL`,
        `CREATE INDEX claims_alias ON ${schema}.claims (alias, created_ms, key) WHERE alias IS NOT NULL`,
        `CREATE INDEX claims_exposed ON ${schema}.claims (exposed, open_until_ms) WHERE exposed IS NOT NULL`,
        `CREATE INDEX claims_due ON ${schema}.claims (created_ms, key, due_from_ms) WHERE due_from_ms IS NOT NULL`,
        `CREATE INDEX claims_unproven ON ${schema}.claims (proof_from_ms, created_ms, key)
          WHERE proof_from_ms IS NOT NULL`,
        `CREATE INDEX claims_expired ON ${schema}.claims (forget_at_ms) WHERE forget_at_ms IS NOT NULL`,
        `CREATE INDEX claims_stale ON ${schema}.claims (answer_forget_at_ms) WHERE answer_forget_at_ms IS NOT NULL`,
        `CREATE INDEX claims_money ON ${schema}.claims (money, key)`,
        `CREATE TABLE ${schema}.blobs (
          key text COLLATE "C" NOT NULL,
          kind text COLLATE "C" NOT NULL CHECK (kind IN ('answer', 'payload')),
          bytes bytea NOT NULL,
          PRIMARY KEY (key, kind)
        )`,
        // They are sealed, so that compressing them would be in vain.
        `ALTER TABLE ${schema}.blobs ALTER COLUMN bytes SET STORAGE EXTERNAL`,
        `CREATE TABLE ${schema}.tally (stripe integer PRIMARY KEY, records bigint NOT NULL, bytes bigint NOT NULL)`,
        `INSERT INTO ${schema}.tally SELECT s, 0, 0 FROM generate_series(0, ${stripes - 1}) AS s`,
        attemptFunction(schema),
        expireFunction(schema),
      ],
    },
  ];
}
