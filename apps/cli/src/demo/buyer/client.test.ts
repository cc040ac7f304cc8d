import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { encodePaymentResponse } from 'counterfoil/wire';
import { closeServer, listen } from '../actor/config.ts';
import { abandon, countStatuses, createClient, problemIn, type Reply, transactionIn } from './client.ts';

let answer: RequestListener = () => {};
const server = createServer((request, response) => answer(request, response));
const port = await listen(server, 0);
const url = `http://127.0.0.1:${port}/weather?city=bern`;
const client = createClient(8);
after(async () => {
  await client.close();
  await closeServer(server);
});

function reply(status: number, headers: Record<string, string> = {}, body = ''): Reply {
  return { status, headers: new Map(Object.entries(headers)), body, startMs: 0, endMs: 0 };
}

test('a payment travels in its header, and the answer comes back with its times', async () => {
  answer = (request, response) => {
    response.setHeader('X-Twice', ['a', 'b']);
    response.end(`${request.url} ${request.headers['payment-signature']}`);
  };
  const got = await client.get(url, 'signed');
  assert.deepEqual(
    [got.status, got.body, got.headers.get('x-twice')],
    [200, '/weather?city=bern signed', 'a, b'],
  );
  assert.ok(got.endMs >= got.startMs);
  assert.equal((await client.get(url)).body, '/weather?city=bern undefined');
});

test('a request has the method, the body and the host that were asked for', async () => {
  answer = async (request, response) => {
    const { method, headers } = request;
    response.end(`${method} ${headers.host} ${headers['content-type']} ${await text(request)}`);
  };
  const put = await client.send({ url, method: 'PUT', body: '{}', host: 'other.example' }, 'signed');
  assert.equal(put.body, 'PUT other.example application/json {}');
  assert.equal((await client.send({ url })).body, `GET 127.0.0.1:${port} undefined `);
});

test('connections that were warmed are there when the burst begins', async () => {
  const sockets = new Set<unknown>();
  const waiting: (() => void)[] = [];
  answer = (request, response) => {
    sockets.add(request.socket);
    waiting.push(() => response.end());
    if (waiting.length === 8) for (const end of waiting.splice(0)) end();
  };
  await client.warm(url, 8);
  const before = sockets.size;
  await client.warm(url, 8);
  assert.deepEqual([before, sockets.size], [8, 8]);
});

test('a connection that is cut rejects, and nothing is sent twice', async () => {
  let requests = 0;
  answer = (request) => {
    requests += 1;
    request.socket.destroy();
  };
  await assert.rejects(client.get(url));
  assert.equal(requests, 1);
});

test('a buyer can hang up after its request is out and before it read anything', async () => {
  const arrived = Promise.withResolvers<string>();
  const left = Promise.withResolvers<void>();
  answer = (request, response) => {
    arrived.resolve(`${request.url} ${request.headers['payment-signature']}`);
    response.on('close', () => left.resolve());
  };
  const request = abandon(url, 'signed');
  await request.sent;
  assert.equal(await arrived.promise, '/weather?city=bern signed');
  assert.equal(await request.hangUp(), 0);
  await left.promise;
});

test('answers are read for what they say of money', () => {
  const transaction = `0x${'12'.repeat(32)}`;
  const settled = encodePaymentResponse({ success: true, transaction, network: 'eip155:1' });
  const failed = encodePaymentResponse({ success: false, transaction, network: 'eip155:1' });
  assert.equal(transactionIn(reply(200, { 'payment-response': settled })), transaction);
  assert.equal(transactionIn(reply(402, { 'payment-response': failed })), undefined);
  assert.equal(transactionIn(reply(200, { 'payment-response': '!!' })), undefined);
  assert.equal(transactionIn(reply(200)), undefined);
  assert.equal(problemIn(reply(409, {}, '{"code":"payment_already_used"}')), 'payment_already_used');
  for (const body of ['', '[]', '{"code":1}']) assert.equal(problemIn(reply(409, {}, body)), undefined);
});

test('many answers are told in one line', () => {
  assert.equal(countStatuses([reply(402), reply(200), reply(402)]), '1 x 200, 2 x 402');
  assert.equal(countStatuses([]), '');
});
