import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { StoreError, type StoreErrorCode } from '../error.ts';
import { openLine } from './line.ts';
import type { WorkerSettings } from './messages.ts';

const settings: WorkerSettings = { path: '/nowhere', busyMs: 1, capacity: 1, capacityBytes: 1 };

/** A worker that runs these lines with `port` at hand. */
function worker(lines: string): Worker {
  return new Worker(`const port = require('node:worker_threads').parentPort; ${lines}`, { eval: true });
}

function failsWith(code: StoreErrorCode): (error: unknown) => boolean {
  return (error) => error instanceof StoreError && error.code === code;
}

test('when the worker dies, what is under way is not known to have happened, and nothing is taken any more', async () => {
  const dying =
    "port.postMessage({ kind: 'ready' }); port.on('message', () => { throw new Error('out of memory'); });";
  const line = await openLine(settings, worker(dying));
  const asked = [line.call('find', { key: 'a' }), line.call('prune', { limit: 1 })];
  for (const one of asked) await assert.rejects(one, failsWith('store_failed'));
  await assert.rejects(line.call('find', { key: 'a' }), failsWith('store_failed'));
  await line.close();
});

test('a worker that ends without a word is as gone as one that fails', async () => {
  const line = await openLine(
    settings,
    worker("port.postMessage({ kind: 'ready' }); port.once('message', () => {});"),
  );
  await assert.rejects(line.call('find', { key: 'a' }), failsWith('store_failed'));
});

test('a worker that cannot start, or says why it cannot, is an error of the opening', async () => {
  await assert.rejects(
    openLine(settings, worker("throw new Error('no such module')")),
    failsWith('store_failed'),
  );
  await assert.rejects(openLine(settings, worker('')), failsWith('store_failed'));
  const refusing =
    "port.postMessage({ kind: 'failed', failure: { code: 'store_newer', message: 'newer' } });";
  await assert.rejects(openLine(settings, worker(refusing)), failsWith('store_newer'));
});

test('the calls of one turn travel in one message, and each gets its own answer', async () => {
  const echo = `
    port.postMessage({ kind: 'ready' });
    port.on('message', (message) => {
      if (message.kind === 'close') return port.close();
      const replies = message.calls.map(({ id }) => ({ id, ok: true, value: message.calls.length }));
      port.postMessage({ kind: 'replies', replies: [{ id: 999, ok: true, value: 0 }, ...replies.reverse()] });
    });`;
  const line = await openLine(settings, worker(echo));
  const answers = await Promise.all([1, 2, 3].map((limit) => line.call('prune', { limit })));
  assert.deepEqual(answers, [3, 3, 3]);
  assert.equal(await line.call('prune', { limit: 1 }), 1);
  await line.close();
  await assert.rejects(line.call('prune', { limit: 1 }), failsWith('store_closed'));
});
