import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type TestContext, test } from 'node:test';
import { octets, open, serve, until } from '../rig/wire.ts';
import { goneSignal } from './gone.ts';

type Visit = {
  readonly response: ServerResponse;
  readonly request: IncomingMessage;
  readonly gone: AbortSignal;
};

async function visitsOf(t: TestContext): Promise<{ readonly port: number; readonly visits: Visit[] }> {
  const visits: Visit[] = [];
  const port = await serve(t, (request, response) => {
    visits.push({ request, response, gone: goneSignal(request, response) });
  });
  return { port, visits };
}

test('S10: every request of a connection hears that it has closed, those that wait for their turn too', async (t) => {
  const { port, visits } = await visitsOf(t);
  const wire = open(port);
  wire.send(octets({ connection: 'keep-alive' }).repeat(20));
  await until(() => visits.length === 20);
  assert.ok(visits.every(({ gone }) => !gone.aborted));
  wire.socket.destroy();
  await until(() => visits.every(({ gone }) => gone.aborted));
});

test('a client that leaves after its answer is not gone for that request', async (t) => {
  const { port, visits } = await visitsOf(t);
  const wire = open(port);
  wire.send(octets({ connection: 'keep-alive' }));
  await until(() => visits.length === 1);
  visits[0]?.response.end();
  await wire.answers(1);
  wire.send(octets({ connection: 'keep-alive' }));
  await until(() => visits.length === 2);
  wire.socket.destroy();
  await until(() => visits[1]?.gone.aborted === true);
  assert.equal(visits[0]?.gone.aborted, false);
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
  assert.equal(goneSignal(visit.request, visit.response).aborted, true);
});
