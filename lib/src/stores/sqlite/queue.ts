/**
 * Group commit. All calls that wait are one transaction, one disk synchronisation and one wake-up of the main
 * thread; each call is isolated by a savepoint, so that the failure of one undoes only itself. An answer is given
 * only after COMMIT. Calls that only read are answered at once and never wait for another process's write lock.
 */
import type { DatabaseSync } from 'node:sqlite';
import { StoreError } from '../error.ts';
import { type Operation, operate, readsOnly, type Table } from '../operations.ts';
import { asStoreError, isBusy } from './failure.ts';
import type { Call, Failure, Reply } from './messages.ts';

/** Calls in one transaction: at some 50 microseconds each, other processes wait 25 ms for the lock at most. */
const batchLimit = 500;
/** Longest pause between two tries for the write lock; short, so that no process starves beside a busy one. */
const retryMs = 3;

type Waiting = { readonly call: Call; readonly acceptedMs: number };

export type Queue = {
  readonly accept: (calls: readonly Call[]) => void;
  /** Calls `done` when nothing waits any more. */
  readonly drain: (done: () => void) => void;
};

export type QueueOptions = {
  readonly database: DatabaseSync;
  readonly table: Table;
  /** False where the file has been moved away: what is written then is lost. */
  readonly inPlace: () => boolean;
  /** How long a call may wait for the write lock. */
  readonly busyMs: number;
  readonly reply: (replies: readonly Reply[]) => void;
};

/** A queue over one connection; nothing else may use the connection. */
export function createQueue(options: QueueOptions): Queue {
  const { database, table, inPlace, busyMs, reply } = options;
  let waiting: Waiting[] = [];
  let scheduled = false;
  let drained: (() => void) | undefined;
  /** Since when another process holds the lock that we want. */
  let lockedSinceMs: number | undefined;

  const accept = (calls: readonly Call[]): void => {
    const acceptedMs = performance.now();
    const replies: Reply[] = [];
    for (const call of calls) {
      const early = readsOnly(call.operation) ? answerRead(table, call) : undefined;
      if (early === undefined) waiting.push({ call, acceptedMs });
      else replies.push(early);
    }
    if (replies.length > 0) reply(replies);
    if (waiting.length > 0) schedule();
  };

  const schedule = (): void => {
    if (scheduled) return;
    scheduled = true;
    setImmediate(flush);
  };

  const flush = (): void => {
    scheduled = false;
    if (waiting.length > 0) commitSome();
    if (waiting.length > 0) return;
    drained?.();
    drained = undefined;
  };

  const commitSome = (): void => {
    const begun = begin(database, inPlace);
    if (begun === 'busy') {
      waitForLock();
      return;
    }
    lockedSinceMs = undefined;
    const batch = waiting.slice(0, batchLimit);
    waiting = waiting.slice(batchLimit);
    reply(
      begun === 'begun' ? runBatch(database, table, batch) : batch.map(({ call }) => failed(call, begun)),
    );
    if (waiting.length > 0) schedule();
  };

  const waitForLock = (): void => {
    const sinceMs = lockedSinceMs ?? performance.now();
    lockedSinceMs = sinceMs;
    const { overdue, patient } = sortByPatience(waiting, sinceMs, busyMs);
    waiting = patient;
    if (overdue.length > 0) reply(overdue.map(({ call }) => failed(call, lockHeld(busyMs))));
    if (waiting.length === 0) return;
    scheduled = true;
    setTimeout(flush, 1 + Math.random() * (retryMs - 1));
  };

  return {
    accept,
    drain: (done) => {
      drained = done;
      schedule();
    },
  };
}

/** Only a lock that another process holds counts against the wait, never a slow disk of our own. */
function sortByPatience(
  waiting: readonly Waiting[],
  lockedSinceMs: number,
  busyMs: number,
): { readonly overdue: Waiting[]; readonly patient: Waiting[] } {
  const latestMs = performance.now() - busyMs;
  const isOverdue = ({ acceptedMs }: Waiting): boolean => Math.max(acceptedMs, lockedSinceMs) <= latestMs;
  return { overdue: waiting.filter(isOverdue), patient: waiting.filter((entry) => !isOverdue(entry)) };
}

/** Undefined where the read has to wait because the log is being recovered. */
function answerRead(table: Table, call: Call): Reply | undefined {
  try {
    return succeeded(table, call);
  } catch (cause) {
    return isBusy(cause) ? undefined : failed(call, asStoreError(cause));
  }
}

function begin(database: DatabaseSync, inPlace: () => boolean): 'begun' | 'busy' | StoreError {
  try {
    if (!inPlace()) return new StoreError('store_moved', movedMessage);
    database.exec('BEGIN IMMEDIATE');
    return 'begun';
  } catch (cause) {
    return isBusy(cause) ? 'busy' : asStoreError(cause);
  }
}

function runBatch(database: DatabaseSync, table: Table, batch: readonly Waiting[]): readonly Reply[] {
  try {
    const replies = batch.map(({ call }) => runIsolated(database, table, call));
    database.exec('COMMIT');
    return replies;
  } catch (cause) {
    if (database.isTransaction) database.exec('ROLLBACK');
    const error = asStoreError(cause);
    return batch.map(({ call }) => failed(call, error));
  }
}

/** Throws only where SQLite gave the whole transaction up, as it does when the disk is full. */
function runIsolated(database: DatabaseSync, table: Table, call: Call): Reply {
  database.exec('SAVEPOINT one');
  try {
    const reply = succeeded(table, call);
    database.exec('RELEASE one');
    return reply;
  } catch (cause) {
    if (!database.isTransaction) throw cause;
    database.exec('ROLLBACK TO one; RELEASE one');
    return failed(call, asStoreError(cause));
  }
}

/** The reply to a call, which is carried out now; throws what the table throws. */
export function succeeded<O extends Operation>(table: Table, call: Call<O>): Reply {
  return { id: call.id, ok: true, value: operate(table, call.operation, call.question) };
}

/** The reply to a call that failed. */
export function failed(call: Call, { code, message }: Failure): Reply {
  return { id: call.id, ok: false, failure: { code, message } };
}

const movedMessage =
  'The file of the claim store was moved or deleted while it was open; nothing was written. Bring it back, or restart.';

function lockHeld(busyMs: number): StoreError {
  return new StoreError(
    'store_busy',
    `Another process held the write lock for more than ${busyMs} ms; nothing was written.`,
  );
}
