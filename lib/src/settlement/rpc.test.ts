import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Http, HttpRequest, HttpResult } from '../world.ts';
import { createRpc, type RpcOptions, type RpcResult } from './rpc.ts';

const url = 'https://rpc.example/key';

function answer(text: string | Uint8Array, status: number = 200): HttpResult {
  const body = typeof text === 'string' ? new TextEncoder().encode(text) : text;
  return { ok: true, status, headers: new Map(), body };
}

function asked(result: HttpResult, more: Partial<RpcOptions> = {}): Promise<RpcResult> {
  return createRpc({ url, http: async () => result, ...more })('eth_blockNumber', []);
}

test('a call is posted as JSON-RPC 2.0 under ever new ids, bounded in time and size', async () => {
  const requests: HttpRequest[] = [];
  const http: Http = async (request) => {
    requests.push(request);
    return answer('{"jsonrpc":"2.0","id":1,"result":"0x10"}');
  };
  const rpc = createRpc({ url, http, headers: { authorization: 'Bearer k' } });
  assert.deepEqual(await rpc('eth_blockNumber', []), { ok: true, value: '0x10' });
  await rpc('eth_call', [{ to: '0x1' }, 'latest']);
  const bodies = requests.map(({ body }) => JSON.parse(new TextDecoder().decode(body)));
  assert.deepEqual(bodies, [
    { jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] },
    { jsonrpc: '2.0', id: 2, method: 'eth_call', params: [{ to: '0x1' }, 'latest'] },
  ]);
  const [first] = requests;
  assert.ok(first);
  assert.deepEqual(
    [first.method, first.url, first.timeoutMs, first.maxBytes],
    ['POST', url, 2_000, 1024 * 1024],
  );
  assert.deepEqual(first.headers, { 'content-type': 'application/json', authorization: 'Bearer k' });
});

test('a result of null is an answer; a missing result is none', async () => {
  assert.deepEqual(await asked(answer('{"id":1,"result":null}')), { ok: true, value: null });
  assert.deepEqual(await asked(answer('{"id":1,"result":null,"error":null}')), { ok: true, value: null });
  assert.equal((await asked(answer('{"id":1}'))).ok, false);
});

const useless: readonly (readonly [string, HttpResult])[] = [
  ['an error', answer('{"id":1,"error":{"code":-32000,"message":"execution reverted: secret"}}')],
  ['an error beside a result', answer('{"id":1,"error":{"code":1},"result":"0x1"}')],
  ['a page', answer('<html>rate limited</html>')],
  ['a list', answer('[{"id":1,"result":"0x1"}]')],
  ['nothing', answer('')],
  ['a key that stands twice', answer('{"result":"0x1","result":"0x2"}')],
  ['octets that are no UTF-8', answer(Uint8Array.of(0xff, 0xfe))],
  ['status 429', answer('{"result":"0x1"}', 429)],
  ['a redirect', answer('{"result":"0x1"}', 307)],
  ['status 500', answer('{"result":"0x1"}', 500)],
  ['a refused connection', { ok: false, sent: false, why: 'connect' }],
  ['a lost connection', { ok: false, sent: true, why: 'reset' }],
  ['silence', { ok: false, sent: true, why: 'timeout' }],
  ['an endless answer', { ok: false, sent: true, why: 'too_large' }],
];
for (const [name, result] of useless) {
  test(`F09: ${name} from a chain's endpoint is no result, and its words are not passed on`, async () => {
    const told = await asked(result);
    assert.ok(!told.ok);
    assert.doesNotMatch(told.why, /secret|rate|html/);
  });
}

test('an endpoint that says no to one call is told apart from one that fails', async () => {
  const no = await asked(answer('{"id":1,"error":{"code":-32000}}'));
  assert.deepEqual(no, { ok: false, why: 'error', declined: true });
  assert.deepEqual(await asked(answer('', 503)), { ok: false, why: 'status 503' });
});

test('the time for one call can be set', async () => {
  let timeoutMs = 0;
  const http: Http = async (request) => {
    timeoutMs = request.timeoutMs;
    return answer('{"result":"0x1"}');
  };
  await createRpc({ url, http, timeoutMs: 500 })('eth_chainId', []);
  assert.equal(timeoutMs, 500);
});

test('an address that is neither http nor https is a mistake of the program', () => {
  const http: Http = async () => answer('');
  for (const wrong of ['', 'ws://rpc.example', 'file:///etc/passwd', 'rpc.example']) {
    assert.throws(() => createRpc({ url: wrong, http }), TypeError);
  }
});
