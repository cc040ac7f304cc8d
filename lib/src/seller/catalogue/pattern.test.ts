import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { checkPattern, covers, fillPattern, overlaps, parsePattern } from './pattern.ts';

const good = [
  '/',
  '/weather',
  '/v1.0/chat-completions/~me_',
  '/item/:id',
  '/:a/:b_2/fixed',
  '/files/*',
  '/files/*rest',
  '/*',
  '/:tenant/files/*path',
];

const wrong: readonly (readonly [path: string, why: RegExp])[] = [
  ['', /starts with/],
  ['weather', /starts with/],
  ['/weather/', /does not end/],
  ['//weather', /empty segments/],
  ['/a//b', /empty segments/],
  ['/a/../b', /names another path/],
  ['/./b', /names another path/],
  ['/a/:', /no ":name"/],
  ['/a/:1', /no ":name"/],
  ['/a/:id?', /no ":name"/],
  ['/a/:id.json', /no ":name"/],
  ['/a/:id{[0-9]+}', /no ":name"/],
  ['/a/:id(\\d+)', /no ":name"/],
  ['/{*path}', /no "\*name"/],
  ['/a/*/b', /last segment/],
  ['/a/*rest/b', /last segment/],
  ['/a*', /no literal/],
  ['/a/:id/:id', /twice/],
  ['/a/:id/*id', /twice/],
  ['/caf\u00e9', /no literal/],
  ['/caf%C3%A9', /no literal/],
  ['/a b', /no literal/],
  ['/a;b', /no literal/],
  ['/a?b', /no literal/],
  ['/a#b', /no literal/],
  ['/a\\b', /no literal/],
  ['/@me', /no literal/],
  [`/${'a/'.repeat(30)}a`, /segments/],
  [`/${'a'.repeat(1100)}`, /characters/],
];

test('a path of literals, parameters and a rest is a pattern', () => {
  for (const path of good) assert.doesNotThrow(() => checkPattern(path), path);
});

test('H04: a path that frameworks read in several ways is refused at the start, and says why', () => {
  for (const [path, why] of wrong) {
    assert.throws(
      () => checkPattern(path),
      (fault) => fault instanceof TypeError && fault.message.includes(`"${path}"`) && why.test(fault.message),
      path,
    );
  }
});

test('a pattern is filled to a target that it matches', () => {
  assert.equal(fillPattern('/'), '/');
  assert.equal(fillPattern('/item/:id'), '/item/probe');
  assert.equal(fillPattern('/item/:id', { id: 'a/b c' }), '/item/a%2Fb%20c');
  assert.equal(fillPattern('/files/*rest'), '/files/probe');
  assert.equal(fillPattern('/files/*rest', { rest: 'a/b c' }), '/files/a/b%20c');
  assert.equal(fillPattern('/files/*', { '*': 'a' }), '/files/a');
});

test('a value without a place, or without a character, is a mistake', () => {
  assert.throws(() => fillPattern('/item/:id', { name: 'x' }), /has no "name"/);
  assert.throws(() => fillPattern('/item/:id', { id: '' }), /"id" needs a value/);
  assert.equal(fillPattern('/item/:toString'), '/item/probe');
});

test('a pattern covers what is narrower than itself', () => {
  const pairs: readonly (readonly [outer: string, inner: string, covers: boolean])[] = [
    ['/a', '/a', true],
    ['/a', '/A', true],
    ['/a', '/b', false],
    ['/a', '/a/b', false],
    ['/a/b', '/a', false],
    ['/:x', '/a', true],
    ['/:x', '/:y', true],
    ['/a', '/:x', false],
    ['/:x/:y', '/a', false],
    ['/*', '/', true],
    ['/*', '/a/b/c', true],
    ['/*', '/*', true],
    ['/a/*', '/a', true],
    ['/a/*', '/a/b/*', true],
    ['/a/b/*', '/a/*', false],
    ['/a/:x', '/a/*', false],
    ['/:x/*', '/a/*', true],
  ];
  for (const [outer, inner, expected] of pairs) {
    const [one, other] = [parsePattern(outer), parsePattern(inner)];
    assert.equal(covers(one, other), expected, `${outer} covers ${inner}`);
    if (expected) assert.ok(overlaps(one, other) && overlaps(other, one), `${outer} overlaps ${inner}`);
  }
});

test('two patterns overlap where one path could be both', () => {
  const pairs: readonly (readonly [one: string, other: string, overlap: boolean])[] = [
    ['/:a/x', '/y/:b', true],
    ['/:a/x', '/y/z', false],
    ['/a/*', '/:b', true],
    ['/a/b/*', '/a', false],
    ['/a/b/*', '/:x/:y', true],
    ['/a', '/a/b', false],
  ];
  for (const [one, other, expected] of pairs) {
    assert.equal(overlaps(parsePattern(one), parsePattern(other)), expected, `${one} and ${other}`);
    assert.equal(overlaps(parsePattern(other), parsePattern(one)), expected, `${other} and ${one}`);
  }
});

test('whatever is no pattern is a TypeError and nothing else', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      try {
        checkPattern(`/${text}`);
      } catch (fault) {
        assert.ok(fault instanceof TypeError);
      }
    }),
    { seed: 4, numRuns: 2_000 },
  );
});
