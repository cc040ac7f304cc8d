import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { after, type TestContext, test } from 'node:test';
import { openTestShop } from '../../test/shop.ts';
import { createSystem, type System } from '../system.ts';
import type { Http } from '../world.ts';
import { createFacilitator, type FacilitatorCall, type TransportResult } from './facilitator.ts';
import { httpTransport, maxFacilitatorBytes } from './transport.ts';

const system: System = await createSystem();
after(() => system.close());

const settleCall: FacilitatorCall = {
  call: 'settle',
  body: { paymentPayload: { payload: {} }, paymentRequirements: { scheme: 'exact' } },
  timeoutMs: 5_000,
};

async function serve(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A server that speaks octets, one function for each connection. */
async function serveTcp(t: TestContext, accept: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    accept(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function ask(
  url: string,
  call: FacilitatorCall = settleCall,
  http: Http = system.http,
): Promise<TransportResult> {
  return httpTransport({ url, http })(call);
}

const success = `{"success":true,"network":"eip155:31337","transaction":"0x${'5e'.repeat(32)}"}`;
const garbage: readonly (readonly [string, string | Uint8Array])[] = [
  ['an HTML page', '<!doctype html><title>502 Bad Gateway</title>'],
  ['nothing', ''],
  ['half of a JSON text', success.slice(0, 40)],
  ['a JSON text and something behind it', `${success}{}`],
  ['5,000 open brackets', '['.repeat(5_000)],
  ['33 levels', `${'{"a":'.repeat(33)}1${'}'.repeat(33)}`],
  ['a key that stands twice', `{"success":false,${success.slice(1)}`],
  ['a number that no double holds', `{"amount":9007199254740993,${success.slice(1)}`],
  ['a forbidden key', `{"__proto__":{"success":true},${success.slice(1)}`],
  ['octets that are no UTF-8', Uint8Array.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
  ['a byte order mark', `\uFEFF${success}`],
];
for (const [name, body] of garbage) {
  test(`F09: ${name} in place of an answer says nothing, and the settle is unknown`, async (t) => {
    const url = await serve(t, (_request, response) => void response.end(body));
    assert.deepEqual(await ask(url), { kind: 'answer', status: 200, body: undefined });
    const shop = openTestShop();
    const payment = await shop.payment();
    const real = shop.rig.options.facilitator;
    const broken = createFacilitator(httpTransport({ url, http: system.http }));
    const seller = shop.rig.another({ facilitator: { ...real, settle: broken.settle } });
    const seen = await shop.ask({ seller, payment });
    assert.deepEqual([seen.status, seen.problem.code, seen.required], [503, 'settlement_unknown', undefined]);
    assert.doesNotMatch(seen.text, /doctype|SyntaxError|at .*\.ts/);
    const unverified = await shop.ask({
      seller: shop.rig.another({ facilitator: { ...real, verify: broken.verify } }),
      payment: await shop.payment({ nonce: new Uint8Array(32).fill(9) }),
    });
    assert.equal(unverified.problem.money, 'unmoved');
    assert.equal(unverified.required, undefined);
  });
}

test('F09: an answer of 64 KiB is read, one octet more is not', async (t) => {
  const padded = (length: number): string =>
    `${success.slice(0, -1)},"pad":"${'x'.repeat(length - success.length - 9)}"}`;
  let length = maxFacilitatorBytes;
  const url = await serve(t, (_request, response) => void response.end(padded(length)));
  const fits = await ask(url);
  assert.equal(padded(length).length, 65_536);
  assert.ok(fits.kind === 'answer' && fits.body !== undefined);
  length += 1;
  assert.deepEqual(await ask(url), { kind: 'failed', why: 'too_large' });
});

test('F09: of an answer of 10 MB, only a little is taken', async (t) => {
  const block = Buffer.alloc(65_536, 'x');
  const total = 160;
  let taken = 0;
  const pour = (response: ServerResponse): void => {
    while (taken < total && !response.destroyed) {
      taken += 1;
      if (!response.write(block)) {
        response.once('drain', () => pour(response));
        return;
      }
    }
    response.end();
  };
  const closed = Promise.withResolvers<void>();
  const url = await serve(t, (_request, response) => {
    response.once('close', () => closed.resolve());
    pour(response);
  });
  assert.deepEqual(await ask(url), { kind: 'failed', why: 'too_large' });
  await closed.promise;
  assert.ok(taken < total, `${taken} of ${total} blocks were taken`);
});

test('F09: an answer that drips for ever ends with the time of the call', async (t) => {
  const gone = Promise.withResolvers<void>();
  const url = await serve(t, (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const drip = setInterval(() => response.write(' '), 5);
    response.once('close', () => {
      clearInterval(drip);
      gone.resolve();
    });
  });
  assert.deepEqual(await ask(url, { ...settleCall, timeoutMs: 100 }), { kind: 'failed', why: 'timeout' });
  await gone.promise;
});

test('F09: a head that drips for ever ends with the time of the call too', async (t) => {
  const gone = Promise.withResolvers<void>();
  const url = await serveTcp(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nx: ');
    const drip = setInterval(() => socket.write('y'), 5);
    socket.once('close', () => {
      clearInterval(drip);
      gone.resolve();
    });
  });
  assert.deepEqual(await ask(url, { ...settleCall, timeoutMs: 100 }), { kind: 'failed', why: 'timeout' });
  await gone.promise;
});

test('a connection that is refused has sent nothing', async () => {
  const server = createTcpServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  assert.deepEqual(await ask(`http://127.0.0.1:${port}`), { kind: 'unsent' });
});

test('a name that does not exist has been sent nothing', async () => {
  assert.deepEqual(await ask(`https://${'a'.repeat(64)}.invalid`), { kind: 'unsent' });
});

test('a peer that does not speak TLS has been sent nothing', async (t) => {
  const url = await serveTcp(t, (socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  assert.deepEqual(await ask(url.replace('http:', 'https:')), { kind: 'unsent' });
});

test('a call that waits for a connection until its time is over has sent nothing', async (t) => {
  const narrow = await createSystem({ connections: 1 });
  t.after(() => narrow.close());
  const arrived = Promise.withResolvers<ServerResponse>();
  let requests = 0;
  const url = await serve(t, (_request, response) => {
    requests += 1;
    arrived.resolve(response);
  });
  const first = ask(url, settleCall, narrow.http);
  const response = await arrived.promise;
  assert.deepEqual(await ask(url, { ...settleCall, timeoutMs: 50 }, narrow.http), { kind: 'unsent' });
  response.end('{}');
  assert.equal((await first).kind, 'answer');
  assert.equal(requests, 1);
});

/** Each lets octets arrive and then loses the connection. */
const losses: readonly (readonly [string, (socket: Socket) => void])[] = [
  ['resets before it answers', (socket) => socket.once('data', () => socket.resetAndDestroy())],
  ['closes before it answers', (socket) => socket.once('data', () => socket.end())],
  [
    'resets within its answer',
    (socket) =>
      socket.once('data', () =>
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{"success":', () =>
          socket.resetAndDestroy(),
        ),
      ),
  ],
  [
    'closes within its answer',
    (socket) =>
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{"success":true}')),
  ],
  [
    'leaves its last chunk out',
    (socket) =>
      socket.once('data', () =>
        socket.end(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n10\r\n{"success":true}\r\n`),
      ),
  ],
  ['answers what is no HTTP', (socket) => socket.once('data', () => socket.end('SSH-2.0-x\r\n'))],
];
for (const [name, accept] of losses) {
  test(`a facilitator that ${name} may have settled`, async (t) => {
    const url = await serveTcp(t, accept);
    const result = await ask(url);
    assert.deepEqual(result, { kind: 'failed', why: 'reset' });
  });
}

test('a kept connection that turns out to be dead may have carried the settle, and it is not sent again', async (t) => {
  const answer = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}';
  let requests = 0;
  let connections = 0;
  const url = await serveTcp(t, (socket) => {
    connections += 1;
    socket.on('data', (octets) => {
      if (!octets.toString('latin1').startsWith('POST')) return;
      requests += 1;
      if (requests === 1) socket.write(answer);
      else socket.resetAndDestroy();
    });
  });
  assert.equal((await ask(url)).kind, 'answer');
  // undici hands a connection back one turn of the event loop after its answer.
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(await ask(url), { kind: 'failed', why: 'reset' });
  assert.deepEqual([connections, requests], [1, 2]);
});

test('a verify that nobody waits for any more is given up', async (t) => {
  const stop = new AbortController();
  const gone = Promise.withResolvers<void>();
  const url = await serve(t, (_request, response) => {
    response.once('close', () => gone.resolve());
    stop.abort();
  });
  const transport = httpTransport({ url, http: system.http });
  assert.deepEqual(await transport({ ...settleCall, call: 'verify' }, stop.signal), {
    kind: 'failed',
    why: 'aborted',
  });
  await gone.promise;
});
