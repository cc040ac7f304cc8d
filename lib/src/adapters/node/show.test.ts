import assert from 'node:assert/strict';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { ask, serve } from '../rig/wire.ts';
import { freeMethodMessage, methodMessage, pinFree, showHeaders, showPriced } from './show.ts';

test('a handler sees the fields that the work is told of and no other', async (t) => {
  const port = await serve(t, (request, response) => {
    assert.equal(request.headersDistinct['if-none-match']?.length, 1);
    showHeaders(request, [
      ['host', 'x'],
      ['x-two', 'a'],
    ]);
    response.end(
      JSON.stringify([
        Object.keys(request.headers),
        Object.keys(request.headersDistinct),
        request.rawHeaders,
      ]),
    );
  });
  const { text } = await ask(port, {
    headers: [
      ['If-None-Match', '"1"'],
      ['X-Two', 'a'],
      ['X-Two', 'b'],
      ['PAYMENT-SIGNATURE', 'secret'],
    ],
  });
  const [names, distinct, raw] = JSON.parse(text);
  assert.deepEqual(
    [names, distinct],
    [
      ['host', 'x-two'],
      ['host', 'x-two'],
    ],
  );
  assert.deepEqual(raw, ['Host', 'api.example.com', 'X-Two', 'a', 'X-Two', 'b']);
});

function requestOf(method: string): IncomingMessage {
  return Object.assign(new IncomingMessage(new Socket()), { method });
}

const priced = { method: 'POST', url: 'https://api.example.com/', headers: [], body: new Uint8Array() };

test('H03: the method that was paid for stays, and whoever sets another one is told so', () => {
  const request = requestOf('POST');
  showPriced(request, priced);
  request.method = 'POST';
  assert.throws(
    () => {
      request.method = 'DELETE';
    },
    { name: 'TypeError', message: methodMessage },
  );
  assert.equal(request.method, 'POST');
});

test('H03: a method that changed while the payment was judged is not worked for', () => {
  assert.throws(() => showPriced(requestOf('DELETE'), priced), { message: methodMessage });
});

test('H03: what passed unpaid may get another method only where every gate on its way would let that pass', () => {
  const request = requestOf('POST');
  pinFree(request, () => request.method !== 'GET');
  pinFree(request, () => request.method !== 'PUT');
  request.method = 'DELETE';
  assert.equal(request.method, 'DELETE');
  for (const sold of ['GET', 'PUT']) {
    assert.throws(
      () => {
        request.method = sold;
      },
      { name: 'TypeError', message: freeMethodMessage },
    );
    assert.equal(request.method, 'DELETE');
  }
  request.method = 'POST';
  assert.equal(request.method, 'POST');
});
