import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { exampleNowMs } from '../../claim/example.ts';
import type { FromWorker, ToWorker, WorkerSettings } from './messages.ts';

const folder = mkdtempSync(join(tmpdir(), 'counterfoil-worker-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const clock = new SharedArrayBuffer(8);
Atomics.store(new BigInt64Array(clock), 0, BigInt(exampleNowMs));

function start(path: string): Worker {
  const workerData: WorkerSettings = { path, busyMs: 100, capacity: 10, capacityBytes: 1_000, clock };
  return new Worker(new URL('./worker.ts', import.meta.url), { workerData });
}

async function word(worker: Worker): Promise<FromWorker> {
  const [message]: FromWorker[] = await once(worker, 'message');
  assert.ok(message !== undefined);
  return message;
}

test('the worker says that it is ready, answers by the clock it was given, and ends when it is told to', async () => {
  const worker = start(join(folder, 'claims.sqlite'));
  assert.deepEqual(await word(worker), { kind: 'ready' });
  const ask: ToWorker = { kind: 'calls', calls: [{ id: 7, operation: 'find', question: { key: 'any' } }] };
  worker.postMessage(ask);
  assert.deepEqual(await word(worker), {
    kind: 'replies',
    replies: [{ id: 7, ok: true, value: { nowMs: exampleNowMs } }],
  });
  const end: ToWorker = { kind: 'close' };
  worker.postMessage(end);
  assert.deepEqual(await once(worker, 'exit'), [0]);
});

test('a worker that cannot open its file says why, and ends', async () => {
  const worker = start(join(folder, 'absent', 'claims.sqlite'));
  // On a busy machine both come in one turn.
  const exit = once(worker, 'exit');
  const message = await word(worker);
  assert.equal(message.kind === 'failed' && message.failure.code, 'store_unreadable');
  assert.deepEqual(await exit, [0]);
});
