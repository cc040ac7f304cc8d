import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createRig } from '../../../test/rig.ts';
import type { Delivery, Seller, SellerRequest } from '../../seller/index.ts';
import { ask, octets, open, serve } from '../rig/wire.ts';
import { exchange, soughtOf, turnAway } from './exchange.ts';

const route = createRig().seller.route({ method: 'GET', path: '/weather', price: '$0.01' });

function delivery(): Delivery {
  return { answer: { status: 200, headers: [], body: new Uint8Array() }, written: async () => {} };
}

/** A seller that only looks at what it is handed. */
function looking(look: (request: SellerRequest) => unknown): Pick<Seller, 'charge'> {
  return {
    charge: async (_route, request) => {
      await look(request);
      return delivery();
    },
  };
}

async function shown(
  t: TestContext,
  octetsOf: Parameters<typeof ask>[1],
  originalUrl?: string,
): Promise<SellerRequest> {
  const seen: SellerRequest[] = [];
  const seller = looking((request) => seen.push(request));
  const port = await serve(t, (request, response) => {
    const named = originalUrl === undefined ? request : Object.assign(request, { originalUrl });
    const work = () => Promise.reject(new Error('no work'));
    void exchange(seller, route, { request: named, response, work });
  });
  await ask(port, octetsOf);
  const [request] = seen;
  assert.ok(request);
  return request;
}

test('H08: the seller sees every field as it came, in order, duplicates apart', async (t) => {
  const { method, headers } = await shown(t, {
    method: 'PUT',
    headers: [
      ['PAYMENT-SIGNATURE', 'one'],
      ['X-B', '2'],
      ['payment-signature', 'two'],
      ['Content-Type', 'a/b'],
      ['content-type', 'c/d'],
    ],
  });
  assert.equal(method, 'PUT');
  assert.deepEqual(headers.slice(2), [
    ['payment-signature', 'one'],
    ['x-b', '2'],
    ['payment-signature', 'two'],
    ['content-type', 'a/b'],
    ['content-type', 'c/d'],
  ]);
});

test('H05: the target is the one that was received, whatever a framework made of it', async (t) => {
  assert.equal((await shown(t, { target: '/a/%2F?b=%20&b=' })).target, '/a/%2F?b=%20&b=');
  assert.equal((await shown(t, { target: '/weather' }, '/api/weather')).target, '/api/weather');
});

test('H10: the seller is told the address that the connection came from', async (t) => {
  assert.equal((await shown(t, {})).peer, '127.0.0.1');
});

test('an answer without any work is written as any other, unless a response was begun', async (t) => {
  const { answer } = delivery();
  const told: string[] = [];
  const noted: Delivery = { answer, written: async (how) => void told.push(how) };
  const port = await serve(t, async (request, response) => {
    if (request.url === '/begun') response.flushHeaders();
    await turnAway(request, response, noted).catch((fault) => response.end(fault.name));
  });
  assert.equal((await ask(port)).status, 200);
  assert.deepEqual(told, ['complete']);
  assert.match((await ask(port, { target: '/begun' })).text, /TypeError/);
});

test('H05: a route is sought by what was received', () => {
  const request = { method: 'GET', url: '/weather', originalUrl: '/api/weather' } as Parameters<
    typeof soughtOf
  >[0];
  assert.deepEqual(soughtOf(request), { method: 'GET', target: '/api/weather' });
});

test('S10: an answer whose client left while the seller was at work is cut', async (t) => {
  const arrived = Promise.withResolvers<void>();
  const told = Promise.withResolvers<string>();
  const port = await serve(t, async (request, response) => {
    const seller = {
      charge: async () => {
        arrived.resolve();
        await new Promise((resolve) => request.socket.once('close', resolve));
        const answer = { status: 200, headers: [], body: Buffer.from('sunny') };
        return { answer, written: async (how: string) => told.resolve(how) };
      },
    };
    await exchange(seller, route, { request, response, work: () => Promise.reject(new Error('no work')) });
  });
  const wire = open(port);
  wire.send(octets());
  await arrived.promise;
  wire.socket.destroy();
  assert.equal(await told.promise, 'cut');
});

test('a response that was begun before the gate is refused before the seller hears of it', async (t) => {
  const port = await serve(t, (request, response) => {
    response.writeHead(200, { 'content-length': '5' });
    const seller = looking(() => assert.fail('charged'));
    const work = () => Promise.reject(new Error('no work'));
    exchange(seller, route, { request, response, work }).catch((fault) =>
      response.end(fault.name.slice(0, 5)),
    );
  });
  assert.equal((await ask(port)).text, 'TypeE');
});
