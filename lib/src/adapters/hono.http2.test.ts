/** Hono served over HTTP/2 by @hono/node-server: what its bindings could do there comes to nothing either. */
import assert from 'node:assert/strict';
import { connect, createServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import { type TestContext, test } from 'node:test';
import { getRequestListener } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { createRig, type Rig } from '../../test/rig.ts';
import { decodePaymentRequired, encodePaymentSignature } from '../wire/index.ts';
import { paid } from './hono.ts';
import { paid as paidByNode } from './node.ts';

type Bindings = { readonly incoming: Http2ServerRequest; readonly outgoing: Http2ServerResponse };
type Seen = { readonly status: number; readonly required: string; readonly text: string };
type Listener = (request: Http2ServerRequest, response: Http2ServerResponse) => unknown;

/** Serves until the test is over and asks with the fields given; a stream that breaks has status 0. */
async function openStreams(t: TestContext, listener: Listener): Promise<(payment?: string) => Promise<Seen>> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  const session = connect(`http://127.0.0.1:${address.port}`);
  t.after(async () => {
    session.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return (payment) =>
    new Promise((resolve) => {
      let status = 0;
      let required = '';
      let text = '';
      const fields = payment === undefined ? {} : { 'payment-signature': payment };
      const stream = session.request({ ':path': '/weather', ':authority': 'api.example.com', ...fields });
      stream.on('response', (headers) => {
        status = Number(headers[':status']);
        required = String(headers['payment-required'] ?? '');
      });
      stream.on('data', (chunk) => {
        text += chunk;
      });
      stream.on('error', () => {});
      stream.on('close', () => resolve({ status, required, text }));
    });
}

async function paymentFor(rig: Rig, { required }: Seen): Promise<string> {
  const terms = decodePaymentRequired(required);
  assert.ok(terms.ok);
  return encodePaymentSignature(await rig.pay(terms.value));
}

async function buy(t: TestContext, handler: (c: Context) => Response): Promise<{ rig: Rig; seen: Seen }> {
  const rig = createRig();
  const route = rig.seller.route({ method: 'GET', path: '/weather', price: '$0.01' });
  const app = new Hono();
  app.get('/weather', paid(rig.seller, route), handler);
  app.onError((_fault, c) => c.text('sorry', 500));
  const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  const ask = await openStreams(t, listener);
  const unpaid = await ask();
  assert.equal(unpaid.status, 402);
  return { rig, seen: await ask(await paymentFor(rig, unpaid)) };
}

test('over HTTP/2 a route is sold, and its handler sees the fields that were priced', async (t) => {
  const { rig, seen } = await buy(t, (c) => {
    const { incoming } = c.env as Bindings;
    const names = [...Object.keys(incoming.headers), ...incoming.rawHeaders, ...c.req.raw.headers.keys()];
    return c.text(`${incoming.url} ${names.some((name) => name === 'payment-signature')}`);
  });
  assert.deepEqual([seen.status, seen.text, rig.calls.settle], [200, '/weather false', 1]);
});

const writes: { readonly [way: string]: (bindings: Bindings) => unknown } = {
  'outgoing.end': ({ outgoing }) => outgoing.end('secret'),
  'outgoing.writeHead': ({ outgoing }) => outgoing.writeHead(200),
  'outgoing.createPushResponse': ({ outgoing }) => outgoing.createPushResponse({ ':path': '/x' }, () => {}),
  'outgoing.stream': ({ outgoing }) => outgoing.stream.end('secret'),
  'incoming.stream': ({ incoming }) => Reflect.get(incoming.stream, 'respond')({ ':status': 200 }),
  'incoming.stream.session': ({ incoming }) => incoming.stream.session?.destroy(),
};

for (const [way, write] of Object.entries(writes)) {
  test(`H15: over HTTP/2 ${way} behind the gate gives up the work and sends nothing`, async (t) => {
    const { rig, seen } = await buy(t, (c) => {
      write(c.env as Bindings);
      return c.text('sunny');
    });
    assert.deepEqual([seen.status, JSON.parse(seen.text).code], [500, 'work_failed']);
    assert.equal(rig.calls.settle, 0);
  });
}

test('a gate of node:http that is served over HTTP/2 invites nobody to pay', async (t) => {
  const rig = createRig();
  const route = rig.seller.route({ method: 'GET', path: '/weather', price: '$0.01' });
  const sell = paidByNode(rig.seller, route, () => assert.fail('the handler ran'));
  const ask = await openStreams(t, (request, response) =>
    // As whoever does not look at the types does.
    Reflect.apply(sell, undefined, [request, response]),
  );
  const { status, required } = await ask();
  assert.deepEqual([status, required], [0, '']);
});
