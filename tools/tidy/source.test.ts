import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isTest, lineAt, parse, plant, walk } from './source.ts';

test('every node is visited once, parents before children, with its ancestors', () => {
  const { program } = parse('a.ts', 'export const one = (two: string) => two.length;');
  const seen: string[] = [];
  walk(program, (at, ancestors) => seen.push(`${ancestors.length} ${at.type}`));
  assert.equal(seen[0], '0 Program');
  assert.ok(seen.includes('4 ArrowFunctionExpression'), seen.join('\n'));
  assert.equal(seen.filter((one) => one.endsWith('MemberExpression')).length, 1);
});

test('a file that does not parse is an error that names the file', () => {
  assert.throws(() => parse('broken.ts', 'const = ;'), /SyntaxError: broken\.ts/);
});

test('lines count from 1', () => {
  const text = { path: 'a', text: 'one\ntwo\nthree' };
  assert.deepEqual(
    [0, 3, 4, 8].map((offset) => lineAt(text, offset)),
    [1, 1, 2, 3],
  );
});

test('declaration files and documents are texts without a syntax tree', () => {
  const tree = plant(
    [
      { path: 'a.d.mts', text: '' },
      { path: 'b.md', text: '' },
      { path: 'c.ts', text: '' },
    ],
    ['d.png'],
  );
  assert.deepEqual(
    tree.sources.map(({ path }) => path),
    ['c.ts'],
  );
  assert.deepEqual([...tree.files], ['a.d.mts', 'b.md', 'c.ts', 'd.png']);
});

test('tests are known by their name, and what only tests use by its folder', () => {
  for (const path of [
    'lib/src/a.test.ts',
    'lib/test/b.ts',
    'apps/dev-net/src/interop/c.ts',
    'lib/src/a/rig/d.ts',
  ])
    assert.equal(isTest(path), true, path);
  for (const path of ['lib/src/test.ts', 'lib/src/rigs/a.ts', 'tools/test.ts', 'lib/src/interop.ts'])
    assert.equal(isTest(path), false, path);
});
