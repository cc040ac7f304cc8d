import assert from 'node:assert/strict';
import { test } from 'node:test';
import { doorOf, parseManifest, publish } from './manifest.ts';

const tree = {
  name: 'one',
  version: '0.1.0',
  type: 'module',
  license: 'Apache-2.0',
  description: 'words',
  exports: { '.': './src/index.ts', './stores/sqlite': './src/stores/sqlite.ts' },
  dependencies: { two: '1.0.0' },
  peerDependencies: { three: '^1.0.0' },
  devDependencies: { four: '1.0.0' },
  scripts: { test: 'x' },
} as const;

test('the published manifest points at the build and holds nothing that serves the tree only', () => {
  assert.deepEqual(publish(parseManifest('a', JSON.stringify(tree))), {
    name: 'one',
    version: '0.1.0',
    type: 'module',
    license: 'Apache-2.0',
    description: 'words',
    dependencies: { two: '1.0.0' },
    peerDependencies: { three: '^1.0.0' },
    exports: {
      '.': { types: './dist/index.d.ts', default: './dist/index.js' },
      './stores/sqlite': { types: './dist/stores/sqlite.d.ts', default: './dist/stores/sqlite.js' },
      './package.json': './package.json',
    },
    files: ['dist'],
  });
});

test('a command is published with its launcher', () => {
  const published = publish(parseManifest('a', JSON.stringify({ ...tree, bin: { one: 'bin/one.mjs' } })));
  assert.deepEqual(published.files, ['dist', 'bin']);
});

test('a file that is not built stays where it is', () => {
  assert.equal(doorOf('./package.json'), './package.json');
});

test('a manifest that could not be published is refused', () => {
  for (const lacking of [
    { name: undefined },
    { license: undefined },
    { exports: { '.': 1 } },
    { type: 'commonjs' },
    { bin: 'x' },
  ])
    assert.throws(
      () => parseManifest('lib/package.json', JSON.stringify({ ...tree, ...lacking })),
      /TypeError: lib\/package\.json lacks/,
    );
});
