import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { test } from 'node:test';
import { closeServer, listen, readShopConfig } from './config.ts';

const asset = { address: '0x01', symbol: 'USD', decimals: 6, name: 'Dollar', version: '2' };
const config = {
  network: 'eip155:31337',
  payTo: '0x02',
  facilitatorUrl: 'http://127.0.0.1:1',
  asset,
  workMs: 5,
};

test('a seller process takes exactly what it was told', () => {
  assert.deepEqual(readShopConfig({ ...config, more: 1 }), config);
  for (const member of Object.keys(config))
    assert.throws(() => readShopConfig({ ...config, [member]: undefined }), TypeError, member);
});

test('a server listens on a free port of this machine alone, and closes what is open', async () => {
  const server = createServer();
  const port = await listen(server, 0);
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  const closed = once(socket.resume(), 'close');
  socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  await once(server, 'request');
  await closeServer(server);
  await closed;
  await closeServer(server);
});
