/** A store on a PostgreSQL server as `optimistic.ts` wants it: one statement a question. */
import { decodeRecord, type ListQuery } from '../../claim/index.ts';
import { StoreError } from '../error.ts';
import { decoded, legible } from '../legible.ts';
import type { Attempt, Remote, Verdict, Versioned } from '../optimistic/remote.ts';
import { asStoreError } from './failure.ts';
import { nowSql } from './functions.ts';
import { type MessageOptions, messageOf, sightOf } from './message.ts';
import { quoted } from './opening.ts';
import type { Parameter, Pool, Row, Statement } from './pool.ts';

export type RemoteOptions = MessageOptions & {
  readonly readOnly: boolean;
  /** For tests: stands in for the server's clock. */
  readonly clock?: (() => number) | undefined;
};

type Ask = (statement: Statement, ...parameters: readonly Parameter[]) => Promise<readonly Row[]>;

/** The remote end over a pool whose schema is ready. */
export function postgresRemote(pool: Pool, options: RemoteOptions): Remote {
  const texts = statementsOf(quoted(options.schema), options.readOnly ? {} : { check: checkPrimary });
  const clock = (): number | null => options.clock?.() ?? null;
  const ask: Ask = (statement, ...parameters) => pool.query(statement, parameters);
  const sound = <T>(work: Promise<T>): Promise<T> =>
    work.catch((cause: unknown) => {
      throw asStoreError(cause, pool.place);
    });
  const writable = (): void => {
    if (options.readOnly) throw new StoreError('store_read_only', 'The claim store was opened for reading.');
  };
  const records = (limit: number, question: (count: number) => Promise<readonly Row[]>) =>
    legible(limit, async (count) => (await question(count)).map((row) => decoded(textOf(row, 'body'))));
  const blob = async (key: string, kind: string): Promise<Uint8Array | undefined> => {
    const [row] = await ask(texts.blob, key, kind);
    return row === undefined ? undefined : bytesOf(row);
  };
  return {
    name: 'postgres',
    attempt: async (attempt) => {
      writable();
      return sound(tryOnce(ask, texts.attempt, { attempt, options, clock: clock() }));
    },
    find: (key) => sound(ask(texts.find, key, clock()).then(foundOf)),
    answer: (key) => sound(blob(key, 'answer')),
    payload: (key) => sound(blob(key, 'payload')),
    due: (limit) => sound(records(limit, (count) => ask(texts.due, count, clock()))),
    unproven: (limit) => sound(records(limit, (count) => ask(texts.unproven, count, clock()))),
    list: (query) =>
      sound(
        records(query.limit, (limit) => ask(texts.list, ...listParameters({ ...query, limit }), clock())),
      ),
    expire: async (limit) => {
      writable();
      return sound(ask(texts.expire, limit, clock()).then(([row]) => Number(textOf(row, 'gone'))));
    },
    stale: (limit) => sound(stale(limit, (count) => ask(texts.stale, count, clock()))),
    close: () => pool.close(),
  };
}

/** What a standby knows may be old, and its connection leads to no server that can be written to. */
function checkPrimary([row]: readonly Row[]): void {
  if (row?.standby !== 't') return;
  throw new StoreError('store_read_only', 'The server of the claim store has become a standby.');
}

