/**
 * Opens the file of a SQLite store: looks before it touches, so that a foreign, damaged or newer file is refused
 * as it is; then write-ahead log, full synchronisation and the missing migrations under the write lock. The file is
 * never opened with plain file calls, because closing such a descriptor would drop the locks of every other
 * connection of this process (sqlite.org/howtocorrupt.html, section 2.2).
 */
import { randomUUID } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, openSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StoreError } from '../error.ts';
import { asStoreError, isBusy, isNoDatabase } from './failure.ts';
import { migrations } from './migrations.ts';
import { peek } from './peek.ts';

/** Marks the file as ours in its header (sqlite.org/fileformat2.html, offset 68): the letters "CFCS". */
export const applicationId = 0x43464353;
/** The smallest page of SQLite: what is shorter, and not empty, is something else. */
export const smallestFileBytes: number = 512;
/** A file up to this size is checked page by page when it is opened: a tenth of a second at most. */
const checkedFileBytes = 33_554_432;
/** The write-ahead log shrinks to this after a burst of large answers. */
const journalLimitBytes = 67_108_864;
const ownerOnly = 0o600;

/** An open database at the newest schema; throws {@link StoreError} and leaves a file alone that is not ours. */
export function openDatabase(path: string, busyMs: number): DatabaseSync {
  // In this order, because another process may just be making the file and then its log.
  const log = attempt(path, () => sizeOf(`${path}-wal`)) ?? 0;
  const size = attempt(path, () => sizeOf(path));
  // An empty log holds nothing that could be lost; beside an empty file SQLite would delete a full one.
  if ((size ?? 0) === 0 && log > 0) throw orphanedLog(path);
  if (size === undefined) attempt(path, () => createFile(path, busyMs));
  else if (size > 0) refuseForeign(path, size, busyMs);
  const database = connect(path, busyMs, size !== undefined && size > 0 && size <= checkedFileBytes);
  // From here on the queue waits for the lock itself, without blocking what only reads.
  database.exec('PRAGMA busy_timeout = 0');
  return database;
}

/** SQLite would replay the log of a lost file into a new one. */
function orphanedLog(path: string): StoreError {
  return new StoreError(
    'store_corrupt',
    `${path} is gone or empty and its log ${path}-wal is not: bring the file back, or remove the log with what it holds.`,
  );
}

/**
 * Whether the name still leads to the file that was opened: one that was deleted, or replaced, goes on taking writes
 * that nobody will ever find again.
 */
export function watchPlace(path: string): () => boolean {
  const identity = (): string | undefined => {
    const found = statSync(path, { bigint: true, throwIfNoEntry: false });
    return found === undefined ? undefined : `${found.dev}:${found.ino}`;
  };
  const opened = identity();
  return () => identity() === opened;
}

/** The size in octets, or undefined where there is nothing; what is no file is refused. */
export function sizeOf(path: string): number | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  if (found.isFile()) return found.size;
  throw new StoreError('store_unreadable', `${path} is not a file.`);
}

/**
 * A new store is made beside its place and then linked into it, so that there is a whole store or none, for its
 * owner only, however many processes start together and wherever one of them is killed.
 */
function createFile(path: string, busyMs: number): void {
  const draft = `${path}.${randomUUID()}.new`;
  try {
    writeFileSync(draft, '', { flag: 'wx', mode: ownerOnly });
    connect(draft, busyMs, false).close();
    linkSync(draft, path);
    syncFolder(dirname(path));
  } catch (cause) {
    if (!hasCode(cause, 'EEXIST')) throw cause;
  } finally {
    for (const end of ['', '-wal', '-shm', '-journal']) rmSync(`${draft}${end}`, { force: true });
  }
}

