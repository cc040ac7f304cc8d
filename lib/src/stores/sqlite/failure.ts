/**
 * SQLite's result codes as our own. Source: sqlite.org/rescode.html; the low octet is the primary code.
 */
import { StoreError, type StoreErrorCode } from '../error.ts';

/** Any failure inside the store as a {@link StoreError}; the original stays as its cause. */
export function asStoreError(cause: unknown, path?: string): StoreError {
  if (cause instanceof StoreError) return cause;
  const message = cause instanceof Error ? cause.message : String(cause);
  const name = path === undefined ? 'The claim store' : `The claim store ${path}`;
  return new StoreError(codeOf(cause), `${name} failed: ${message}`, { cause });
}

/** True where another connection holds the lock, so that trying again can help. */
export function isBusy(cause: unknown): boolean {
  return codeOf(cause) === 'store_busy';
}

/** True where SQLite reads a file and finds that it is none of its own (SQLITE_NOTADB). */
export function isNoDatabase(cause: unknown): boolean {
  return resultCode(cause) === 26;
}

function codeOf(cause: unknown): StoreErrorCode {
  // A record that does not parse was not written by us.
  if (cause instanceof SyntaxError) return 'store_corrupt';
  // The file system's own words for a folder that is absent, or not ours to write in.
  if (cause instanceof Error && 'syscall' in cause) return 'store_unreadable';
  switch (resultCode(cause)) {
    case 5: // SQLITE_BUSY
    case 6: // SQLITE_LOCKED
      return 'store_busy';
    case 11: // SQLITE_CORRUPT
    case 26: // SQLITE_NOTADB
      return 'store_corrupt';
    case 3: // SQLITE_PERM
    case 8: // SQLITE_READONLY
    case 14: // SQLITE_CANTOPEN
      return 'store_unreadable';
    default:
      return 'store_failed';
  }
}

function resultCode(cause: unknown): number | undefined {
  if (!(cause instanceof Error) || !('errcode' in cause) || typeof cause.errcode !== 'number')
    return undefined;
  return cause.errcode & 0xff;
}
