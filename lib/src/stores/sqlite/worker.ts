/**
 * The thread that owns the SQLite connection. It is started by `sqlite.ts`, works its queue, and ends when it is
 * told to close; the main thread never waits for a disk.
 */
import type { DatabaseSync } from 'node:sqlite';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { Table } from '../operations.ts';
import { asStoreError } from './failure.ts';
import { openDatabase, watchPlace } from './file.ts';
import type { FromWorker, Reply, ToWorker, WorkerSettings } from './messages.ts';
import { createQueue, type Queue } from './queue.ts';
import { createReader } from './reader.ts';
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
  const reply = (replies: readonly Reply[]): void => post({ kind: 'replies', replies });
  const queue = settings.readOnly === true ? openReader(settings, reply) : openWriter(settings, reply);
  port.on('message', (message: ToWorker) => {
    switch (message.kind) {
      case 'calls':
        queue.accept(message.calls);
        return;
      case 'close':
        queue.drain(() => port.close());
        return;
      default:
        message satisfies never;
    }
  });
}

type Post = (replies: readonly Reply[]) => void;

function openWriter(settings: WorkerSettings, reply: Post): Queue {
  const { path, busyMs } = settings;
  const database = openDatabase(path, busyMs);
  const queue = createQueue({
    database,
    table: tableOver(settings)(database),
    inPlace: watchPlace(path),
    busyMs,
    reply,
  });
  return {
    accept: queue.accept,
    drain: (done) =>
      queue.drain(() => {
        database.close();
        done();
      }),
  };
}

function openReader(settings: WorkerSettings, reply: Post): Queue {
  const { path, busyMs } = settings;
  return createReader({ path, busyMs, tableOver: tableOver(settings), reply });
}

function tableOver(settings: WorkerSettings): (database: DatabaseSync) => Table {
  const { capacity, capacityBytes, clock } = settings;
  return (database) => sqliteTable(database, { capacity, capacityBytes, nowMs: clockOf(clock) });
}

function clockOf(clock: SharedArrayBuffer | undefined): () => number {
  if (clock === undefined) return Date.now;
  const shared = new BigInt64Array(clock);
  return () => Number(Atomics.load(shared, 0));
}
