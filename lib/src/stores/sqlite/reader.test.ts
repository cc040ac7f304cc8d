import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { exampleNowMs, examplePurchase, exampleTake } from '../../claim/example.ts';
import { StoreError, type StoreErrorCode } from '../error.ts';
import { type Operation, operate, type Questions } from '../operations.ts';
import { openDatabase } from './file.ts';
import type { Call, Reply } from './messages.ts';
import { createReader } from './reader.ts';
import { sqliteTable } from './table.ts';

const folder = mkdtempSync(join(tmpdir(), 'counterfoil-reader-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const tableOver = (database: DatabaseSync): ReturnType<typeof sqliteTable> =>
  sqliteTable(database, { capacity: 100, capacityBytes: 100_000, nowMs: () => exampleNowMs });

let files = 0;
function newPath(): string {
  files += 1;
  return join(folder, `${files}.sqlite`);
}

/** A store with one payment, as its seller has it open. */
function seller(path: string = newPath()): {
  readonly path: string;
  readonly database: DatabaseSync;
  readonly take: (n: number) => void;
} {
  const database = openDatabase(path, 100);
  const table = tableOver(database);
  const take = (n: number): void => void operate(table, 'take', exampleTake(examplePurchase(n)));
  take(1);
  return { path, database, take };
}

function reader(path: string): {
  readonly ask: <O extends Operation>(operation: O, question: Questions[O]) => Reply | undefined;
  readonly keys: () => number;
  readonly close: () => void;
} {
  let last: readonly Reply[] = [];
  const queue = createReader({
    path,
    busyMs: 100,
    tableOver,
    reply: (replies) => {
      last = replies;
    },
  });
  const ask = (operation: Operation, question: unknown): Reply | undefined => {
    queue.accept([{ id: 1, operation, question } as Call]);
    return last[0];
  };
  const keys = (): number => {
    const reply = ask('list', { limit: 10 });
    assert.ok(reply?.ok === true && Array.isArray(reply.value));
    return reply.value.length;
  };
  return { ask, keys, close: () => queue.drain(() => {}) };
}

function refusal(path: string): StoreErrorCode | undefined {
  try {
    reader(path).close();
    return undefined;
  } catch (cause) {
    assert.ok(cause instanceof StoreError && cause.message.includes(path));
    return cause.code;
  }
}

test('a store that its seller has closed is read, and not one octet or file in its folder changes', () => {
  const { path, database } = seller();
  database.close();
  const before = [readFileSync(path), readdirSync(folder)];
  const { ask, keys, close } = reader(path);
  assert.equal(keys(), 1);
  const refused = ask('take', exampleTake(examplePurchase(2)));
  assert.equal(refused?.ok === false && refused.failure.code, 'store_read_only');
  assert.equal(keys(), 1);
  close();
  assert.deepEqual([readFileSync(path), readdirSync(folder)], before);
});

test('a store is read while its seller writes, and the log of one that died is read and stays', () => {
  const { path, take } = seller();
  const { keys, close } = reader(path);
  assert.equal(keys(), 1);
  take(2);
  assert.equal(keys(), 2);
  close();
  assert.equal(existsSync(`${path}-wal`), true);
});

test('a seller that starts while its store is being looked at is followed', () => {
  const { path, database } = seller();
  database.close();
  const { keys, close } = reader(path);
  assert.equal(keys(), 1);
  const next = seller(path);
  next.take(2);
  next.take(3);
  assert.equal(keys(), 3);
  close();
  next.database.close();
});

test('a store of an older or a newer schema is refused with its own code, and is not brought up to date', () => {
  for (const [change, code] of [
    ['DELETE FROM migrations', 'store_older'],
    ['INSERT INTO migrations (version, applied_ms) VALUES (999, 0)', 'store_newer'],
  ] as const) {
    const { path, database } = seller();
    database.exec(change);
    database.close();
    const before = readFileSync(path);
    assert.equal(refusal(path), code);
    assert.deepEqual(readFileSync(path), before);
  }
});

test('what is no store is refused and left as it is, an empty file and a blank database too', () => {
  const blank = newPath();
  new DatabaseSync(blank).exec('PRAGMA journal_mode = WAL; PRAGMA user_version = 1');
  const empty = newPath();
  writeFileSync(empty, '');
  const text = newPath();
  writeFileSync(text, 'no database '.repeat(100));
  for (const path of [blank, empty, text]) {
    const before = readFileSync(path);
    assert.equal(refusal(path), 'store_foreign');
    assert.deepEqual(readFileSync(path), before);
  }
  assert.equal(refusal(newPath()), 'store_unreadable');
  assert.equal(refusal(folder), 'store_unreadable');
});
