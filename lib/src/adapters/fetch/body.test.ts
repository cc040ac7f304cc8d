import assert from 'node:assert/strict';
import { test } from 'node:test';
import { collect, readBody } from './body.ts';

const limits = { maxBytes: 4, timeoutMs: 20 };
const never = new AbortController().signal;

function post(body: string | ReadableStream, signal: AbortSignal = never): Request {
  const init = { method: 'POST', body, duplex: 'half', signal };
  return new Request('https://inner.example/', init);
}

test('H12: a body that trickles, one that is too large and one whose client leaves are three things', async () => {
  const trickling = new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(3)) });
  const reset = new ReadableStream({ pull: (controller) => controller.error(new Error('reset')) });
  const bodies = [
    post('1234'),
    post('12345'),
    post(trickling),
    post(reset),
    post(new ReadableStream(), AbortSignal.abort()),
  ];
  const kinds: string[] = [];
  for (const request of bodies) kinds.push((await readBody(request, limits)).kind);
  assert.deepEqual(kinds, ['bytes', 'too_large', 'too_slow', 'gone', 'gone']);
});

test('a request without a body has an empty one, and nobody is asked for it', async () => {
  const get = new Request('https://inner.example/');
  Object.defineProperty(get, 'body', { get: () => assert.fail('a server would make a whole request') });
  const none = { kind: 'bytes', bytes: new Uint8Array() };
  assert.deepEqual(await readBody(get, limits), none);
  assert.deepEqual(await readBody(new Request('https://inner.example/', { method: 'POST' }), limits), none);
});

test('a body that was read already is a mistake that says where to mount the gate', async () => {
  const request = post('1234');
  await request.text();
  await assert.rejects(readBody(request, limits), { name: 'TypeError', message: /before the payment gate/ });
});

test('a body that somebody else is reading is the same mistake', async () => {
  const request = post('1234');
  request.body?.getReader();
  await assert.rejects(readBody(request, limits), { name: 'TypeError', message: /before the payment gate/ });
});

test('a platform whose requests have no signal has bodies all the same', async () => {
  for (const signal of [null, undefined]) {
    const request = post('1234');
    Object.defineProperty(request, 'signal', { value: signal });
    assert.equal((await readBody(request, limits)).kind, 'bytes');
  }
});

test('a stream is read to its end, or to one octet beyond the limit, and is let go then', async () => {
  let canceled = false;
  const endless = new ReadableStream({
    pull: (controller) => controller.enqueue(new Uint8Array(3)),
    cancel: () => {
      canceled = true;
    },
  });
  assert.equal((await collect(endless, 10, never)).length, 11);
  assert.equal(canceled, true);
  const exact = new Response('1234').body;
  assert.ok(exact);
  assert.equal((await collect(exact, 4, never)).length, 4);
});

test('a stream of anything but octets is no body', async () => {
  const texts = new ReadableStream({ start: (controller) => controller.enqueue('sunny') });
  await assert.rejects(collect(texts, 10, never), TypeError);
});
