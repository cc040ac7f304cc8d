import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { StoreError, type StoreErrorCode } from '../error.ts';
import { applicationId, openDatabase } from './file.ts';
import { migrations } from './migrations.ts';

const folder = mkdtempSync(join(tmpdir(), 'counterfoil-file-'));
after(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
function newPath(): string {
  files += 1;
  return join(folder, `${files}.sqlite`);
}

function digest(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

/** The file is refused with the code, and not one octet of it changes. */
function refusesUntouched(path: string, code: StoreErrorCode): void {
  const before = digest(path);
  assert.throws(
    () => openDatabase(path, 100),
    (error) => error instanceof StoreError && error.code === code && error.message.includes(path),
  );
  assert.equal(digest(path), before, 'the file was changed');
}

test('a new file gets the newest schema, the write-ahead log and full synchronisation', () => {
  const path = newPath();
  const database = openDatabase(path, 100);
  assert.equal(database.prepare('PRAGMA journal_mode').get()?.journal_mode, 'wal');
  assert.equal(database.prepare('PRAGMA synchronous').get()?.synchronous, 2);
  assert.equal(database.prepare('PRAGMA application_id').get()?.application_id, applicationId);
  const versions = database.prepare('SELECT version FROM migrations ORDER BY version').all();
  assert.deepEqual(
    versions.map(({ version }) => version),
    migrations.map(({ version }) => version),
  );
  database.close();
  openDatabase(path, 100).close();
});

test('a store whose log was never folded into its file is recognised as ours', () => {
  const path = newPath();
  const first = openDatabase(path, 100);
  first.exec("INSERT INTO answers (key, bytes) VALUES ('k', x'01')");
  const second = openDatabase(path, 100);
  assert.equal(second.prepare('SELECT count(*) AS n FROM answers').get()?.n, 1);
  second.close();
  first.close();
});

test('a text, an image or a short file is refused and left as it is', () => {
  for (const content of ['not a database', 'S', 'SQLite format 3\0', `\u0089PNG${'x'.repeat(500)}`]) {
    const path = newPath();
    writeFileSync(path, content);
    refusesUntouched(path, 'store_foreign');
  }
});

test('a database of another program is refused and left as it is, with or without a mark and a log', () => {
  const marked = newPath();
  const first = new DatabaseSync(marked);
  first.exec('PRAGMA application_id = 7; CREATE TABLE theirs (a)');
  first.close();
  refusesUntouched(marked, 'store_foreign');
  const plain = newPath();
  const second = new DatabaseSync(plain);
  second.exec('CREATE TABLE claims (a); INSERT INTO claims VALUES (1)');
  second.close();
  refusesUntouched(plain, 'store_foreign');
});

test('the write-ahead log of another program is not folded into its file', () => {
  const path = newPath();
  const theirs = new DatabaseSync(path);
  theirs.exec('PRAGMA journal_mode = WAL; CREATE TABLE theirs (a); INSERT INTO theirs VALUES (1)');
  const log = readFileSync(`${path}-wal`);
  refusesUntouched(path, 'store_foreign');
  assert.deepEqual(readFileSync(`${path}-wal`), log);
  theirs.close();
});

test('a damaged store is refused and left as it is', () => {
  const path = newPath();
  const database = openDatabase(path, 100);
  const insert = database.prepare('INSERT INTO answers (key, bytes) VALUES (?, ?)');
  for (let i = 0; i < 200; i += 1) insert.run(`key ${i}`, new Uint8Array(1_000).fill(i));
  database.close();
  const whole = readFileSync(path);
  const scratched = Uint8Array.from(whole).fill(0xa5, 40_000, 60_000);
  writeFileSync(path, scratched);
  refusesUntouched(path, 'store_corrupt');
  writeFileSync(path, whole);
  truncateSync(path, whole.length / 2);
  refusesUntouched(path, 'store_corrupt');
});

test('a store of a newer version is refused and left as it is', () => {
  const path = newPath();
  const database = openDatabase(path, 100);
  database.prepare('INSERT INTO migrations (version, applied_ms) VALUES (?, 0)').run(migrations.length + 1);
  database.close();
  refusesUntouched(path, 'store_newer');
});

test('an empty file that somebody made beforehand becomes a store, and its mode stays theirs', () => {
  const path = newPath();
  writeFileSync(path, '', { mode: 0o640 });
  openDatabase(path, 100).close();
  assert.equal(statSync(path).mode & 0o777, 0o640);
});

test('the log of a file that is gone is not replayed into a new one', () => {
  const path = newPath();
  writeFileSync(`${path}-wal`, 'frames of a lost store');
  assert.throws(
    () => openDatabase(path, 100),
    (error) => error instanceof StoreError && error.code === 'store_corrupt',
  );
  assert.equal(existsSync(path), false);
  rmSync(`${path}-wal`);
});

test('an empty file beside a full log is a lost store, not a new one', () => {
  const path = newPath();
  writeFileSync(path, '');
  writeFileSync(`${path}-wal`, 'frames of a lost store');
  refusesUntouched(path, 'store_corrupt');
  assert.equal(readFileSync(`${path}-wal`, 'utf8'), 'frames of a lost store');
  rmSync(`${path}-wal`);
});

test('an empty log, which holds nothing, does not stand in the way of a new store', () => {
  const path = newPath();
  writeFileSync(`${path}-wal`, '');
  openDatabase(path, 100).close();
  assert.equal(existsSync(path), true);
});

test('a database of another program that nobody has open is looked at without a trace', () => {
  const path = newPath();
  const theirs = new DatabaseSync(path);
  theirs.exec('PRAGMA journal_mode = WAL; CREATE TABLE theirs (a)');
  theirs.close();
  refusesUntouched(path, 'store_foreign');
  const name = basename(path);
  assert.deepEqual(
    readdirSync(folder).filter((one) => one.startsWith(name)),
    [name],
  );
});

test('a new store leaves nothing beside itself', () => {
  const path = newPath();
  openDatabase(path, 100).close();
  const name = basename(path);
  assert.deepEqual(
    readdirSync(folder).filter((one) => one.startsWith(name)),
    [name],
  );
});

test('opening a file again in one process does not drop the locks of those who have it open', () => {
  const path = newPath();
  const first = openDatabase(path, 100);
  const before = locksOn(path);
  openDatabase(path, 100).close();
  assert.deepEqual(locksOn(path), before);
  first.close();
});

/** The kernel's list of locks on this file; only Linux shows one, and there it is never empty for an open store. */
function locksOn(path: string): readonly string[] {
  if (process.platform !== 'linux') return [];
  const inode = `:${statSync(path).ino} `;
  const locks = readFileSync('/proc/locks', 'utf8')
    .split('\n')
    .filter((line) => line.includes(inode));
  assert.ok(locks.length > 0);
  return locks.map((line) => line.replace(/^\d+: /, ''));
}
