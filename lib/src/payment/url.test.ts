import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isBindableUrl, parseAuthority, parseOrigin, requestUrl } from './url.ts';

const origin = 'https://api.example.com';

test('B06: an authority is a host and perhaps a port, and nothing that a parser could read in another way', () => {
  assert.deepEqual(parseAuthority('API.Example.com'), { host: 'api.example.com' });
  assert.deepEqual(parseAuthority('api.example.com:443'), { host: 'api.example.com', port: 443 });
  assert.deepEqual(parseAuthority('[2001:DB8::1]:8443'), { host: '[2001:db8::1]', port: 8443 });
  assert.deepEqual(parseAuthority('localhost:0'), { host: 'localhost', port: 0 });
  assert.deepEqual(parseAuthority(`${'a'.repeat(253)}:65535`)?.port, 65_535);
  for (const bad of [
    '',
    ':443',
    'api.example.com:',
    'api.example.com:65536',
    'api.example.com:443:443',
    'api.example.com:+443',
    'user@api.example.com',
    '@api.example.com',
    'api.example.com/',
    'api.example.com?',
    'api.example.com#',
    'api.example.com\\',
    'api%2eexample.com',
    'api.example.com ',
    'api.example.com\r\n',
    'api.example.com, evil.example',
    'b\u00fccher.example',
    '[::1',
    '::1',
    '[fe80::1%25eth0]',
    'a'.repeat(260),
  ]) {
    assert.equal(parseAuthority(bad), undefined, JSON.stringify(bad));
  }
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
