import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createProbe } from './probe.ts';

const asked = {
  method: 'POST',
  target: '/weather?at=%2Fhome',
  headers: [
    ['Host', 'api.example.com'],
    ['X-Tag', 'one'],
  ],
  body: new TextEncoder().encode('where?'),
} as const;

test('H05: a probe comes to a fetch handler as a client’s request would', async () => {
  let canceled = false;
  const probe = createProbe(async (request) => {
    const { method, url, headers } = request;
    const seen = [method, url, headers.get('host'), headers.get('x-tag'), await request.text()];
    assert.deepEqual(seen, [
      'POST',
      'http://api.example.com/weather?at=%2Fhome',
      'api.example.com',
      'one',
      'where?',
    ]);
    const body = new ReadableStream({
      cancel: () => {
        canceled = true;
      },
    });
    return new Response(body, { status: 402, headers: { 'x-mark': '7' } });
  });
  assert.deepEqual(await probe(asked), { status: 402, headers: [['x-mark', '7']] });
  assert.equal(canceled, true);
});

test('H05: a handler that throws, or never answers, fails the probe by its method and target', async () => {
  const broken = createProbe(() => {
    throw new Error('broken');
  });
  await assert.rejects(broken(asked), /broken/);
  let stopped: AbortSignal | undefined;
  const silent = createProbe((request) => {
    stopped = request.signal;
    return new Promise(() => {});
  }, 20);
  await assert.rejects(silent(asked), /POST \/weather\?at=%2Fhome was not answered within 20 ms/);
  assert.equal(stopped?.aborted, true);
});
