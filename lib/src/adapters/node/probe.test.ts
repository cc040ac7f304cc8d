import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { test } from 'node:test';
import express from 'express';
import { until } from '../rig/wire.ts';
import { createProbe } from './probe.ts';

const asked = {
  method: 'POST',
  target: '//weather/%2e%2e/;v=1?at=%2Fhome',
  headers: [
    ['Host', 'api.example.com'],
    ['X-Tag', 'one'],
    ['x-tag', 'two'],
  ],
  body: new TextEncoder().encode('where?'),
} as const;

test('H05: a probe reaches a listener with its octets as they were given', async () => {
  const probe = createProbe(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    assert.deepEqual([request.method, request.url], ['POST', asked.target]);
    assert.deepEqual(request.rawHeaders.slice(0, 6), asked.headers.flat());
    assert.equal(Buffer.concat(chunks).toString(), 'where?');
    response.writeHead(402, ['X-Mark', '7', 'X-Mark', '8']).end('pay');
  });
  const { status, headers } = await probe(asked);
  assert.equal(status, 402);
  assert.deepEqual(
    headers.filter(([name]) => name === 'x-mark'),
    [
      ['x-mark', '7'],
      ['x-mark', '8'],
    ],
  );
});

test('H05: an application of Express is probed as it is, and what is not mounted is not found', async () => {
  const app = express();
  app.get('/weather', (_request, response) => void response.sendStatus(402));
  const probe = createProbe(app);
  const get = { ...asked, method: 'GET', body: new Uint8Array() };
  assert.equal((await probe({ ...get, target: '/weather' })).status, 402);
  assert.equal((await probe({ ...get, target: '/elsewhere' })).status, 404);
});

test('H05: a listener that throws, rejects, hangs up or never answers fails the probe', async () => {
  const fail = (): never => {
    throw new Error('broken');
  };
  await assert.rejects(createProbe(fail)(asked), /broken/);
  await assert.rejects(createProbe(async () => fail())(asked), /broken/);
  await assert.rejects(createProbe((request) => request.socket.destroy())(asked));
  await assert.rejects(createProbe(() => {}, 30)(asked), /POST .* was not answered within 30 ms/);
});

test('a probe leaves neither a server nor a connection', async () => {
  const seen: IncomingMessage[] = [];
  const servers = (): number =>
    process.getActiveResourcesInfo().filter((name) => name === 'TCPServerWrap').length;
  const before = servers();
  const probe = createProbe((request, response) => {
    seen.push(request);
    response.end('sunny');
  });
  await Promise.all([probe(asked), probe(asked), probe(asked)]);
  await assert.rejects(createProbe((request) => void seen.push(request), 30)(asked));
  await until(() => seen.every(({ socket }) => socket.destroyed) && servers() === before);
  // On a busy machine the last one may have been given up before it arrived.
  assert.ok(seen.length >= 3);
});
