import assert from 'node:assert/strict';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { guarded } from './guard.ts';

test('ending the buyer’s connection gives up the work and leaves the connection open', () => {
  const socket = new Socket();
  const faults: unknown[] = [];
  const shown = guarded(socket, (fault) => faults.push(fault));
  const fault = new Error('mine');
  assert.equal(shown.destroy(fault), shown);
  shown.destroySoon();
  shown.resetAndDestroy();
  assert.equal(socket.destroyed, false);
  assert.deepEqual([faults[0], faults.length], [fault, 3]);
  assert.ok(faults.every((one) => one instanceof Error));
});

test('H15: writing to the buyer’s connection gives up the work and sends nothing', () => {
  const socket = new Socket();
  socket._write = () => assert.fail('sent');
  const faults: unknown[] = [];
  const shown = guarded(socket, (fault) => faults.push(fault));
  assert.equal(shown.write('HTTP/1.1 200 OK'), false);
  assert.equal(shown.end('secret'), shown);
  assert.deepEqual([socket.destroyed, socket.writableEnded, faults.length], [false, false, 2]);
  assert.ok(faults.every((one) => one instanceof Error));
});

test('everything else of the connection is as it was', () => {
  const socket = new Socket();
  const shown = guarded(socket, () => assert.fail('given up'));
  let heard = 0;
  shown.once('timeout', () => {
    heard += 1;
  });
  socket.emit('timeout');
  assert.deepEqual([heard, shown.remoteAddress, shown instanceof Socket], [1, socket.remoteAddress, true]);
  shown.allowHalfOpen = true;
  assert.equal(socket.allowHalfOpen, true);
});
