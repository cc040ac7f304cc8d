import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readTarget } from './target.ts';

test('the path of a target ends at its query', () => {
  assert.deepEqual(readTarget('/a/b'), { kind: 'path', path: '/a/b', malformed: false });
  assert.deepEqual(readTarget('/a?b?c/../d'), { kind: 'path', path: '/a', malformed: false });
  assert.deepEqual(readTarget('/?'), { kind: 'path', path: '/', malformed: false });
});

test('H04: a target in absolute form keeps its host for the readings to drop', () => {
  for (const authority of ['shop.example', 'SHOP.example:80', '[::1]:8080', 'a_b-c.example:']) {
    assert.deepEqual(readTarget(`http://${authority}/a?b`), {
      kind: 'path',
      path: `//${authority}/a`,
      malformed: false,
    });
  }
  assert.deepEqual(readTarget('http://shop.example?x'), {
    kind: 'path',
    path: '//shop.example',
    malformed: false,
  });
});

test('H04: what no client sends as a target is not read', () => {
  const texts = [
    '',
    'weather',
    '?a',
    '*a',
    '\\weather',
    '%2fweather',
    '/weather#',
    '/weather#/../a',
    '/weather?a#b',
    '/{xx/Aweather#',
    '/api//u@h/weather#',
    '/a b',
    '/a\tb',
    '/a\r\nb',
    '/a\0',
    '/a\x7f',
    '/a\x85',
    '/a\u00a0',
    '/a\ufeff',
    'http:',
    'http://',
    'http:/weather',
    'http:weather',
    'http:///weather',
    'http:\\\\shop.example\\weather',
    'http://shop.example\\weather',
    'http://u@shop.example/weather',
    'http://shop.example;x/weather',
    "http://shop.example/'xx/A/weather",
    'http://shop.example/{xx/A/weather',
    `/${'a'.repeat(9_000)}`,
  ];
  for (const text of texts) assert.deepEqual(readTarget(text), { kind: 'unreadable' }, JSON.stringify(text));
});

test('a question about the server as a whole is known as one', () => {
  assert.deepEqual(readTarget('*'), { kind: 'server' });
});

test('H04: what some server cannot decode is malformed', () => {
  for (const path of [
    '/%',
    '/%zz',
    '/%2',
    '/a%00b',
    '/%ff',
    '/%c0%af',
    '/%ed%a0%80',
    '/caf\u00e9',
    '/\u20ac',
  ]) {
    assert.deepEqual(readTarget(path), { kind: 'path', path, malformed: true }, path);
  }
  for (const path of ['/caf%C3%A9', '/100%25', '/a%2fb', '/a\\b', '/{a}|"^`<>']) {
    assert.deepEqual(readTarget(path), { kind: 'path', path, malformed: false }, path);
  }
});
