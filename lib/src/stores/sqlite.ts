/**
 * The embedded claim store: SQLite in a worker thread with group commit. An answer means that the write is on the
 * disk (write-ahead log, synchronous FULL); several processes may open one file, and each payment has exactly one
 * winner among them. The main thread never waits for the disk or for a lock.
 */
import { resolve } from 'node:path';
import type { ClaimStore } from '../claim/index.ts';
import { hushed } from '../wire/index.ts';
import { checkCount, checkFlag, checkOptions, storeOver, timeoutLimitMs, withDefault } from './contract.ts';
import { StoreError } from './error.ts';
import { type Line, openLine } from './sqlite/line.ts';
import type { WorkerSettings } from './sqlite/messages.ts';

export { StoreError, type StoreErrorCode } from './error.ts';

/** About 3 KiB a record with its indexes: 3 GB of disk, and an hour of 280 payments a second. */
export const sqliteCapacity = 1_000_000;
/** Kept answers and payloads: 8,192 answers of the default bound of 1 MiB. */
export const sqliteCapacityBytes = 8_589_934_592;
/** Longer than the worst wait seen with four busy processes (0.6 s), shorter than the margin of a lease (5 s). */
export const sqliteBusyMs = 3_000;

export type SqliteStoreOptions = {
  /** File of the store; created with mode 0600 where there is none. Its folder must exist. */
  readonly path: string;
  /** Records; a take beyond it answers `full`. */
  readonly capacity?: number;
  /** Octets of kept answers and payloads; a take beyond it answers `full`. */
  readonly capacityBytes?: number;
  /**
   * The file is only looked at: neither made nor migrated, what would write rejects with `store_read_only`, and a file
   * of a schema that cannot be read is refused with `store_older` or `store_newer`. A seller may be writing to it
   * meanwhile.
   */
  readonly readOnly?: boolean;
  /** How long a call waits for another process's write lock before it rejects with `store_busy`. */
  readonly busyMs?: number;
  /** For tests: eight shared octets that hold the time (Unix milliseconds, BigInt64) in place of the system clock. */
  readonly clock?: SharedArrayBuffer;
};

const optionNames = ['path', 'capacity', 'capacityBytes', 'readOnly', 'busyMs', 'clock'];

/**
 * Opens or creates a store file; rejects with `StoreError` when the file is foreign, damaged, newer or
 * unreadable, and with TypeError for an option that it does not know or that is none.
 *
 * @example
 * const store = await openSqliteStore({ path: './claims.sqlite' });
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<ClaimStore> {
  checkOptions('openSqliteStore', options, optionNames);
  const line = await opened({
    path: checkedPath(options.path),
    busyMs: checkCount('busyMs', withDefault(options.busyMs, sqliteBusyMs), timeoutLimitMs),
    capacity: checkCount('capacity', withDefault(options.capacity, sqliteCapacity)),
    capacityBytes: checkCount('capacityBytes', withDefault(options.capacityBytes, sqliteCapacityBytes)),
    readOnly: checkFlag('readOnly', withDefault(options.readOnly, false)),
    ...(options.clock === undefined ? {} : { clock: checkedClock(options.clock) }),
  });
  return storeOver(line.call, { name: 'sqlite', durable: true, close: line.close });
}

/** An address of a server that is taken for the name of a file would be repeated with its password. */
async function opened(settings: WorkerSettings): Promise<Line> {
  try {
    return await openLine(settings);
  } catch (fault) {
    throw fault instanceof StoreError ? new StoreError(fault.code, hushed(fault.message)) : fault;
  }
}

/** Only a file survives a restart, so the names that SQLite gives to databases without one are refused. */
function checkedPath(path: string): string {
  if (typeof path !== 'string' || path === '' || path.startsWith(':') || path.includes('\0')) {
    throw new TypeError('path must be the name of a file.');
  }
  return resolve(path);
}

function checkedClock(clock: SharedArrayBuffer): SharedArrayBuffer {
  if (clock instanceof SharedArrayBuffer && clock.byteLength === 8) return clock;
  throw new TypeError('clock must be a SharedArrayBuffer of eight octets.');
}
