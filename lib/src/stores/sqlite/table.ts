/**
 * The store's table over one SQLite connection. The columns beside the record's JSON are computed here from the
 * same pure functions that decide, so an index can never disagree with a rule.
 */
import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite';
import {
  type Change,
  type ClaimRecord,
  decodeRecord,
  encodeRecord,
  type ListQuery,
} from '../../claim/index.ts';
import { columnsOf } from '../columns.ts';
import { StoreError } from '../error.ts';
import { decoded, legibleNow } from '../legible.ts';
import type { Table } from '../operations.ts';

type Row = Record<string, SQLOutputValue>;
type Blobs = {
  readonly read: StatementSync;
  readonly size: StatementSync;
  readonly put: StatementSync;
  readonly drop: StatementSync;
};

export type TableOptions = {
  readonly capacity: number;
  readonly capacityBytes: number;
  readonly nowMs: () => number;
};

/**
 * A table on an open database of the newest schema; the caller holds the transaction. Where nothing is written, a file
 * from `oldestReadable` on will do.
 */
export function sqliteTable(database: DatabaseSync, options: TableOptions): Table {
  const answers = blobs(database, 'answers');
  const payloads = blobs(database, 'payloads');
  const byKey = database.prepare('SELECT body FROM claims WHERE key = ?');
  const older = database.prepare(
    `SELECT body FROM claims
      WHERE fingerprint = ? AND payer = ? AND pay_to = ? AND network = ? AND blocks_from_ms IS NOT NULL
        AND blocks_from_ms <= ?
      ORDER BY created_ms, key LIMIT ?`,
  );
  const aliased = lazily(() =>
    database.prepare('SELECT body FROM claims WHERE alias = ? ORDER BY created_ms, key LIMIT ?'),
  );
  const exposure = lazily(() =>
    database.prepare(
      `SELECT count(*) FILTER (WHERE open_until_ms IS NULL) AS unpaid,
        count(*) FILTER (WHERE open_until_ms > ?) AS open FROM claims WHERE exposed = ?`,
    ),
  );
  const unproven = lazily(() =>
    database.prepare(
      `SELECT body FROM claims WHERE proof_from_ms IS NOT NULL AND proof_from_ms <= ?
        ORDER BY proof_from_ms, created_ms, key LIMIT ?`,
    ),
  );
  const write = lazily(() => writer(database, answers, payloads));
  const due = database.prepare(
    `SELECT body FROM claims WHERE due_from_ms IS NOT NULL AND due_from_ms <= ?
      ORDER BY created_ms, key LIMIT ?`,
  );
  const expired = database.prepare(
    'SELECT body FROM claims WHERE forget_at_ms < ? ORDER BY forget_at_ms LIMIT ?',
  );
  const stale = database.prepare(
    'SELECT body FROM claims WHERE answer_forget_at_ms < ? ORDER BY answer_forget_at_ms LIMIT ?',
  );
  const tally = database.prepare('SELECT records, bytes FROM tally WHERE id = 1');
  return {
    nowMs: options.nowMs,
    record: (key) => records([byKey.get(key)])[0],
    older: ({ fingerprint, payer, payTo, network }, nowMs, limit) =>
      records(older.all(fingerprint, payer, payTo, network, nowMs, limit)),
    aliased: (alias, limit) => records(aliased().all(alias, limit)),
    exposure: (payer, _limits, nowMs) => {
      const row = exposure().get(nowMs, payer);
      return { unpaid: number(row, 'unpaid'), open: number(row, 'open') };
    },
    full: () => {
      const row = tally.get();
      return number(row, 'records') >= options.capacity || number(row, 'bytes') >= options.capacityBytes;
    },
    due: (nowMs, limit) => listed(limit, (count) => due.all(nowMs, count)),
    unproven: (nowMs, limit) => listed(limit, (count) => unproven().all(nowMs, count)),
    list: (query, nowMs) => list(database, query, nowMs),
    expired: (nowMs, limit) => listed(limit, (count) => expired.all(nowMs, count)),
    stale: (nowMs, limit) => listed(limit, (count) => stale.all(nowMs, count)),
    answer: (key) => bytes(answers.read.get(key)),
    payload: (key) => bytes(payloads.read.get(key)),
    write: (key, change) => write()(key, change),
  };
}

/** Statements that only writers need name columns that a file which is merely looked at may not have. */
function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

function blobs(database: DatabaseSync, table: 'answers' | 'payloads'): Blobs {
  return {
    read: database.prepare(`SELECT bytes FROM ${table} WHERE key = ?`),
    size: database.prepare(`SELECT length(bytes) AS size FROM ${table} WHERE key = ?`),
    // Node 22 binds an empty array as NULL.
    put: database.prepare(`INSERT OR REPLACE INTO ${table} (key, bytes) VALUES (?, coalesce(?, x''))`),
    drop: database.prepare(`DELETE FROM ${table} WHERE key = ?`),
  };
}