function statementsOf(schema: string, find: Pick<Statement, 'check'>): Texts {
  const claims = `${schema}.claims c`;
  const now = nowSql('$2');
  return {
    attempt: {
      name: 'attempt',
      text: `SELECT ${schema}.attempt($1::jsonb, $2::bytea, $3::bytea, $4::bigint) AS sight`,
    },
    expire: { name: 'expire', text: `SELECT ${schema}.expire($1::integer, $2::bigint) AS gone` },
    find: {
      ...find,
      name: 'find',
      text: `SELECT now.ms AS now_ms, c.version, c.body, pg_is_in_recovery() AS standby FROM (SELECT ${now} AS ms) now
        LEFT JOIN ${claims} ON c.key = $1`,
    },
    blob: { name: 'blob', text: `SELECT b.bytes FROM ${schema}.blobs b WHERE b.key = $1 AND b.kind = $2` },
    due: {
      name: 'due',
      text: `SELECT c.body FROM ${claims} WHERE c.due_from_ms <= ${now} ORDER BY c.created_ms, c.key LIMIT $1::bigint`,
    },
    unproven: {
      name: 'unproven',
      text: `SELECT c.body FROM ${claims} WHERE c.proof_from_ms <= ${now}
        ORDER BY c.proof_from_ms, c.created_ms, c.key LIMIT $1::bigint`,
    },
    stale: {
      name: 'stale',
      text: `SELECT now.ms AS now_ms, c.version, c.body FROM (SELECT ${now} AS ms) now LEFT JOIN LATERAL (
          SELECT f.* FROM ${schema}.claims f WHERE f.answer_forget_at_ms < ${now}
            ORDER BY f.answer_forget_at_ms LIMIT $1::bigint
        ) c ON true`,
    },
    // A send whose lease is over is unknown, always (design section 3).
    // Not prepared, so that each combination of conditions gets a plan of its own.
    list: {
      text: `SELECT c.body FROM ${claims} WHERE c.key > $1
        AND ($2::text[] IS NULL OR c.money = ANY ($2::text[]))
        AND ($3::text IS NULL OR c.money <> 'sending' OR
          $3::text = CASE WHEN c.lease_until_ms > ${nowSql('$7')} THEN 'sending' ELSE 'unknown' END)
        AND ($4::text IS NULL OR c.work = $4) AND ($5::text IS NULL OR c.flow = $5)
        ORDER BY c.key LIMIT $6::bigint`,
    },
  };
}

type Texts = {
  readonly [name in
    | 'attempt'
    | 'expire'
    | 'find'
    | 'blob'
    | 'due'
    | 'unproven'
    | 'stale'
    | 'list']: Statement;
};

function listParameters({ after, money, work, flow, limit }: ListQuery): readonly Parameter[] {
  const kept = money === 'unknown' ? ['unknown', 'sending'] : money === undefined ? null : [money];
  return [after ?? '', kept, money ?? null, work ?? null, flow ?? null, limit];
}

async function tryOnce(
  ask: Ask,
  statement: Statement,
  about: { readonly attempt: Attempt; readonly options: RemoteOptions; readonly clock: number | null },
): Promise<Verdict> {
  const { attempt, options, clock } = about;
  const { asked, versions } = messageOf(attempt, options);
  const { answer, payload } = attempt.blobs ?? {};
  const [row] = await ask(statement, asked, answer ?? null, payload ?? null, clock);
  if (row === undefined) throw damaged('sight');
  if (row.sight === null) return { applied: true, versions };
  return { applied: false, sight: sightOf(textOf(row, 'sight'), attempt) };
}

function foundOf([row]: readonly Row[]): { readonly found?: Versioned; readonly nowMs: number } {
  const nowMs = Number(textOf(row, 'now_ms'));
  return row === undefined || row.body === null ? { nowMs } : { found: versionedOf(row), nowMs };
}

async function stale(
  limit: number,
  question: (count: number) => Promise<readonly Row[]>,
): Promise<{ readonly found: readonly Versioned[]; readonly nowMs: number }> {
  let nowMs = 0;
  const found = await legible(limit, async (count) => {
    const rows = await question(count);
    nowMs = Number(textOf(rows[0], 'now_ms'));
    return rows.filter((row) => row.body !== null).map(legibleVersion);
  });
  return { found, nowMs };
}

function legibleVersion(row: Row): Versioned | undefined {
  const record = decoded(textOf(row, 'body'));
  return record === undefined ? undefined : { record, version: textOf(row, 'version') };
}

function versionedOf(row: Row): Versioned {
  return { record: decodeRecord(textOf(row, 'body')), version: textOf(row, 'version') };
}

function bytesOf(row: Row): Uint8Array {
  if (!(row.bytes instanceof Uint8Array)) throw damaged('bytes');
  return row.bytes;
}

function textOf(row: Row | undefined, column: string): string {
  const value = row?.[column];
  if (typeof value !== 'string') throw damaged(column);
  return value;
}

function damaged(column: string): StoreError {
  return new StoreError('store_corrupt', `A row of the claim store has no ${column}.`);
}
