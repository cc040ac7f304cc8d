import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as open } from 'node:http';
import { connect } from 'node:net';
import { describe, test } from 'node:test';
import { closeServer, createJsonServer, listenLocal, parseJson, readBody, sendJson } from './http.ts';

describe('the HTTP server of the devnet', () => {
  test('a handler that throws is answered with a plain 500, without its text', async () => {
    const server = createJsonServer(async () => {
      throw new Error('secret of the house');
    });
    const port = await listenLocal(server, 0);
    const response = await fetch(`http://127.0.0.1:${port}/`);
    assert.equal(response.status, 500);
    assert.deepEqual(await response.json(), {
      error: 'internal_error',
      message: 'The request could not be answered.',
    });
    await closeServer(server);
  });

  test('bytes that are not HTTP get a 400 and the connection is closed', async () => {
    const server = createJsonServer(async (_request, response) => sendJson(response, 200, {}));
    const port = await listenLocal(server, 0);
    const socket = connect(port, '127.0.0.1');
    socket.write('hello there\r\n\r\n');
    const [chunk] = await once(socket, 'data');
    assert.match(String(chunk), /^HTTP\/1\.1 400 /);
    socket.destroy();
    await closeServer(server);
  });

  test('a body over the limit is not read to its end', async () => {
    const seen: (Buffer | undefined)[] = [];
    const server = createJsonServer(async (request, response) => {
      seen.push(await readBody(request, 10));
      sendJson(response, 200, {});
    });
    const url = `http://127.0.0.1:${await listenLocal(server, 0)}`;
    await fetch(url, { method: 'POST', body: '0123456789' });
    await fetch(url, { method: 'POST', body: '0123456789a' });
    assert.deepEqual(seen, [Buffer.from('0123456789'), undefined]);
    await closeServer(server);
  });

  test('a taken port is named, and a server can listen again on its old port', async () => {
    const first = createJsonServer(async (_request, response) => sendJson(response, 200, 1));
    const second = createJsonServer(async (_request, response) => sendJson(response, 200, 2));
    const port = await listenLocal(first, 0);
    await assert.rejects(listenLocal(second, port), { code: 'port_taken' });
    await closeServer(first);
    assert.equal(await listenLocal(second, port), port);
    await closeServer(second);
    await closeServer(second);
  });

  test('closing does not wait for a caller that never gets an answer', async () => {
    const server = createJsonServer(() => new Promise<void>(() => {}));
    const port = await listenLocal(server, 0);
    const asked = once(server, 'request');
    const call = open({ port, host: '127.0.0.1' });
    const failed = once(call, 'error');
    call.on('response', () => assert.fail('answered')).end();
    await asked;
    await closeServer(server, 0);
    await assert.rejects(
      failed.then(([error]) => Promise.reject(error)),
      { code: 'ECONNRESET' },
    );
  });

  test('what is not JSON is no value', () => {
    assert.deepEqual(parseJson(Buffer.from('{"a":[1]}')), { a: [1] });
    for (const text of ['', '{', 'nonsense', '{"a":1}x'])
      assert.equal(parseJson(Buffer.from(text)), undefined);
  });
});
