import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { hasLog, peek } from './peek.ts';

const folder = mkdtempSync(join(tmpdir(), 'counterfoil-peek-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** A database in write-ahead mode, still open, whose name would mean something in an address. */
function made(name: string): { readonly path: string; readonly writer: DatabaseSync } {
  const path = join(folder, name);
  const writer = new DatabaseSync(path);
  writer.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (a); INSERT INTO t VALUES (1)');
  return { path, writer };
}

function rowsIn(database: DatabaseSync): unknown {
  return database.prepare('SELECT count(*) AS rows FROM t').get()?.rows;
}

test('a file that nobody has open is read and leaves nothing beside itself', () => {
  const { path, writer } = made('still ?mode=rwc#1%.sqlite');
  writer.close();
  const before = readdirSync(folder);
  assert.equal(hasLog(path), false);
  const database = peek(path, 100);
  assert.equal(rowsIn(database), 1);
  assert.throws(() => database.exec('DELETE FROM t'), /readonly/);
  database.close();
  assert.deepEqual(readdirSync(folder), before);
});

test('what a writer has committed to its log is read, and what it commits afterwards too', () => {
  const { path, writer } = made('live.sqlite');
  assert.equal(hasLog(path), true);
  const database = peek(path, 100);
  assert.equal(rowsIn(database), 1);
  writer.exec('INSERT INTO t VALUES (2)');
  assert.equal(rowsIn(database), 2);
  assert.throws(() => database.exec('DELETE FROM t'), /readonly/);
  database.close();
  writer.close();
});

test('a file that is not there is not made', () => {
  assert.throws(() => peek(join(folder, 'absent.sqlite'), 100));
  assert.equal(readdirSync(folder).includes('absent.sqlite'), false);
});
