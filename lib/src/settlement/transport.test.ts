import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, type TestContext, test } from 'node:test';
import { openTestShop } from '../../test/shop.ts';
import { createSystem, type System } from '../system.ts';
import { createFacilitator, type FacilitatorCall, type TransportResult } from './facilitator.ts';
import { httpTransport, localTransport, maxFacilitatorBytes } from './transport.ts';

const system: System = await createSystem();
after(() => system.close());

const settleCall: FacilitatorCall = {
  call: 'settle',
  body: { paymentPayload: { payload: {} }, paymentRequirements: { scheme: 'exact' } },
  timeoutMs: 5_000,
};
const calls: readonly FacilitatorCall[] = [
  { call: 'supported' },
  { ...settleCall, call: 'verify' },
  settleCall,
];

async function serve(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Answers come without a prototype, which is nothing that a reader of them would notice. */
function same(actual: TransportResult, expected: TransportResult): void {
  assert.equal(JSON.stringify(actual), JSON.stringify(expected));
}

function ask(url: string, call: FacilitatorCall = settleCall): Promise<TransportResult> {
  return httpTransport({ url, http: system.http })(call);
}

for (const status of [301, 302, 303, 307, 308]) {
  test(`F04: a redirect with status ${status} to another origin gets nothing of a payment, on no call`, async (t) => {
    let strangers = 0;
    const stranger = await serve(t, (_request, response) => {
      strangers += 1;
      response.end('{"success":true}');
    });
    const asked: string[] = [];
    const url = await serve(t, (request, response) => {
      asked.push(`${request.method} ${request.url}`);
      response.writeHead(status, { location: `${stranger}${request.url}` }).end();
    });
    for (const call of calls) {
      assert.deepEqual(await ask(url, call), { kind: 'failed', why: 'redirect' });
    }
    assert.deepEqual(asked, ['GET /supported', 'POST /verify', 'POST /settle']);
    assert.equal(strangers, 0);
  });
}

test('F04: a redirect within the facilitator is not followed either', async (t) => {
  const paths: (string | undefined)[] = [];
  const url = await serve(t, (request, response) => {
    paths.push(request.url);
    response.writeHead(308, { location: '/v2/settle' }).end('{"success":true}');
  });
  assert.deepEqual(await ask(url), { kind: 'failed', why: 'redirect' });
  assert.deepEqual(paths, ['/settle']);
});

test('F04, F07: a seller whose facilitator redirects is closed, and a settle that is redirected is unknown', async (t) => {
  let strangers = 0;
  const stranger = await serve(t, (_request, response) => {
    strangers += 1;
    response.end('{}');
  });
  let redirects: readonly (string | undefined)[] = ['/supported'];
  const url = await serve(t, (request, response) => {
    const [, path = ''] = request.url?.split('/') ?? [];
    if (redirects.includes(request.url)) response.writeHead(307, { location: `${stranger}/${path}` }).end();
    else response.end(JSON.stringify(usual[path]));
  });
  const usual: Record<string, object> = {
    supported: { kinds: [{ x402Version: 2, scheme: 'exact', network: 'eip155:31337' }] },
    verify: { isValid: true },
  };
  const facilitator = createFacilitator(httpTransport({ url, http: system.http }));
  const shop = openTestShop();
  const payment = await shop.payment();
  const seller = shop.rig.another({ facilitator });
  assert.equal((await shop.ask({ seller, payment })).problem.code, 'seller_not_ready');
  redirects = ['/settle'];
  await shop.rig.clock.advance(60_000);
  const unknown = await shop.ask({ seller, payment });
  assert.deepEqual(
    [unknown.status, unknown.problem.code, unknown.required],
    [503, 'settlement_unknown', undefined],
  );
  assert.equal(strangers, 0);
});

const clearText: readonly string[] = [
  'http://facilitator.example.com',
  'http://10.0.0.7:8080',
  'http://0.0.0.0:1',
  'http://[::]:1',
  'http://127.example.com',
  'http://127.0.0.1.example.com',
  'http://localhost.example.com',
  'http://example.com#localhost',
  'ftp://127.0.0.1',
  'ws://127.0.0.1',
  'file:///etc/passwd',
  '127.0.0.1:4021',
  '',
];
for (const url of clearText) {
  test(`F06: a facilitator at ${JSON.stringify(url)} is refused at start-up`, () => {
    assert.throws(() => httpTransport({ url, http: system.http }), TypeError);
  });
}

test('F06: https is accepted anywhere, and http on this machine alone, however it is spelled', () => {
  for (const url of [
    'https://facilitator.example.com/x402/',
    'http://127.0.0.1:4021',
    'http://127.1:4021',
    'http://2130706433',
    'http://127.255.0.9',
    'http://localhost:4021',
    'http://[::1]:4021',
  ]) {
    httpTransport({ url, http: system.http });
  }
});

test('a URL that carries a secret is refused, for it would end up in logs', () => {
  for (const url of [
    'https://user:key@f.example',
    'https://key@f.example',
    'https://f.example?key=1',
    'https://f.example#k',
  ]) {
    assert.throws(() => httpTransport({ url, http: system.http }), /headers/);
  }
});

test('a call is posted as JSON below the configured path, with the configured headers', async (t) => {
  const seen: unknown[] = [];
  const url = await serve(t, async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    seen.push([
      request.method,
      request.url,
      request.headers.authorization,
      request.headers['content-type'],
      text,
    ]);
    response.end('{"ok":true}');
  });
  const transport = httpTransport({
    url: `${url}/x402//`,
    http: system.http,
    headers: { authorization: 'Bearer k' },
  });
  same(await transport({ call: 'supported' }), {
    kind: 'answer',
    status: 200,
    body: { ok: true },
  });
  await transport(settleCall);
  assert.ok(settleCall.call === 'settle');
  assert.deepEqual(seen, [
    ['GET', '/x402/supported', 'Bearer k', undefined, ''],
    ['POST', '/x402/settle', 'Bearer k', 'application/json', JSON.stringify(settleCall.body)],
  ]);
});

