import assert from 'node:assert/strict';
import { test } from 'node:test';
import { beside } from './beside.ts';
import { plant } from './source.ts';

const code = 'export function a(): void {}';
const check = (...entries: [string, string][]): string[] =>
  beside(plant(entries.map(([path, text]) => ({ path, text })))).map(({ message }) => message);

test('a source without a test beside it is a fault, wherever it lives', () => {
  for (const folder of ['lib/src/claim', 'apps/cli/src', 'apps/dev-net/bin', 'tools/tidy', 'model'])
    assert.deepEqual(check([`${folder}/take.ts`, code]), [`${folder}/take.test.ts is missing`]);
  assert.equal(check(['lib/src/claim/take.ts', code], ['lib/src/take.test.ts', '']).length, 1);
  assert.equal(check(['lib/src/claim/take.ts', code], ['lib/src/claim/takes.test.ts', '']).length, 1);
});

test('a test of the same name beside it is enough, whole or in parts', () => {
  assert.deepEqual(check(['lib/src/claim/take.ts', code], ['lib/src/claim/take.test.ts', '']), []);
  assert.deepEqual(check(['lib/src/claim/take.ts', code], ['lib/src/claim/take.crash.test.ts', '']), []);
});

test('an index, types and plain constants need no test', () => {
  assert.deepEqual(check(['lib/src/claim/index.ts', code]), []);
  assert.deepEqual(
    check(['lib/src/claim/record.ts', "import type { B } from './b.ts'; export type A = () => B;"]),
    [],
  );
  assert.deepEqual(check(['lib/src/wire/v2.ts', "export const header = 'payment-required';"]), []);
  assert.equal(check(['lib/src/claim/record.ts', 'export const a = b();']).length, 1);
});

test('the contract suite of the stores is run by their tests and has none of its own', () => {
  assert.deepEqual(
    check(['lib/src/stores/conformance.ts', code], ['lib/src/stores/conformance/take.ts', code]),
    [],
  );
  assert.equal(check(['lib/src/stores/conformances.ts', code]).length, 1);
});
