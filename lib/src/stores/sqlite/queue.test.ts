import assert from 'node:assert/strict';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { exampleNowMs, examplePurchase, exampleTake } from '../../claim/example.ts';
import type { Table } from '../operations.ts';
import { openDatabase, watchPlace } from './file.ts';
import type { Call, Reply } from './messages.ts';
import { createQueue, type Queue } from './queue.ts';
import { sqliteTable } from './table.ts';

const folder = mkdtempSync(join(tmpdir(), 'counterfoil-queue-'));
after(() => rmSync(folder, { recursive: true, force: true }));

type Bench = {
  readonly database: DatabaseSync;
  readonly queue: Queue;
  readonly replies: Reply[][];
  readonly idle: () => Promise<void>;
  readonly path: string;
};

let files = 0;
function bench(change: (table: Table, database: DatabaseSync) => Table = (table) => table): Bench {
  files += 1;
  const path = join(folder, `${files}.sqlite`);
  const database = openDatabase(path, 100);
  const options = { capacity: 1_000, capacityBytes: 1_000_000, nowMs: () => exampleNowMs };
  const table = change(sqliteTable(database, options), database);
  const replies: Reply[][] = [];
  const queue = createQueue({
    database,
    table,
    inPlace: watchPlace(path),
    busyMs: 50,
    reply: (some) => replies.push([...some]),
  });
  const idle = (): Promise<void> => new Promise((resolve) => queue.drain(resolve));
  return { database, queue, replies, idle, path };
}

function takes(count: number): readonly Call[] {
  return Array.from({ length: count }, (_, i) => ({
    id: i,
    operation: 'take',
    question: exampleTake(examplePurchase(i)),
  }));
}

function commits(database: DatabaseSync): number {
  // The log's frames are numbered; every commit of one batch appends to it, so its count tells batches apart.
  return Number(database.prepare('PRAGMA data_version').get()?.data_version);
}

test('all calls of one turn are one transaction, answered together after its commit', async () => {
  const { database, queue, replies, idle, path } = bench();
  const watcher = new DatabaseSync(path);
  const before = commits(watcher);
  queue.accept(takes(100));
  queue.accept([{ id: 100, operation: 'take', question: exampleTake(examplePurchase(100)) }]);
  assert.equal(replies.length, 0, 'nothing is answered before the commit');
  await idle();
  assert.deepEqual(
    replies.map((some) => some.length),
    [101],
  );
  assert.ok(replies.flat().every((reply) => reply.ok));
  assert.equal(watcher.prepare('SELECT records FROM tally').get()?.records, 101);
  assert.notEqual(commits(watcher), before);
  watcher.close();
  database.close();
});

test('a call that fails half-way undoes only itself', async () => {
  const bad = examplePurchase(3).key;
  const { database, queue, replies, idle } = bench((table) => ({
    ...table,
    write: (key, change) => {
      table.write(key, change);
      if (key === bad) throw new Error('the second half failed');
    },
  }));
  queue.accept(takes(6));
  await idle();
  assert.deepEqual(
    replies.flat().map((reply) => reply.ok),
    [true, true, true, false, true, true],
  );
  const keys = database.prepare('SELECT key FROM claims ORDER BY key').all();
  assert.equal(keys.length, 5);
  assert.equal(
    keys.some(({ key }) => key === bad),
    false,
  );
  assert.equal(database.prepare('SELECT records FROM tally').get()?.records, 5);
  database.close();
});

test('when SQLite gives the whole transaction up, as on a full disk, every call of the batch fails', async () => {
  const { database, queue, replies, idle } = bench((table, connection) => ({
    ...table,
    write: (key, change) => {
      table.write(key, change);
      if (key !== examplePurchase(3).key) return;
      connection.exec('ROLLBACK');
      throw new Error('database or disk is full');
    },
  }));
  queue.accept(takes(6));
  await idle();
  assert.deepEqual(
    replies.flat().map((reply) => reply.ok),
    [false, false, false, false, false, false],
  );
  assert.equal(database.prepare('SELECT count(*) AS n FROM claims').get()?.n, 0);
  queue.accept(takes(2));
  await idle();
  assert.deepEqual(
    replies.at(-1)?.map((reply) => reply.ok),
    [true, true],
    'and the next batch works again',
  );
  database.close();
});

test('more calls than one transaction takes are several, in order', async () => {
  const { database, queue, replies, idle } = bench();
  queue.accept(takes(1_000).map((call) => ({ ...call, id: call.id })));
  await idle();
  assert.ok(replies.length > 1);
  assert.deepEqual(
    replies.flat().map((reply) => reply.id),
    Array.from({ length: 1_000 }, (_, i) => i),
  );
  database.close();
});

test('a call whose wait for the lock is over fails, and the reads beside it do not wait', async () => {
  const { database, queue, replies, idle, path } = bench();
  const other = new DatabaseSync(path);
  other.exec('BEGIN IMMEDIATE');
  queue.accept([...takes(2), { id: 9, operation: 'find', question: { key: 'any' } }]);
  assert.deepEqual(
    replies.flat().map((reply) => reply.id),
    [9],
  );
  await idle();
  const late = replies.flat().filter((reply) => reply.id !== 9);
  assert.deepEqual(
    late.map((reply) => (reply.ok ? 'answered' : reply.failure.code)),
    ['store_busy', 'store_busy'],
  );
  other.close();
  database.close();
});

test('what would be written to a file that was deleted or replaced is refused, until the file is back', async () => {
  const { queue, replies, idle, path } = bench();
  const codes = (): readonly string[] =>
    replies
      .splice(0)
      .flat()
      .map((reply) => (reply.ok ? 'ok' : reply.failure.code));
  renameSync(path, `${path}.away`);
  queue.accept(takes(2));
  await idle();
  assert.deepEqual(codes(), ['store_moved', 'store_moved']);
  writeFileSync(path, '');
  queue.accept(takes(1));
  await idle();
  assert.deepEqual(codes(), ['store_moved']);
  renameSync(`${path}.away`, path);
  queue.accept(takes(1));
  await idle();
  assert.deepEqual(codes(), ['ok']);
});
