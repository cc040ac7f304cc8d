import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type TestContext, test } from 'node:test';
import type { Answer } from '../../seller/index.ts';
import { ask, octets, open, type Received, serve } from '../rig/wire.ts';
import { deliver } from './deliver.ts';
import { clientOf } from './gone.ts';

type Told = 'complete' | 'cut';

function answerOf(more: Partial<Answer> = {}): Answer {
  return { status: 200, headers: [], body: Buffer.from('sunny'), ...more };
}

/** Delivers `answer` to one request and shows what came of it on both sides. */
async function delivered(
  t: TestContext,
  answer: Answer,
  before: (request: IncomingMessage, response: ServerResponse) => void = () => {},
): Promise<{ readonly received: Received; readonly told: Told }> {
  const told = Promise.withResolvers<Told>();
  const port = await serve(t, (request, response) => {
    before(request, response);
    void deliver(
      { request, response, client: clientOf(request) },
      { answer, written: async (how) => told.resolve(how) },
    );
  });
  return { received: await ask(port), told: await told.promise };
}

test('an answer goes out with its status, its fields in order and its length', async (t) => {
  const headers = [
    ['x-a', '1'],
    ['set-cookie', 'a=1'],
    ['set-cookie', 'b=2'],
  ] as const;
  const { received, told } = await delivered(t, answerOf({ status: 201, headers }));
  assert.deepEqual([received.status, received.text, told], [201, 'sunny', 'complete']);
  assert.equal(received.header('content-length'), '5');
  assert.deepEqual(
    received.headers.filter(([name]) => name === 'set-cookie' || name === 'x-a'),
    headers,
  );
});

test('what was set before is kept, overruled, or dropped where it would let a cache keep the answer', async (t) => {
  const { received } = await delivered(
    t,
    answerOf({ headers: [['x-kind', 'fancy']] }),
    (_request, response) => {
      response.statusCode = 500;
      response.statusMessage = 'Left over';
      response
        .setHeader('x-kind', 'plain')
        .setHeader('x-id', '7')
        .setHeader('surrogate-control', 'max-age=9');
      response.setHeader('transfer-encoding', 'chunked').setHeader('content-length', '99');
    },
  );
  assert.equal(received.status, 200);
  const names = ['x-kind', 'x-id', 'surrogate-control', 'transfer-encoding', 'content-length'];
  assert.deepEqual(names.map(received.header), ['fancy', '7', undefined, undefined, '5']);
});

test('a file name that is not ASCII arrives as the handler wrote it', async (t) => {
  const headers = [['content-disposition', 'attachment; filename="\u00fc.txt"']] as const;
  const { received } = await delivered(t, answerOf({ headers }));
  assert.equal(received.header('content-disposition'), 'attachment; filename="\u00fc.txt"');
});

test('whatever wrapped end before, setting a field then or ending later, costs nobody the answer', async (t) => {
  const fielded = await delivered(t, answerOf(), (_request, response) => {
    const { end } = response;
    response.end = (...parts: unknown[]) => {
      response.setHeader('x-time', '7');
      return Reflect.apply(end, response, parts);
    };
  });
  assert.deepEqual(
    [fielded.received.header('x-time'), fielded.received.text, fielded.told],
    ['7', 'sunny', 'complete'],
  );
  const later = await delivered(t, answerOf({ status: 201 }), (_request, response) => {
    const { end } = response;
    response.end = (...parts: unknown[]) => {
      setImmediate(() => Reflect.apply(end, response, parts));
      return response;
    };
  });
  assert.deepEqual([later.received.status, later.received.text, later.told], [201, 'sunny', 'complete']);
});

test('a list that was begun before is continued', async (t) => {
  const { received } = await delivered(
    t,
    answerOf({ headers: [['vary', 'PAYMENT-SIGNATURE']] }),
    (_request, response) => {
      response.setHeader('Vary', 'Origin');
    },
  );
  assert.deepEqual(
    received.headers
      .filter(([name]) => name === 'vary')
      .map(([, value]) => value)
      .join(', '),
    'Origin, PAYMENT-SIGNATURE',
  );
});

test('a 204 has neither body nor length', async (t) => {
  const { received, told } = await delivered(t, answerOf({ status: 204, body: new Uint8Array() }));
  assert.deepEqual([received.status, received.header('content-length'), told], [204, undefined, 'complete']);
});

test('a connection whose request was not read to its end is closed after the answer', async (t) => {
  const port = await serve(t, (request, response) => {
    void deliver(
      { request, response, client: clientOf(request) },
      { answer: answerOf(), written: async () => {} },
    );
  });
  const wire = open(port);
  wire.send(octets({ method: 'POST', connection: 'keep-alive', headers: [['content-length', '5']] }));
  const [answer] = await wire.answers();
  assert.equal(answer?.header('connection'), 'close');
  await wire.closed;
});

test('an answer to a client that has left is cut', async (t) => {
  const arrived = Promise.withResolvers<void>();
  const told = Promise.withResolvers<Told>();
  const port = await serve(t, async (request, response) => {
    arrived.resolve();
    await new Promise((resolve) => response.once('close', resolve));
    await deliver(
      { request, response, client: clientOf(request) },
      { answer: answerOf(), written: async (how) => told.resolve(how) },
    );
  });
  const wire = open(port);
  wire.send(octets());
  await arrived.promise;
  wire.socket.destroy();
  assert.equal(await told.promise, 'cut');
});

test('an answer larger than a client takes is cut when that client leaves', async (t) => {
  const told = Promise.withResolvers<Told>();
  const port = await serve(t, (request, response) => {
    const answer = answerOf({ body: new Uint8Array(64 * 1024 * 1024) });
    void deliver(
      { request, response, client: clientOf(request) },
      { answer, written: async (how) => told.resolve(how) },
    );
  });
  const wire = open(port);
  wire.send(octets());
  wire.socket.once('data', () => wire.socket.destroy());
  assert.equal(await told.promise, 'cut');
});

test('an answer that cannot be sent breaks the connection and is cut', async (t) => {
  const told = Promise.withResolvers<Told>();
  const port = await serve(t, (request, response) => {
    const answer = answerOf({ headers: [['x-bad', 'line\nbreak']] });
    void deliver(
      { request, response, client: clientOf(request) },
      { answer, written: async (how) => told.resolve(how) },
    );
  });
  await assert.rejects(ask(port));
  assert.equal(await told.promise, 'cut');
});

test('a note of the delivery that fails does not spoil the answer', async (t) => {
  const port = await serve(t, (request, response) => {
    void deliver(
      { request, response, client: clientOf(request) },
      { answer: answerOf(), written: () => Promise.reject(new Error('store down')) },
    );
  });
  assert.equal((await ask(port)).text, 'sunny');
});
