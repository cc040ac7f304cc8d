import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import { type TestContext, test } from 'node:test';
import { closeServer, listen } from '../server/listen.ts';
import { runBurst, runFlood } from './burst.ts';
import { fieldOf, openConnection, readAnswer, requestOctets } from './connection.ts';
import { quantile, runSteady } from './steady.ts';

async function serve(t: TestContext, listener: RequestListener): Promise<number> {
  const server = createServer(listener);
  t.after(() => closeServer(server));
  return listen(server);
}

const whole = (text: string) => readAnswer(Buffer.from(text, 'latin1'));

test('an answer is whole at its declared length, or at the end of its chunks, and not before', () => {
  const declared = 'HTTP/1.1 402 Payment Required\r\nX-A: 1\r\nContent-Length: 5\r\n\r\nhello';
  assert.deepEqual(
    [whole(declared)?.status, whole(declared)?.length, whole(`${declared}HTTP`)?.length],
    [402, declared.length, declared.length],
  );
  for (let cut = 0; cut < declared.length; cut += 1)
    assert.equal(whole(declared.slice(0, cut)), undefined, String(cut));
  const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n';
  assert.deepEqual([whole(chunked)?.status, whole(chunked)?.length], [200, chunked.length]);
  for (let cut = 0; cut < chunked.length; cut += 1)
    assert.equal(whole(chunked.slice(0, cut)), undefined, String(cut));
  const empty = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n';
  assert.equal(whole(empty)?.length, empty.length);
  assert.equal(fieldOf('HTTP/1.1 200 OK\r\nX-Id: 7 ', 'x-id'), '7');
  assert.equal(fieldOf('HTTP/1.1 200 OK', 'x-id'), undefined);
});

test('every request of a steady load is sent once, and every answer is counted', async (t) => {
  const seen: string[] = [];
  const port = await serve(t, (request, response) => {
    seen.push(`${request.url} ${request.headers['payment-signature']}`);
    response.writeHead(seen.length % 2 === 0 ? 200 : 402).end('x'.repeat(70_000));
  });
  const connections = await Promise.all([openConnection(port), openConnection(port)]);
  const requests = Array.from({ length: 10 }, (_, at) => requestOctets(port, `/${at}`, `p${at}`));
  const run = await runSteady(connections, requests);
  for (const connection of connections) connection.close();
  assert.deepEqual(run.statuses, { 200: 5, 402: 5 });
  assert.deepEqual(
    seen.sort(),
    Array.from({ length: 10 }, (_, at) => `/${at} p${at}`),
  );
  assert.ok(run.p50Ms > 0 && run.p99Ms >= run.p50Ms && run.requestsPerSecond > 0);
});

test('of a burst the last refusal and the last answer are told; a flood repeats until the first is answered', async (t) => {
  let served = 0;
  const held: (() => void)[] = [];
  const port = await serve(t, (_request, response) => {
    served += 1;
    if (served === 1) {
      held.push(() => response.end('sold'));
      return;
    }
    response.writeHead(402).end('lost');
    // The sale ends after some refusals.
    if (served === 20) held.pop()?.();
    if (served === 4) held.splice(0).forEach((end) => void end());
  });
  const connections = await Promise.all(Array.from({ length: 4 }, () => openConnection(port)));
  const burst = await runBurst(connections, requestOctets(port, '/'));
  assert.deepEqual(burst.statuses, { 200: 1, 402: 3 });
  assert.ok(burst.lastLoserMs > 0 && burst.lastMs >= burst.lastLoserMs);
  served = 0;
  held.length = 0;
  const before = served;
  const flood = runFlood(connections, requestOctets(port, '/'));
  await flood;
  for (const connection of connections) connection.close();
  assert.ok(served - before >= 4);
});

test('a connection that the server drops rejects what waits for it', async (t) => {
  const port = await serve(t, (request) => request.socket.destroy());
  const connection = await openConnection(port);
  await assert.rejects(connection.ask(requestOctets(port, '/')), /closed|ECONNRESET/);
  await assert.rejects(connection.ask(requestOctets(port, '/')), /closed/);
});

test('quantiles are values that were measured', () => {
  assert.deepEqual(
    [quantile([1, 2, 3, 4], 0.5), quantile([1, 2, 3, 4], 0.99), quantile([7], 0.01), quantile([], 0.5)],
    [2, 4, 7, 0],
  );
});
