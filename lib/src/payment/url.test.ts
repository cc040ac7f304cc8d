import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { compareAuthority, isBindableUrl, parseOrigin, requestUrl } from './url.ts';

type AdapterVector = {
  readonly id: string;
  readonly public_origin: string;
  readonly header_lines: readonly (readonly [string, string])[];
  readonly expect: { readonly request_hash?: string; readonly error?: string };
};
const file = new URL('../../../vectors/http_request_binding_http1.json', import.meta.url);
const vectors = JSON.parse(readFileSync(file, 'utf8')) as {
  readonly http_server_adapter_partial: readonly AdapterVector[];
};
const origin = 'https://api.example.com';

test('the published vectors of the server side: which authorities name our origin', () => {
  assert.equal(vectors.http_server_adapter_partial.length, 28);
  for (const vector of vectors.http_server_adapter_partial) {
    const expected = vector.expect.error === undefined ? 'ours' : 'malformed';
    assert.equal(compareAuthority(vector.public_origin, vector.header_lines), expected, vector.id);
  }
});

test('B06: another host, another port or no host at all is foreign', () => {
  for (const host of ['evil.example', 'api.example.com:8443', 'api.example.com.evil.example', '127.0.0.1']) {
    assert.equal(compareAuthority(origin, [['host', host]]), 'foreign', host);
  }
  assert.equal(compareAuthority(origin, []), 'foreign');
  assert.equal(compareAuthority('http://api.example.com', [['host', 'api.example.com:443']]), 'foreign');
  assert.equal(compareAuthority('http://api.example.com', [['host', 'API.example.com:80']]), 'ours');
  assert.equal(compareAuthority('http://localhost:4021', [['host', 'localhost:4021']]), 'ours');
  assert.equal(compareAuthority('http://[::1]:4021', [['host', '[::1]:4021']]), 'ours');
});

test('two Host lines are malformed, and a scheme other than http or https too', () => {
  const line = ['Host', 'api.example.com'] as const;
  assert.equal(compareAuthority(origin, [line, line]), 'malformed');
  assert.equal(compareAuthority(origin, [line, ['x-forwarded-proto', 'https, gopher']]), 'malformed');
  assert.equal(compareAuthority(origin, [line, ['x-forwarded-host', 'a b']]), 'malformed');
});

test('a public origin is configured in its one canonical spelling', () => {
  for (const good of [origin, 'http://127.0.0.1:4021', 'https://[::1]:8443'])
    assert.equal(parseOrigin(good), good);
  for (const bad of [
    '',
    'api.example.com',
    'https://api.example.com/',
    'https://API.example.com',
    'https://api.example.com:443',
    'https://user@api.example.com',
    'ftp://api.example.com',
    'file:///etc',
    'null',
  ]) {
    assert.throws(() => parseOrigin(bad), { name: 'TypeError', message: /public origin/ });
  }
});

test('the bound URL is the configured origin and the target as it was sent', () => {
  for (const target of ['/', '/article/A?lang=en', '/%2f', '//double', '/a?b={c}|d&e[]=1', '/a;b=(c)']) {
    assert.deepEqual(requestUrl(origin, target), { ok: true, value: `${origin}${target}` });
  }
  for (const target of [
    '',
    '*',
    'x',
    'https://evil.example/',
    '/a#b',
    '/a b',
    '/\u00e9',
    '/a%zz',
    '/a%2',
    '/a\\b',
    '/\n',
  ]) {
    const outcome = requestUrl(origin, target);
    assert.equal(outcome.ok ? 'accepted' : outcome.refusal.code, 'request_malformed', JSON.stringify(target));
  }
  assert.equal(requestUrl(origin, '@evil.example/').ok, false);
  assert.equal(requestUrl(origin, `/${'a'.repeat(8192)}`).ok, false);
});

test('a URL has a host, at most one port below 65536, and nothing before the host', () => {
  for (const good of ['http://a', 'https://a:65535/', 'https://a?x=1', 'https://[::1]/'])
    assert.ok(isBindableUrl(good), good);
  for (const bad of [
    'https://',
    'https:///a',
    'https://a:65536/',
    'https://a:/',
    'https://a:99999999/',
    'https://u:p@a/',
    'https://a@b/',
    'HTTPS://a/',
    'https://[::1/',
    'https://a%41/',
    '//a/b',
    'javascript:alert(1)',
  ]) {
    assert.equal(isBindableUrl(bad), false, bad);
  }
});
