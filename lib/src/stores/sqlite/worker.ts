/**
 * The thread that owns the SQLite connection. It is started by `sqlite.ts`, works its queue, and ends when it is
 * told to close; the main thread never waits for a disk.
 */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { asStoreError } from './failure.ts';
import { openDatabase } from './file.ts';
import type { FromWorker, ToWorker, WorkerSettings } from './messages.ts';
import { createQueue } from './queue.ts';
import { sqliteTable } from './table.ts';

if (parentPort !== null) start(parentPort, workerData);

function start(port: MessagePort, settings: WorkerSettings): void {
  const post = (message: FromWorker): void => port.postMessage(message);
  try {
    serve(port, settings, post);
    post({ kind: 'ready' });
  } catch (cause) {
    const { code, message } = asStoreError(cause);
    post({ kind: 'failed', failure: { code, message } });
    port.close();
  }
}

function serve(port: MessagePort, settings: WorkerSettings, post: (message: FromWorker) => void): void {
  const { path, busyMs, capacity, capacityBytes, clock } = settings;
  const database = openDatabase(path, busyMs);
  const table = sqliteTable(database, { capacity, capacityBytes, nowMs: clockOf(clock) });
  const queue = createQueue({
    database,
    table,
    busyMs,
    reply: (replies) => post({ kind: 'replies', replies }),
  });
  port.on('message', (message: ToWorker) => {
    switch (message.kind) {
      case 'calls':
        queue.accept(message.calls);
        return;
      case 'close':
        queue.drain(() => {
          database.close();
          port.close();
        });
        return;
      default:
        message satisfies never;
    }
  });
}

function clockOf(clock: SharedArrayBuffer | undefined): () => number {
  if (clock === undefined) return Date.now;
  const shared = new BigInt64Array(clock);
  return () => Number(Atomics.load(shared, 0));
}
