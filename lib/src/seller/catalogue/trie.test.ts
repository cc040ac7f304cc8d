import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parsePattern } from './pattern.ts';
import { createTrie, placeOf, type Trie, walk } from './trie.ts';

function trieOf(paths: readonly string[]): Trie<string> {
  const trie = createTrie(({ path }) => path);
  for (const path of paths) placeOf(trie, parsePattern(path));
  return trie;
}

function found(trie: Trie<string>, path: string): readonly string[] {
  return walk(trie, path)
    .matches.map(({ place, needs }) => `${place}${needs === 0 ? '' : ' perhaps'}`)
    .sort();
}

test('every pattern that a path matches is found', () => {
  const trie = trieOf(['/', '/a', '/:x', '/a/b', '/a/:y', '/:x/b', '/a/*', '/*']);
  assert.deepEqual(found(trie, '/'), ['/', '/* perhaps']);
  assert.deepEqual(found(trie, '/a'), ['/*', '/:x', '/a', '/a/* perhaps']);
  assert.deepEqual(found(trie, '/z'), ['/*', '/:x']);
  assert.deepEqual(found(trie, '/a/b'), ['/*', '/:x/b', '/a/*', '/a/:y', '/a/b']);
  assert.deepEqual(found(trie, '/a/b/c'), ['/*', '/a/*']);
});

test('another letter case and a slash at the end are matches for some servers only', () => {
  const trie = trieOf(['/a/b', '/files/*', '/:x']);
  assert.deepEqual(found(trie, '/A/b'), ['/a/b perhaps']);
  assert.deepEqual(found(trie, '/a/b/'), ['/a/b perhaps']);
  assert.deepEqual(found(trie, '/files'), ['/:x', '/files/* perhaps']);
  assert.deepEqual(found(trie, '/files/'), ['/:x perhaps', '/files/* perhaps']);
  assert.deepEqual(found(trie, '/files/a/'), ['/files/*']);
});

test('each letter of another case is a liberty of its own', () => {
  const needs = (path: string): number => walk(trieOf(['/a/b']), path).matches[0]?.needs ?? 0;
  assert.notEqual(needs('/A/b'), needs('/a/B'));
  assert.equal(needs('/A/B'), needs('/A/b') | needs('/a/B'));
});

test('H04: letters that become ASCII in the other case are found', () => {
  assert.deepEqual(found(trieOf(['/market/sale']), '/mar\u212aet/\u017fale'), ['/market/sale perhaps']);
});

test('an empty segment is matched by nothing but a rest', () => {
  const trie = trieOf(['/:x/:y', '/a/*']);
  assert.deepEqual(found(trie, '//b'), []);
  assert.deepEqual(found(trie, '/b//'), []);
  assert.deepEqual(found(trie, '/a//'), ['/a/*']);
});

test('one path has one place, whatever its parameters are called', () => {
  const trie = trieOf(['/item/:id']);
  assert.equal(placeOf(trie, parsePattern('/item/:other')), '/item/:id');
});

test('a literal that is written in two letter cases is a mistake', () => {
  const trie = trieOf(['/Item/:id']);
  assert.throws(() => placeOf(trie, parsePattern('/item/new')), /writes "item" where another writes "Item"/);
});

test('a look-up among a thousand routes visits as many nodes as one among ten', () => {
  const routes = (count: number): readonly string[] =>
    Array.from({ length: count }, (_none, at) => `/v1/shop${at}/:tenant/items/:id`);
  const visited = (count: number): readonly number[] => {
    const trie = trieOf([...routes(count), '/v1/:any/*']);
    return ['/v1/shop7/a/items/b', '/v1/shop7/a', '/v1/none/a/items/b', '/none'].map(
      (path) => walk(trie, path).visited,
    );
  };
  assert.deepEqual(visited(1_000), visited(10));
  // The root, then at most a literal and a parameter a segment.
  assert.ok(visited(1_000).every((count) => count <= 1 + 2 * 5));
});

test('a path of many segments does not make the walk longer than the tree is deep', () => {
  const trie = trieOf(['/:a/:b/:c', '/a/:b/c', '/a/a/:c', '/:a/a/*']);
  const { visited } = walk(trie, `/${'a/'.repeat(4_000)}`);
  assert.ok(visited <= 14, String(visited));
});
