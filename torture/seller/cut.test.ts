import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { cutShort, longAnswer } from './cut.ts';

test('half of a long answer leaves, and what is short or not due leaves whole', async (t) => {
  let due = false;
  const take = (): boolean => {
    const taken = due;
    due = false;
    return taken;
  };
  const server = createServer((request, response) => {
    if (request.url === '/long') cutShort(request.socket, take, () => request.socket.destroy());
    const size = request.url === '/long' ? 4 * longAnswer : 10;
    response.writeHead(200, { 'content-length': size });
    response.end(Buffer.alloc(size, 65));
  });
  server.listen(0, '127.0.0.1');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  await once(server, 'listening');
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  const url = `http://127.0.0.1:${address.port}`;
  assert.equal((await (await fetch(`${url}/long`)).text()).length, 4 * longAnswer);
  due = true;
  assert.equal((await (await fetch(`${url}/short`)).text()).length, 10);
  const response = await fetch(`${url}/long`);
  assert.equal(response.status, 200);
  const bytes = await readAll(response);
  assert.deepEqual([bytes.length, bytes.whole], [2 * longAnswer, false]);
});

async function readAll(response: Response): Promise<{ length: number; whole: boolean }> {
  let length = 0;
  try {
    for await (const chunk of response.body ?? []) length += chunk.length;
    return { length, whole: true };
  } catch {
    return { length, whole: false };
  }
}
