import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import express from 'express';
import type { BodyResult } from '../../seller/index.ts';
import { type Asked, ask, octets, open, serve, until } from '../rig/wire.ts';
import { bodyTaken, readBody } from './body.ts';

const limits = { maxBytes: 100_000, timeoutMs: 5_000 };

/** Reads the body as the gate does and lets `after` read it once more. */
async function twice(
  t: TestContext,
  after: (request: IncomingMessage, response: ServerResponse) => unknown,
  bounds: typeof limits = limits,
): Promise<{ readonly port: number; readonly first: BodyResult[]; readonly seen: () => number }> {
  const first: BodyResult[] = [];
  let socket: Socket | undefined;
  const port = await serve(t, async (request, response) => {
    socket = request.socket;
    const body = await readBody(request, bounds);
    first.push(body);
    if (body.kind === 'bytes') return after(request, response);
    return response.end(body.kind);
  });
  return { port, first, seen: () => socket?.bytesRead ?? 0 };
}

const app = express()
  .use(express.json({ limit: '1mb' }))
  .use((request, response) => void response.json(request.body ?? null));

/** What stands behind gates: each answers with the octets that it read. */
const readers: { readonly [way: string]: (request: IncomingMessage, response: ServerResponse) => unknown } = {
  'data events': (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => response.end(Buffer.concat(chunks)));
  },
  'readable events': (request, response) => {
    const chunks: Buffer[] = [];
    request.on('readable', () => {
      for (let chunk = request.read(); chunk !== null; chunk = request.read()) chunks.push(chunk);
    });
    request.on('end', () => response.end(Buffer.concat(chunks)));
  },
  iteration: async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    response.end(Buffer.concat(chunks));
  },
  'a pipe': (request, response) => request.pipe(response),
  'an encoding': (request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (part) => {
      text += part;
    });
    request.on('end', () => response.end(text));
  },
  'express.json()': (request, response) => app(request, response),
};

const body = JSON.stringify({ where: 'Łódź' });
const chunked = (parts: readonly string[]): string =>
  [...parts, ''].map((part) => `${Buffer.byteLength(part).toString(16)}\r\n${part}\r\n`).join('');

/** How a body can arrive: the pieces are written one after the other, each once the server has seen the last. */
const arrivals: { readonly [how: string]: readonly [head: string, ...pieces: string[]] } = {
  'in one packet with its head': [
    octets({ method: 'POST', body, headers: [['content-type', 'application/json']] }),
  ],
  'in pieces of a known length': [
    octets({
      method: 'POST',
      headers: [
        ['content-type', 'application/json'],
        ['content-length', String(Buffer.byteLength(body))],
      ],
    }),
    body.slice(0, 5),
    body.slice(5),
  ],
  'chunked, at once': [
    octets({
      method: 'POST',
      headers: [
        ['content-type', 'application/json'],
        ['transfer-encoding', 'chunked'],
      ],
    }) + chunked([body.slice(0, 4), body.slice(4)]),
  ],
  'chunked, in pieces': [
    octets({
      method: 'POST',
      headers: [
        ['content-type', 'application/json'],
        ['transfer-encoding', 'chunked'],
      ],
    }),
    chunked([body]).slice(0, 7),
    chunked([body]).slice(7, -5),
    chunked([body]).slice(-5),
  ],
};

for (const [way, reader] of Object.entries(readers)) {
  for (const [how, pieces] of Object.entries(arrivals)) {
    test(`a body that arrives ${how} is read by the gate and then, whole, by ${way}`, async (t) => {
      const { port, first, seen } = await twice(t, reader);
      const wire = open(port);
      wire.socket.setNoDelay(true);
      let sent = 0;
      for (const piece of pieces) {
        sent += Buffer.byteLength(piece);
        wire.send(piece);
        await until(() => seen() === sent);
      }
      await wire.closed;
      const text = wire.soFar().split('\r\n\r\n').slice(1).join('');
      assert.match(Buffer.from(text, 'latin1').toString(), /\{"where":"Łódź"\}/);
      assert.deepEqual(first, [{ kind: 'bytes', bytes: Buffer.from(body) }]);
    });
  }
}

/** Requests without a body, whose readers must not wait for one. */
const empty: { readonly [how: string]: Asked & { readonly after?: string } } = {
  'a GET': { method: 'GET' },
  'a POST without a length': { method: 'POST' },
  'a POST of length 0': { method: 'POST', body: '' },
  'a chunked POST without a chunk': {
    method: 'POST',
    headers: [['transfer-encoding', 'chunked']],
    after: '0\r\n\r\n',
  },
};