const columns = [
  'fingerprint',
  'payer',
  'pay_to',
  'network',
  'flow',
  'money',
  'work',
  'lease_until_ms',
  'created_ms',
  'blocks_from_ms',
  'due_from_ms',
  'forget_at_ms',
  'answer_forget_at_ms',
  'alias',
  'exposed',
  'open_until_ms',
  'proof_from_ms',
  'body',
];

function values(record: ClaimRecord): SQLInputValue[] {
  const { fingerprint, payer, payTo, network } = record;
  const found = columnsOf(record);
  return [
    fingerprint,
    payer,
    payTo,
    network,
    found.flow,
    found.money,
    found.work,
    found.leaseUntilMs,
    found.createdMs,
    found.blocksFromMs ?? null,
    found.dueFromMs ?? null,
    found.forgetAtMs ?? null,
    found.answerForgetAtMs ?? null,
    found.alias ?? null,
    found.exposed ?? null,
    found.openUntilMs ?? null,
    found.proofFromMs ?? null,
    encodeRecord(record),
  ];
}

function writer(database: DatabaseSync, answers: Blobs, payloads: Blobs): Table['write'] {
  const update = database.prepare(
    `UPDATE claims SET ${columns.map((name) => `${name} = ?`).join(', ')} WHERE key = ?`,
  );
  const insert = database.prepare(
    `INSERT INTO claims (${columns.join(', ')}, key) VALUES (${columns.map(() => '?').join(', ')}, ?)`,
  );
  const drop = database.prepare('DELETE FROM claims WHERE key = ?');
  const count = database.prepare('UPDATE tally SET records = records + ?, bytes = bytes + ? WHERE id = 1');
  const put = (record: ClaimRecord): number => {
    const row = [...values(record), record.key];
    if (update.run(...row).changes !== 0) return 0;
    insert.run(...row);
    return 1;
  };
  return (key, change: Change) => {
    const size = putBlob(answers, key, change.answer) + putBlob(payloads, key, change.payload);
    let added = 0;
    if (change.record === null) added -= Number(drop.run(key).changes);
    else if (change.record !== undefined) added += put(change.record);
    if (change.other !== undefined) added += put(change.other);
    if (added !== 0 || size !== 0) count.run(added, size);
  };
}

/** Writes or drops the bytes beside a record; returns by how many octets the store grew. */
function putBlob(into: Blobs, key: string, content: Uint8Array | null | undefined): number {
  if (content === undefined) return 0;
  const before = into.size.get(key);
  const size = before === undefined ? 0 : number(before, 'size');
  if (content === null) {
    if (before !== undefined) into.drop.run(key);
    return -size;
  }
  into.put.run(key, content);
  return content.length - size;
}

function list(database: DatabaseSync, query: ListQuery, nowMs: number): readonly ClaimRecord[] {
  const conditions = ['key > ?'];
  const given: SQLInputValue[] = [query.after ?? ''];
  const add = (condition: string, ...more: SQLInputValue[]): void => {
    conditions.push(condition);
    given.push(...more);
  };
  // A send whose lease is over is unknown, always (design section 3).
  if (query.money === 'unknown') {
    add("(money = 'unknown' OR (money = 'sending' AND lease_until_ms <= ?))", nowMs);
  } else if (query.money === 'sending') {
    add("(money = 'sending' AND lease_until_ms > ?)", nowMs);
  } else if (query.money !== undefined) {
    add('money = ?', query.money);
  }
  if (query.work !== undefined) add('work = ?', query.work);
  if (query.flow !== undefined) add('flow = ?', query.flow);
  const where = conditions.join(' AND ');
  const statement = database.prepare(`SELECT body FROM claims WHERE ${where} ORDER BY key LIMIT ?`);
  return listed(query.limit, (count) => statement.all(...given, count));
}

function listed(limit: number, rows: (count: number) => readonly Row[]): readonly ClaimRecord[] {
  return legibleNow(limit, (count) =>
    rows(count).map(({ body }) => (typeof body === 'string' ? decoded(body) : undefined)),
  );
}

function records(rows: readonly (Row | undefined)[]): readonly ClaimRecord[] {
  return rows.flatMap((row) => {
    if (row === undefined) return [];
    if (typeof row.body !== 'string') throw damaged('body');
    return [decodeRecord(row.body)];
  });
}

function bytes(row: Row | undefined): Uint8Array | undefined {
  if (row === undefined) return undefined;
  if (!(row.bytes instanceof Uint8Array)) throw damaged('bytes');
  return row.bytes;
}

function number(row: Row | undefined, column: string): number {
  const value = row?.[column];
  if (typeof value !== 'number') throw damaged(column);
  return value;
}

function damaged(column: string): StoreError {
  return new StoreError('store_corrupt', `A row of the claim store has no ${column}.`);
}
