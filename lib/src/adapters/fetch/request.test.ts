import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WorkContext } from '../../seller/index.ts';
import { partsOf, pricedRequest, sellerRequest } from './request.ts';

test('H04: the target is the URL as it stands, less its authority and its fragment', () => {
  const cases = {
    'https://a.example/weather?at=%2fhome&at=#here': ['a.example', '/weather?at=%2fhome&at='],
    'http://a.example:8080//p;v=1?#': ['a.example:8080', '//p;v=1?'],
    'http://a.example': ['a.example', ''],
    'http://[::1]:80/?a=//b': ['[::1]:80', '/?a=//b'],
    'http://a.example/a%2F..%2fb/%5C#?x': ['a.example', '/a%2F..%2fb/%5C'],
  };
  for (const [url, [authority, target]] of Object.entries(cases))
    assert.deepEqual(partsOf(url), { authority, target });
});

test('R02: where a platform keeps Host to itself, the seller is told the authority of the URL', () => {
  const plain = sellerRequest(new Request('https://api.example.com:8443/p'));
  assert.deepEqual(plain.headers, [['host', 'api.example.com:8443']]);
  assert.equal('peer' in plain, false);
  const told = new Request('https://inner.example/p', { headers: { Host: 'api.example.com', 'x-a': '1' } });
  assert.deepEqual(sellerRequest(told, { peer: '192.0.2.1' }).headers, [
    ['host', 'api.example.com'],
    ['x-a', '1'],
  ]);
  assert.equal(sellerRequest(told, { peer: '192.0.2.1' }).peer, '192.0.2.1');
});

test('H11: a target that a server has made a URL of is judged as it was', () => {
  const made = new Request('http://evil.example/p', { headers: { Host: 'api.example.com' } });
  assert.equal(sellerRequest(made).target, '/p');
  assert.equal(sellerRequest(made, { target: 'http://evil.example/p' }).target, 'http://evil.example/p');
});

test('the work is given the request that was priced, octet for octet', async () => {
  const stop = new AbortController();
  const request = {
    method: 'PUT',
    url: 'https://api.example.com/p?q=%2f',
    headers: [['x-tag', 'one']] as const,
    body: new TextEncoder().encode('hello'),
  };
  const priced = pricedRequest({ request, signal: stop.signal } as unknown as WorkContext<unknown>);
  assert.deepEqual([priced.method, priced.url, await priced.text()], ['PUT', request.url, 'hello']);
  assert.equal(priced.headers.get('x-tag'), 'one');
  stop.abort();
  assert.equal(priced.signal.aborted, true);
});