for (const [how, { after = '', ...asked }] of Object.entries(empty)) {
  for (const way of ['data events', 'readable events', 'iteration', 'a pipe'] as const) {
    test(`${how} ends at once for the gate and for ${way}`, async (t) => {
      const { port, first } = await twice(t, readers[way] ?? (() => {}));
      const wire = open(port);
      wire.send(octets(asked));
      wire.send(after);
      await wire.closed;
      assert.match(wire.soFar(), /^HTTP\/1.1 200/);
      assert.equal(first[0]?.kind === 'bytes' && first[0].bytes.length, 0);
    });
  }
}

test('a client that waits to be told to go on is told so by Node and then read', async (t) => {
  const { port } = await twice(t, (request, response) => request.pipe(response));
  const wire = open(port);
  wire.send(
    octets({
      method: 'POST',
      headers: [
        ['expect', '100-continue'],
        ['content-length', '5'],
      ],
    }),
  );
  await wire.answers(1);
  wire.send('hello');
  await wire.closed;
  assert.match(wire.soFar(), /^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200 [\s\S]*hello/);
});

test('a body over the limit is known by its octets, not by what it says of itself', async (t) => {
  const bounds = { ...limits, maxBytes: 10 };
  const { port } = await twice(t, (request, response) => request.pipe(response), bounds);
  assert.equal((await ask(port, { method: 'POST', body: 'x'.repeat(10) })).status, 200);
  const wire = open(port);
  wire.send(
    octets({ method: 'POST', headers: [['transfer-encoding', 'chunked']] }) +
      chunked(['x'.repeat(6), 'x'.repeat(5)]),
  );
  await wire.closed;
  assert.match(wire.soFar(), /too_large/);
});

test('of a body without end no more is read than the limit and one allowance', async (t) => {
  let read = 0;
  const port = await serve(t, async (request, response) => {
    const result = await readBody(request, { maxBytes: 10, timeoutMs: 60_000 });
    read = request.socket.bytesRead;
    response.end(result.kind);
  });
  const wire = open(port);
  wire.send(octets({ method: 'POST', headers: [['content-length', '1000000000']] }));
  const flood = (): void => {
    if (!wire.socket.destroyed) wire.socket.write(Buffer.alloc(256 * 1024), flood);
  };
  flood();
  const [answer] = await wire.answers();
  assert.equal(answer?.status, 200);
  assert.ok(read < 4 * 1024 * 1024, `${read} octets were read`);
  wire.socket.destroy();
});

test('H12: a body that does not come in time is too slow', async (t) => {
  const { port } = await twice(t, () => assert.fail('no body'), { ...limits, timeoutMs: 20 });
  const wire = open(port);
  wire.send(octets({ method: 'POST', headers: [['content-length', '5']] }));
  wire.send('hel');
  await wire.closed;
  assert.match(wire.soFar(), /too_slow/);
});

test('a client that leaves in the middle of its body is gone', async (t) => {
  const result = Promise.withResolvers<BodyResult>();
  const port = await serve(t, (request) => result.resolve(readBody(request, limits)));
  const wire = open(port);
  wire.send(octets({ method: 'POST', headers: [['content-length', '5']] }));
  wire.send('hel');
  wire.socket.end();
  assert.deepEqual(await result.promise, { kind: 'gone' });
});

/** What a parser in front of the gate leaves behind. */
const thefts: { readonly [how: string]: (request: IncomingMessage) => Promise<unknown> } = {
  'read to its end': (request) => new Promise((resolve) => request.resume().on('end', resolve)),
  'being read': async (request) => request.on('data', () => {}),
  'read in part': async (request) => {
    await new Promise((resolve) => request.once('readable', resolve));
    request.read(2);
  },
  decoded: async (request) => request.setEncoding('utf8'),
};

for (const [how, steal] of Object.entries(thefts)) {
  test(`a body that was ${how} before the gate is refused with a word on where to mount it`, async (t) => {
    const port = await serve(t, async (request, response) => {
      await steal(request);
      await new Promise((resolve) => setImmediate(resolve));
      const fault: unknown = await readBody(request, limits).catch((thrown) => thrown);
      response.end(`${bodyTaken(request)} ${fault}`);
    });
    const answer = await ask(port, { method: 'POST', body: 'hello' });
    assert.match(answer.text, /^true TypeError: .*Mount the gate before every body parser/);
  });
}