/** The name of a new file must survive a power cut as its content does. */
function syncFolder(folder: string): void {
  // Windows neither needs this nor opens folders.
  if (process.platform === 'win32') return;
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function connect(path: string, busyMs: number, checked: boolean): DatabaseSync {
  const database = attempt(path, () => new DatabaseSync(path, { timeout: busyMs }));
  try {
    if (checked) checkPages(database, path);
    refuseNewer(database, path);
    enableLog(database, path, busyMs);
    database.exec('PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA trusted_schema = OFF');
    database.exec(`PRAGMA journal_size_limit = ${journalLimitBytes}`);
    migrate(database, path);
    return database;
  } catch (cause) {
    database.close();
    throw asStoreError(cause, path);
  }
}

/** Only looked at, because closing an ordinary connection would fold a stranger's write-ahead log into its file. */
function refuseForeign(path: string, size: number, busyMs: number): void {
  if (size < smallestFileBytes) throw foreign(path);
  const database = attempt(path, () => peek(path, busyMs));
  try {
    checkForeign(database, path, 'welcome');
  } finally {
    database.close();
  }
}

/** Throws for a database that is not ours; a blank one is welcome where a store is to be made of it. */
export function checkForeign(database: DatabaseSync, path: string, blank: 'welcome' | 'refused'): void {
  try {
    const id = integer(database, 'PRAGMA application_id', 'application_id');
    const tables = integer(database, 'SELECT count(*) AS tables FROM sqlite_schema', 'tables');
    if (id !== applicationId && (blank === 'refused' || id !== 0 || tables !== 0)) throw foreign(path);
  } catch (cause) {
    throw isNoDatabase(cause) ? foreign(path) : asStoreError(cause, path);
  }
}

/** The refusal of a file that is something else. */
export function foreign(path: string): StoreError {
  return new StoreError('store_foreign', `${path} is not a claim store; it was left as it is.`);
}

function checkPages(database: DatabaseSync, path: string): void {
  const verdict = database.prepare('PRAGMA quick_check(1)').get()?.quick_check;
  if (verdict === 'ok') return;
  throw new StoreError('store_corrupt', `${path} is damaged: ${String(verdict)}`);
}

/** Throws where a later version of Counterfoil has written the file. */
export function refuseNewer(database: DatabaseSync, path: string): void {
  const known = migrations.at(-1)?.version ?? 0;
  const found = schemaVersion(database);
  if (found <= known) return;
  throw new StoreError(
    'store_newer',
    `${path} has schema version ${found}; this version of Counterfoil knows up to ${known}.`,
  );
}

/** Switching the mode does not always wait for the lock by itself, so a few processes starting together retry. */
function enableLog(database: DatabaseSync, path: string, busyMs: number): void {
  const deadline = performance.now() + busyMs;
  for (;;) {
    try {
      const mode = database.prepare('PRAGMA journal_mode = WAL').get()?.journal_mode;
      if (mode === 'wal') return;
      throw new StoreError(
        'store_unreadable',
        `${path} lies where no write-ahead log can be kept (${mode}).`,
      );
    } catch (cause) {
      if (!isBusy(cause) || performance.now() >= deadline) throw cause;
      pause();
    }
  }
}

function migrate(database: DatabaseSync, path: string): void {
  if (schemaVersion(database) === migrations.at(-1)?.version) return;
  database.exec('BEGIN IMMEDIATE');
  try {
    // Another process may have been faster, or newer.
    refuseNewer(database, path);
    database.exec(
      'CREATE TABLE IF NOT EXISTS migrations (version INTEGER PRIMARY KEY, applied_ms INTEGER NOT NULL) STRICT',
    );
    database.exec(`PRAGMA application_id = ${applicationId}`);
    const found = schemaVersion(database);
    for (const migration of migrations.filter(({ version }) => version > found)) {
      for (const statement of migration.statements) database.exec(statement);
      database
        .prepare('INSERT INTO migrations (version, applied_ms) VALUES (?, ?)')
        .run(migration.version, Date.now());
    }
    database.exec('COMMIT');
  } catch (cause) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw cause;
  }
}

/** The schema's version, 0 where there is none yet. */
export function schemaVersion(database: DatabaseSync): number {
  const exists = "SELECT count(*) AS tables FROM sqlite_schema WHERE type = 'table' AND name = 'migrations'";
  if (integer(database, exists, 'tables') === 0) return 0;
  return integer(database, 'SELECT coalesce(max(version), 0) AS version FROM migrations', 'version');
}

function integer(database: DatabaseSync, statement: string, column: string): number {
  const value = database.prepare(statement).get()?.[column];
  if (typeof value !== 'number') throw new StoreError('store_corrupt', `No ${column} in the claim store.`);
  return value;
}

function hasCode(cause: unknown, code: string): boolean {
  return cause instanceof Error && 'code' in cause && cause.code === code;
}

/** Runs `work`; whatever it throws comes out as a {@link StoreError} that names the file. */
export function attempt<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw asStoreError(cause, path);
  }
}

/** Two milliseconds in which another process can finish; this thread has nothing else to do yet. */
function pause(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
}
