import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { freePort, onFreePort } from './port.ts';

test('a port is free, and is none that the system gives to a client while the server is down', async () => {
  const port = await freePort();
  assert.ok(port >= 20_000 && port < 32_000);
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  server.close();
  await once(server, 'close');
});

test('a server that found its port taken is started on another one, thrice at most', async () => {
  const ports: number[] = [];
  const startsAt = (lucky: number) => async (port: number) => {
    ports.push(port);
    if (ports.length < lucky) throw new Error('bind: Address already in use');
    return port;
  };
  assert.equal(await onFreePort(startsAt(3)), ports[2]);
  ports.length = 0;
  await assert.rejects(onFreePort(startsAt(4)), /already in use/);
  assert.equal(ports.length, 3);
  const broken = async (): Promise<never> => {
    throw new Error('bad configuration');
  };
  await assert.rejects(onFreePort(broken), /bad configuration/);
});
