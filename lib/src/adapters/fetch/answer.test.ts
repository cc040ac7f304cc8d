import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf } from './answer.ts';

const limits = { maxBytes: 10, signal: new AbortController().signal };

test('a response is kept whole, without what belongs to a connection or was there before', async () => {
  const headers = new Headers({
    'x-own': '1',
    'x-id': '7',
    'transfer-encoding': 'chunked',
    connection: 'close',
  });
  headers.append('set-cookie', 'a=1');
  headers.append('set-cookie', 'b=2');
  const answer = await answerOf(new Response('sunny', { status: 201, headers }), limits, [
    ['x-id', '7'],
    ['set-cookie', 'a=1'],
  ]);
  assert.equal(answer.status, 201);
  assert.equal(new TextDecoder().decode(answer.body), 'sunny');
  assert.deepEqual(answer.headers, [
    ['content-type', 'text/plain;charset=UTF-8'],
    ['set-cookie', 'b=2'],
    ['x-own', '1'],
  ]);
});

test('an answer over the limit is told from one of exactly the limit', async () => {
  assert.equal((await answerOf(new Response('x'.repeat(10)), limits)).body.length, 10);
  assert.equal((await answerOf(new Response('x'.repeat(99)), limits)).body.length, 11);
});

test('H11: a field that fetch lets pass and HTTP does not is found before anything is charged', async () => {
  const response = new Response('sunny', { headers: { 'x-sky': 'a\x01b' } });
  await assert.rejects(answerOf(response, limits), { name: 'TypeError', message: /"x-sky"/ });
  await assert.rejects(answerOf(Response.error(), limits), TypeError);
});

test('H15: a stream that is silent when time is up rejects and is canceled', async () => {
  const stop = new AbortController();
  const canceled = Promise.withResolvers<void>();
  const silent = new ReadableStream({ cancel: () => canceled.resolve() });
  const answer = answerOf(new Response(silent), { maxBytes: 10, signal: stop.signal });
  stop.abort(new Error('over'));
  await assert.rejects(answer, /over/);
  await canceled.promise;
});
