import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answer, Delivery, HeaderList } from '../../seller/index.ts';
import { responseOf } from './respond.ts';

type Noted = { readonly delivery: Delivery; readonly notes: string[] };

function noted(answer: Partial<Answer>): Noted {
  const notes: string[] = [];
  const body = new TextEncoder().encode('sunny');
  return {
    notes,
    delivery: {
      answer: { status: 200, headers: [], body, ...answer },
      written: async (how) => void notes.push(how),
    },
  };
}

const gone = new AbortController().signal;

test('fields from before the gate stay, but none that a cache could act on, and lists go on', async () => {
  const before: HeaderList = [
    ['access-control-allow-origin', '*'],
    ['vary', 'origin'],
    ['set-cookie', 'a=1'],
    ['cache-control', 'public'],
    ['etag', '"1"'],
    ['content-length', '99'],
    ['x-kind', 'plain'],
  ];
  const headers: HeaderList = [
    ['vary', 'PAYMENT-SIGNATURE'],
    ['set-cookie', 'b=2'],
    ['x-kind', 'fancy'],
  ];
  const response = await responseOf(noted({ headers }).delivery, { method: 'GET', gone, before });
  assert.deepEqual(
    [...response.headers],
    [
      ['access-control-allow-origin', '*'],
      ['content-length', '5'],
      ['set-cookie', 'a=1'],
      ['set-cookie', 'b=2'],
      ['vary', 'origin, PAYMENT-SIGNATURE'],
      ['x-kind', 'fancy'],
    ],
  );
});

test('an answer without a body, and one to HEAD, counts as written at once', async () => {
  for (const [answer, method] of [
    [{ status: 204 }, 'GET'],
    [{}, 'HEAD'],
    [{ body: new Uint8Array() }, 'GET'],
  ] as const) {
    const { delivery, notes } = noted(answer);
    const response = await responseOf(delivery, { method, gone });
    assert.deepEqual([response.body, notes], [null, ['complete']]);
  }
});

test('how far a body was taken is told once', async () => {
  const { delivery, notes } = noted({});
  const left = new AbortController();
  const response = await responseOf(delivery, { method: 'GET', gone: left.signal });
  assert.deepEqual(notes, []);
  assert.equal(await response.text(), 'sunny');
  left.abort();
  assert.deepEqual(notes, ['complete']);
});

test('an answer that can never be sent is cut, and the fault is the caller’s', async () => {
  const { delivery, notes } = noted({ headers: [['x-bad', 'a\nb']] });
  await assert.rejects(responseOf(delivery, { method: 'GET', gone }), TypeError);
  assert.deepEqual(notes, ['cut']);
});

test('an answer that nobody watches is whole at once, in octets or in text, with every field as often as it stands', async () => {
  const octets = Uint8Array.of(0xff, 0x00, 0xfe);
  const cookies: HeaderList = [
    ['set-cookie', 'a=1'],
    ['set-cookie', 'b=2'],
  ];
  const problem: HeaderList = [['content-type', 'application/problem+json']];
  const text = '{"title":"größer"}';
  for (const [answer, method, body] of [
    [{ headers: cookies, body: octets }, 'GET', octets],
    [{ headers: problem, body: new TextEncoder().encode(text) }, 'GET', new TextEncoder().encode(text)],
    [{ headers: problem }, 'HEAD', new Uint8Array()],
    [{ status: 204 }, 'GET', new Uint8Array()],
  ] as const) {
    const { delivery, notes } = noted(answer);
    const response = await responseOf({ ...delivery, untracked: true }, { method, gone: undefined });
    assert.deepEqual(new Uint8Array(await response.arrayBuffer()), body);
    assert.equal(
      response.headers.getSetCookie().length,
      'headers' in answer && answer.headers === cookies ? 2 : 0,
    );
    if (response.status !== 204)
      assert.equal(response.headers.get('content-length'), String(delivery.answer.body.length));
    assert.deepEqual(notes, []);
  }
});
