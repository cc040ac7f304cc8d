import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type TestContext, test } from 'node:test';
import { octets, open, serve, until } from '../rig/wire.ts';
import { type Client, clientOf } from './gone.ts';

type Visit = {
  readonly response: ServerResponse;
  readonly request: IncomingMessage;
  readonly client: Client;
  readonly forget: () => void;
  left: boolean;
};

async function visitsOf(t: TestContext): Promise<{ readonly port: number; readonly visits: Visit[] }> {
  const visits: Visit[] = [];
  const port = await serve(t, (request, response) => {
    const client = clientOf(request);
    const forget = client.onLeave(() => {
      visit.left = true;
    });
    const visit: Visit = { request, response, client, forget, left: false };
    visits.push(visit);
  });
  return { port, visits };
}

test('S10: every request of a connection hears that it has closed, those that wait for their turn too', async (t) => {
  const { port, visits } = await visitsOf(t);
  const wire = open(port);
  wire.send(octets({ connection: 'keep-alive' }).repeat(20));
  await until(() => visits.length === 20);
  assert.ok(visits.every(({ left, client }) => !left && !client.gone()));
  assert.equal(
    visits[0]?.request.socket.listenerCount('close'),
    visits[19]?.request.socket.listenerCount('close'),
  );
  wire.socket.destroy();
  await until(() => visits.every(({ left }) => left));
  assert.ok(visits.every(({ client }) => client.gone()));
});

test('a request that has its answer does not hear that its client leaves', async (t) => {
  const { port, visits } = await visitsOf(t);
  const wire = open(port);
  wire.send(octets({ connection: 'keep-alive' }));
  await until(() => visits.length === 1);
  visits[0]?.response.end();
  visits[0]?.forget();
  await wire.answers(1);
  wire.send(octets({ connection: 'keep-alive' }));
  await until(() => visits.length === 2);
  wire.socket.destroy();
  await until(() => visits[1]?.left === true);
  assert.equal(visits[0]?.left, false);
});

test('a client that has left already is gone from the start', async (t) => {
  const { port, visits } = await visitsOf(t);
  const wire = open(port);
  wire.send(octets());
  await until(() => visits.length === 1);
  wire.socket.destroy();
  await until(() => visits[0]?.request.socket.destroyed === true);
  const [visit] = visits;
  assert.ok(visit);
  assert.equal(clientOf(visit.request).gone(), true);
});
