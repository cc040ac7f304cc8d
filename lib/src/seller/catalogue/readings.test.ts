import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readingsOf } from './readings.ts';

test('an honest path is read in one way', () => {
  for (const path of [
    '/',
    '/weather',
    '/item/A-7_b~',
    '/files/a.txt/',
    '/a/b:c@d,e=f&g!',
    `/${'a/'.repeat(3_000)}`,
  ]) {
    assert.deepEqual(readingsOf(path), [path]);
  }
});

/** Each is `/weather`, or `/api/weather`, for somebody. */
const bent: readonly (readonly [path: string, means: string])[] = [
  ['//weather', '/weather'],
  ['/%77eather', '/weather'],
  ['/%2577eather', '/weather'],
  ['/%252577eather', '/weather'],
  ['/%69tem/a%2fb', '/item/a%2fb'],
  ['/item/%20/special%20', '/item/ /special'],
  ['%2fweather', '/weather'],
  ['/%2fweather', '/weather'],
  ['/%5cweather', '/weather'],
  ['/\\weather', '/weather'],
  ['\\weather', '/weather'],
  ['/./weather', '/weather'],
  ['/a/../weather', '/weather'],
  ['/a/%2e%2E/weather', '/weather'],
  ['/a/.%2e/weather', '/weather'],
  ['/a/%252e%252e/weather', '/weather'],
  ['/a%2f..%2fweather', '/weather'],
  ['/weather/x%2f..', '/weather/'],
  // Dots before escapes, and escapes before dots.
  ['/a%2fb/../weather', '/weather'],
  ['/a%2fb/..%2f../weather', '/weather'],
  ['/a/b/..%2f../weather', '/weather'],
  // Empty segments are segments for dots, or are not.
  ['/api/a//../../weather', '/weather'],
  ['/api/a//../../weather', '/api/weather'],
  ['/weather;v=1', '/weather'],
  ['/;/weather', '/weather'],
  ['/a/..;/weather', '/weather'],
  ['/weather;a/b', '/weather'],
  ['/weather%3bv=1', '/weather'],
  ['/weather%3fa=1', '/weather'],
  ['/weather%23a', '/weather'],
  ['/weather%00.png', '/weather'],
  ['/wea%00ther', '/weather'],
  ['/wea%09ther', '/weather'],
  ['/weather%', '/weather'],
  ['/wea%ffther', '/weather'],
  ['/weather%20', '/weather'],
  ['/a/.%09./weather', '/weather'],
  ['/api%c0%afweather', '/api/weather'],
  ['/api\u00c0\u00afweather', '/api/weather'],
  ['/api%u002fweather', '/api/weather'],
  ['/%c0%ae%c0%ae/weather', '/weather'],
  ['/api%ef%bc%8fweather', '/api/weather'],
  ['/%ef%bd%97eather', '/weather'],
  // References to another host, at the root and behind a mount prefix.
  ['//host/weather', '/weather'],
  ['///host:80/weather', '/weather'],
  ['/\\host/weather', '/weather'],
  ['/api//u@h/weather', '/api/weather'],
  ['/api\\u@h/weather', '/api/weather'],
  // Dots that do not climb above a mount prefix.
  ['/api/../weather', '/api/weather'],
  ['/api/a/../../weather', '/api/weather'],
  ['/api/%2e%2e/weather', '/api/weather'],
  // A prefix reads as it stands what those behind it decode.
  ['/a%2fb/api%2fweather', '/a%2fb/api/weather'],
  ['/a\\b/api\\weather', '/a\\b/api/weather'],
];

test('H04: every spelling that is a path for one server has that path among its readings', () => {
  for (const [path, means] of bent) assert.ok(readingsOf(path)?.includes(means), `${path} means ${means}`);
});

test('a path is its own first reading, and none is there twice', () => {
  for (const [path] of bent) {
    const readings = readingsOf(path) ?? [];
    assert.equal(readings[0], path);
    assert.equal(new Set(readings).size, readings.length);
  }
});

test('an encoded URL in a parameter is not too many readings', () => {
  const url = 'https://example.com/2024/05/12/some/page?a=1&b=2#c';
  assert.ok((readingsOf(`/proxy/${encodeURIComponent(url)}`)?.length ?? 99) <= 64);
});

test('a path made to have many readings is given up, and soon', () => {
  const many = [
    '/..;/%2e%2e%2f\\..%5c//a/%252e./;x/..//b/../%2f/c',
    `/${'%2f%5c;'.repeat(1_000)}`,
    `/${'../'.repeat(2_000)}`,
    `/${'//a'.repeat(2_000)}`,
  ];
  for (const path of many) assert.equal(readingsOf(path), undefined, path.slice(0, 60));
});

test('readings are paths, within their limit, whatever the text', () => {
  const piece = fc.constantFrom(
    '/',
    '..',
    '.',
    '%',
    '2f',
    '%2e',
    '\\',
    ';',
    'a',
    '%c0',
    '\u00a0',
    '?',
    '\0',
    '%25',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
      const readings = readingsOf(`/${pieces.join('')}`) ?? [];
      assert.ok(readings.length <= 64 && readings.every((reading) => reading.startsWith('/')));
    }),
    { seed: 6, numRuns: 2_000 },
  );
});
