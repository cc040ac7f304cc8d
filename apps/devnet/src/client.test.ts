import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createClients } from './client.ts';
import { closeServer, createJsonServer, listenLocal } from './http.ts';

describe('talking to the chain', () => {
  test('a transaction is sent once, whatever the node answers', async () => {
    let calls = 0;
    const server = createJsonServer(async (_request, response) => {
      calls += 1;
      response.writeHead(503).end();
    });
    const { sender } = createClients(`http://127.0.0.1:${await listenLocal(server, 0)}`);
    await assert.rejects(sender.sendRawTransaction({ serializedTransaction: '0x02' }));
    assert.equal(calls, 1);
    await closeServer(server);
  });
});