type Money = { readonly of: string };
const reader = {
  payment: (): Money => ({ of: 'payment' }),
  requirement: (): Money => ({ of: 'requirement' }),
};
function local(parts: Partial<Parameters<typeof localTransport<Money, Money>>[0]>) {
  const none = async (): Promise<unknown> => undefined;
  return localTransport({ getSupported: () => undefined, verify: none, settle: none, ...parts }, reader);
}

test('a facilitator in this process gets the payment as its own types, and is read as strictly', async () => {
  const seen: unknown[] = [];
  const transport = local({
    getSupported: () => ({ kinds: [] }),
    verify: async (...args) => {
      seen.push(['verify', ...args]);
      return { isValid: true };
    },
    settle: async (...args) => {
      seen.push(['settle', ...args]);
      return { success: true, at: undefined };
    },
  });
  same(await transport({ call: 'supported' }), {
    kind: 'answer',
    status: 200,
    body: { kinds: [] },
  });
  same(await transport({ ...settleCall, call: 'verify' }), {
    kind: 'answer',
    status: 200,
    body: { isValid: true },
  });
  same(await transport(settleCall), { kind: 'answer', status: 200, body: { success: true } });
  const pair = [{ of: 'payment' }, { of: 'requirement' }];
  assert.deepEqual(seen, [
    ['verify', ...pair],
    ['settle', ...pair],
  ]);
});

test('what a facilitator in this process throws, or answers beside JSON, is not known', async () => {
  const odd: readonly (readonly [unknown, TransportResult])[] = [
    [undefined, { kind: 'failed', why: 'threw' }],
    [() => {}, { kind: 'failed', why: 'threw' }],
    [{ amount: 5n }, { kind: 'failed', why: 'threw' }],
    [Object.assign(new Map(), { success: true }), { kind: 'answer', status: 200, body: { success: true } }],
    [{ toJSON: () => 'x' }, { kind: 'answer', status: 200, body: 'x' }],
    ['x'.repeat(maxFacilitatorBytes), { kind: 'answer', status: 200, body: undefined }],
  ];
  for (const [value, expected] of odd) {
    same(await local({ settle: async () => value })(settleCall), expected);
  }
  const throwing = local({
    settle: () => {
      throw new Error('secret');
    },
    verify: () => Promise.reject(new Error('secret')),
  });
  same(await throwing(settleCall), { kind: 'failed', why: 'threw' });
  same(await throwing({ ...settleCall, call: 'verify' }), { kind: 'failed', why: 'threw' });
});

test('a facilitator in this process that never answers keeps no buyer waiting: the settle is unknown', async () => {
  const shop = openTestShop();
  const payment = await shop.payment();
  const real = shop.rig.options.facilitator;
  const never = (): Promise<never> => new Promise(() => {});
  const hangs = shop.rig.another({ facilitator: { ...real, settle: never } });
  const asked = shop.ask({ seller: hangs, payment });
  await shop.rig.clock.advance(31_000);
  const seen = await asked;
  assert.deepEqual(
    [seen.status, seen.problem.code, seen.problem.money],
    [503, 'settlement_unknown', 'unknown'],
  );
  assert.deepEqual([(await shop.ask({ payment })).text, shop.runs()], ['sunny 1', 1]);
  const deaf = shop.rig.another({ facilitator: { ...real, verify: never } });
  const unverified = shop.ask({
    seller: deaf,
    payment: await shop.payment({ nonce: new Uint8Array(32).fill(9) }),
  });
  await shop.rig.clock.advance(31_000);
  assert.deepEqual(
    [(await unverified).status, (await unverified).problem.code],
    [503, 'facilitator_unavailable'],
  );
  const closed = shop.rig.another({ facilitator: { ...real, supported: never } });
  const starting = assert.rejects(closed.ready(), /timeout/);
  await shop.rig.clock.advance(10_000);
  await starting;
});

test('a header that cannot be sent is a mistake at the start, not a facilitator that is never reached', () => {
  const http = async () => ({ ok: false, sent: false, why: 'connect' }) as const;
  for (const headers of [{ authorization: 'Bearer key\n' }, { 'bad name': 'x' }, { accept: 'ü€' }]) {
    assert.throws(() => httpTransport({ url: 'https://facilitator.example.com', http, headers }), TypeError);
  }
});
