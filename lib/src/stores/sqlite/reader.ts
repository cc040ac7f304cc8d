/**
 * A store file that is only looked at, as by the person who runs the seller: never made, never brought up to date,
 * never written. What would write is refused before it reaches the file.
 */
import type { DatabaseSync } from 'node:sqlite';
import { StoreError } from '../error.ts';
import { readsOnly, type Table } from '../operations.ts';
import { asStoreError } from './failure.ts';
import {
  attempt,
  checkForeign,
  foreign,
  refuseNewer,
  schemaVersion,
  sizeOf,
  smallestFileBytes,
} from './file.ts';
import type { Call, Reply } from './messages.ts';
import { oldestReadable } from './migrations.ts';
import { hasLog, peek } from './peek.ts';
import { failed, type Queue, succeeded } from './queue.ts';

export type ReaderOptions = {
  readonly path: string;
  readonly busyMs: number;
  readonly tableOver: (database: DatabaseSync) => Table;
  readonly reply: (replies: readonly Reply[]) => void;
};

type View = { readonly database: DatabaseSync; readonly table: Table; readonly live: boolean };

/** Answers calls that read; throws {@link StoreError} for a file that is no store, or of a schema that cannot be read. */
export function createReader(options: ReaderOptions): Queue {
  let view = openView(options);
  /** A seller has begun to write since: what stands still is no longer the truth. */
  const follow = (): void => {
    if (view.live || !hasLog(options.path)) return;
    view.database.close();
    view = openView(options);
  };
  const answer = (call: Call): Reply => {
    if (!readsOnly(call.operation)) return failed(call, readOnly(options.path));
    try {
      follow();
      return succeeded(view.table, call);
    } catch (cause) {
      return failed(call, asStoreError(cause, options.path));
    }
  };
  return {
    accept: (calls) => options.reply(calls.map(answer)),
    drain: (done) => {
      if (view.database.isOpen) view.database.close();
      done();
    },
  };
}

function openView({ path, busyMs, tableOver }: ReaderOptions): View {
  const live = hasLog(path);
  const size = attempt(path, () => sizeOf(path));
  if (size === undefined) throw new StoreError('store_unreadable', `There is no file ${path}.`);
  if (size < smallestFileBytes) throw foreign(path);
  const database = attempt(path, () => peek(path, busyMs));
  try {
    checkForeign(database, path, 'refused');
    refuseNewer(database, path);
    refuseOlder(database, path);
    database.exec('PRAGMA trusted_schema = OFF');
    return { database, table: tableOver(database), live };
  } catch (cause) {
    database.close();
    throw asStoreError(cause, path);
  }
}

function refuseOlder(database: DatabaseSync, path: string): void {
  const found = schemaVersion(database);
  if (found >= oldestReadable) return;
  throw new StoreError(
    'store_older',
    `${path} has schema version ${found} and version ${oldestReadable} is needed: a seller of this version brings it up to date when it starts.`,
  );
}

function readOnly(path: string): StoreError {
  return new StoreError('store_read_only', `${path} was opened for reading only; nothing was written.`);
}
