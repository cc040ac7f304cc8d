/**
 * Opens a SQLite file for reading so that nothing in its folder changes. Where a log lies beside it, a seller may be
 * writing, and the connection reads along. Where none does, nobody has the file open, and it is read as it stands:
 * an ordinary connection would leave a log and an index of its own behind, which whoever owns the store may not be
 * allowed to write (sqlite.org/wal.html, section 5).
 */
import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';

/** Whether a write-ahead log lies beside the file. */
export function hasLog(path: string): boolean {
  return existsSync(`${path}-wal`);
}

/** A connection that can write nothing; throws what SQLite throws. */
export function peek(path: string, busyMs: number): DatabaseSync {
  return new DatabaseSync(hasLog(path) ? path : frozen(path), { readOnly: true, timeout: busyMs });
}

function frozen(path: string): URL {
  const url = pathToFileURL(path);
  url.searchParams.set('immutable', '1');
  return url;
}
