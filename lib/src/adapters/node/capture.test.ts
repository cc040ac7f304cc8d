import assert from 'node:assert/strict';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { finished } from 'node:stream/promises';
import { test } from 'node:test';
import { type Capture, captureAnswer } from './capture.ts';

function capture(
  more: { readonly maxBytes?: number; readonly signal?: AbortSignal; readonly real?: ServerResponse } = {},
): Capture {
  const request = new IncomingMessage(new Socket());
  request.method = 'GET';
  return captureAnswer(request, {
    maxBytes: more.maxBytes ?? 1000,
    signal: more.signal ?? new AbortController().signal,
    real: more.real ?? new ServerResponse(request),
  });
}

function textOf(body: Uint8Array): string {
  return Buffer.from(body).toString();
}

test('every callback and event of a response comes, though nothing has been sent to anybody', async () => {
  const { response, answer } = capture();
  const seen: string[] = [];
  for (const name of ['prefinish', 'finish', 'close']) response.once(name, () => seen.push(name));
  await new Promise((resolve) => response.write('sun', resolve));
  await new Promise((resolve) => response.write('n', 'latin1', resolve));
  assert.deepEqual(
    [response.headersSent, response.writableEnded, response.writableFinished],
    [true, false, false],
  );
  await new Promise<void>((resolve) => response.end('y', resolve));
  assert.deepEqual([response.writableEnded, response.writableFinished], [true, true]);
  await finished(response);
  assert.deepEqual(seen, ['prefinish', 'finish', 'close']);
  const { status, body } = await answer;
  assert.deepEqual([status, textOf(body)], [200, 'sunny']);
});

test('a callback of end comes even when the work is declared over in the same moment', async () => {
  const stop = new AbortController();
  const { response, answer } = capture({ signal: stop.signal });
  const called = new Promise<void>((resolve) => response.end('sunny', resolve));
  await answer;
  stop.abort();
  await called;
});

test('a response never asks its writer to wait for a drain that would not come', async () => {
  const { response } = capture({ maxBytes: 10_000_000 });
  for (let n = 0; n < 64; n += 1) assert.equal(response.write(Buffer.alloc(64 * 1024)), true);
  assert.equal(response.writableNeedDrain, false);
});

test('a handler that gives itself a time-out is told of it, and one that does not listen has given up', async () => {
  const { response, answer } = capture();
  await new Promise<void>((resolve) => response.setTimeout(1, resolve));
  response.statusCode = 503;
  response.end('late');
  assert.deepEqual([(await answer).status, textOf((await answer).body)], [503, 'late']);
  const silent = capture();
  silent.response.setTimeout(1);
  await assert.rejects(silent.answer, /time-out/);
});

test('fields keep their duplicates, and those of the connection are no part of an answer', async () => {
  const { response, answer } = capture();
  response.writeHead(201, [
    'Set-Cookie',
    'a=1',
    'Set-Cookie',
    'b=2',
    'X-Count',
    '7',
    'Connection',
    'close',
    'Keep-Alive',
    'timeout=5',
  ]);
  response.end();
  const { status, headers } = await answer;
  assert.equal(status, 201);
  assert.deepEqual(headers, [
    ['set-cookie', 'a=1'],
    ['set-cookie', 'b=2'],
    ['x-count', '7'],
  ]);
});

test('what was set before the handler came is readable to it and no part of its answer, unless it is changed', async () => {
  const real = new ServerResponse(new IncomingMessage(new Socket()));
  real.setHeader('x-id', '7').setHeader('x-kind', 'plain');
  real.statusCode = 203;
  const { response, answer } = capture({ real });
  assert.deepEqual([response.getHeader('x-id'), response.statusCode], ['7', 203]);
  response.setHeader('x-kind', 'fancy');
  response.end();
  const { status, headers } = await answer;
  assert.deepEqual([status, headers], [203, [['x-kind', 'fancy']]]);
  assert.equal(real.getHeader('x-kind'), 'plain');
});

for (const status of [204, 304]) {
  test(`a ${status} has no body, whatever is written`, async () => {
    const { response, answer } = capture();
    response.statusCode = status;
    response.write('secret');
    response.end('secret');
    assert.equal((await answer).body.length, 0);
  });
}

test('an answer over the limit is known at once, one octet too long, and what follows comes to nothing', async () => {
  const { response, answer } = capture({ maxBytes: 10 });
  response.write('x'.repeat(8));
  response.write('y'.repeat(1_000_000));
  assert.equal((await answer).body.length, 11);
  assert.equal(response.destroyed, true);
  const fault = await new Promise((resolve) => response.write('z', resolve));
  assert.ok(fault instanceof Error);
});

test('the signal ends the answer and tells the handler’s sources to stop', async () => {
  const stop = new AbortController();
  const { response, answer } = capture({ signal: stop.signal });
  response.write('sun');
  const closed = new Promise((resolve) => response.once('close', resolve));
  stop.abort(new Error('lease over'));
  await assert.rejects(answer, /lease over/);
  await closed;
  await assert.rejects(capture({ signal: stop.signal }).answer, /lease over/);
});

test('what a handler throws after it has answered changes nothing', async () => {
  const { response, answer, fail } = capture();
  response.end('sunny');
  fail(new Error('too late'));
  assert.equal(textOf((await answer).body), 'sunny');
});

test('a head that a slip of the handler made impossible is the handler’s own exception', async () => {
  const { response, answer } = capture();
  assert.throws(() => response.writeHead(99), RangeError);
  assert.throws(() => response.setHeader('x', 'a\nb'), TypeError);
  assert.throws(() => Reflect.apply(response.write, response, [7]), TypeError);
  response.end('sunny');
  assert.throws(() => response.setHeader('x', '1'), { code: 'ERR_HTTP_HEADERS_SENT' });
  assert.equal(textOf((await answer).body), 'sunny');
});

test('H15: the connection is under guard by whichever of its names a handler writes to it', async () => {
  for (const name of ['socket', 'connection', 'client']) {
    const socket = new Socket();
    socket._write = () => assert.fail('sent');
    const request = new IncomingMessage(socket);
    const { answer } = captureAnswer(request, {
      maxBytes: 1000,
      signal: new AbortController().signal,
      real: new ServerResponse(request),
    });
    const shown: unknown = Reflect.get(request, name);
    assert.ok(shown instanceof Socket);
    shown.write('secret');
    await assert.rejects(answer, /wrote to the connection/);
  }
});
