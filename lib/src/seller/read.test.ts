import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { answerOf, createRig, read, requestOf } from '../../test/rig.ts';
import type { HeaderList } from './message.ts';
import { RequestFault, readJson, readQuery } from './read.ts';

const json: HeaderList = [['content-type', 'application/json']];
const url = 'https://api.example.com/chat';

function reading(body: string | Uint8Array, headers: HeaderList = json): unknown {
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  return readJson({ url, headers, body: bytes });
}

test('B11: JSON that says so is read, whatever its registered name', () => {
  for (const type of [
    'application/json',
    'Application/JSON; charset=UTF-8',
    'application/ld+json',
    'application/json;charset="utf-8"',
  ]) {
    assert.deepEqual(
      { ...(reading('{"model":"small"}', [['content-type', type]]) as object) },
      { model: 'small' },
    );
  }
});

test('B11, P02: what two parsers could read in two ways is refused', () => {
  const cases: readonly [string | Uint8Array, HeaderList][] = [
    ['{"model":"small"}', [['content-type', 'text/plain']]],
    ['{"model":"small"}', []],
    ['{"model":"small"}', [['content-type', 'application/json; charset=utf-16']]],
    ['{"model":"small"}', [...json, ...json]],
    ['{"model":"small"}', [...json, ['content-encoding', 'gzip']]],
    ['{"model":"small","model":"large"}', json],
    ['{"a":{"model":"small","model":"large"}}', json],
    ['{"model":"small"', json],
    ['', json],
    ['{"__proto__":{"model":"large"}}', json],
    [Uint8Array.of(0x22, 0xc0, 0xaf, 0x22), json],
  ];
  for (const [body, headers] of cases) assert.throws(() => reading(body, headers), RequestFault);
});

test('B11: a query is read as a form, and a name that comes twice is refused', () => {
  const query = (text: string): unknown => [...readQuery({ url: `${url}?${text}` })];
  assert.deepEqual(query('tier=free&q=a%20b+c&empty=&bare'), [
    ['tier', 'free'],
    ['q', 'a b c'],
    ['empty', ''],
    ['bare', ''],
  ]);
  assert.deepEqual([...readQuery({ url })], []);
  for (const text of [
    'tier=free&tier=gold',
    'tier=free&%74ier=gold',
    'tier&tier=gold',
    'a=%zz',
    'a=%c0%af',
  ]) {
    assert.throws(() => query(text), RequestFault, text);
  }
});

test('B11: every query without a repeated name is read as URLSearchParams reads it', () => {
  const pairs = fc.uniqueArray(fc.tuple(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' })), {
    selector: ([name]) => name,
  });
  fc.assert(
    fc.property(pairs, (drawn) => {
      const text = new URLSearchParams(drawn).toString();
      assert.deepEqual([...readQuery({ url: `${url}?${text}` })], [...new URLSearchParams(text)]);
    }),
  );
});

test('B11: duplicate parameters, text that hides JSON and unknown models are a 400, and never a default price', async () => {
  const rig = createRig();
  const prices = new Map([
    ['small', '$0.01'],
    ['large', '$1'],
  ]);
  const route = rig.seller.route({
    method: 'POST',
    path: '/chat',
    parse: (request) => {
      const body = readJson(request);
      const model = typeof body === 'object' && body !== null && 'model' in body ? body.model : undefined;
      const tier = readQuery(request).get('tier');
      if (typeof model !== 'string' || !prices.has(model)) throw new RequestFault('There is no such model.');
      return { model, tier };
    },
    price: ({ model }) => prices.get(model) ?? assert.fail('no price'),
  });
  const ask = async (body: string, headers: HeaderList = json, target: string = '/chat') => {
    const request = requestOf({ method: 'POST', target, body, headers });
    return read(rig.seller.charge(route, request, async () => answerOf('talk')));
  };
  assert.equal((await ask('{"model":"small"}')).required?.accepts[0]?.amount, 10_000n);
  const refused = [
    await ask('{"model":"small","model":"large"}'),
    await ask('{"model":"large"}', [['content-type', 'text/plain']]),
    await ask('{"model":"huge"}'),
    await ask('{"model":"large"}', json, '/chat?tier=free&tier=gold'),
  ];
  for (const seen of refused) {
    assert.deepEqual([seen.status, seen.problem.code], [400, 'request_malformed']);
    assert.equal(seen.required, undefined);
  }
  assert.match(String(refused[2]?.problem.detail), /no such model/);
});
