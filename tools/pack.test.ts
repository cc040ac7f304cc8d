import assert from 'node:assert/strict';
import { test } from 'node:test';
import { faultsOf, parseListing } from './pack.ts';

const good = ['LICENSE', 'README.md', 'package.json', 'dist/index.js', 'dist/index.d.ts', 'bin/one.mjs'];

test('a tarball with a build, a licence and a README is fine', () => {
  assert.deepEqual(faultsOf(good, 1000), []);
});

test('sources, tests, a missing licence and too many octets are faults', () => {
  for (const extra of ['src/index.ts', 'dist/index.test.js', 'dist/index.ts', 'test/rig.js'])
    assert.deepEqual(faultsOf([...good, extra], 1000), [`${extra} does not belong into the package`]);
  assert.deepEqual(faultsOf(good.slice(1), 1000), ['LICENSE is missing']);
  assert.match(faultsOf(good, 3_000_000).join(), /3000000 octets unpacked/);
});

test('the listing of npm pack is read in both of its shapes, and nothing else is', () => {
  const entry = { filename: 'a-1.0.0.tgz', unpackedSize: 3, files: [{ path: 'LICENSE' }] };
  const read = [{ filename: 'a-1.0.0.tgz', unpacked: 3, paths: ['LICENSE'] }];
  assert.deepEqual(parseListing(JSON.stringify([entry])), read);
  assert.deepEqual(parseListing(JSON.stringify({ a: entry })), read);
  assert.deepEqual(parseListing('[{}]'), []);
});
