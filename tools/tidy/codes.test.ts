import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codes, codesOf, page } from './codes.ts';
import { parse, plant } from './source.ts';

const table =
  'export const problems = { one_code: row(1, { nested: 1 }), two_code: row(2) } as const satisfies R;';
const parts = {
  'lib/src/problem.ts': table,
  'lib/src/seller/charge.ts': "refuse('one_code'); refuse('two_code');",
  'lib/src/seller/charge.test.ts': "test('C01: one_code is said', () => { a(result.code, 'two_code'); });",
  [page]: '| `one_code` |\n| `two_code` |',
};
const check = (changed: Record<string, string>): string[] => {
  const entries = Object.entries({ ...parts, ...changed }).map(([path, text]) => ({ path, text }));
  return codes(plant(entries)).map(({ message }) => message);
};

test('the codes are read from the table in its order', () => {
  assert.deepEqual(codesOf(parse('a.ts', table)), ['one_code', 'two_code']);
});

test('a code that is produced, tested and documented is fine', () => {
  assert.deepEqual(check({}), []);
});

test('a code that nothing produces, tests or documents is a fault', () => {
  assert.deepEqual(check({ 'lib/src/seller/charge.ts': "refuse('one_code');" }), [
    'two_code: no source produces it',
  ]);
  assert.deepEqual(check({ 'lib/src/seller/charge.ts': "refuse('one_code'); type A = 'two_code';" }), [
    'two_code: no source produces it',
  ]);
  assert.deepEqual(check({ 'lib/src/seller/charge.test.ts': "test('one_code', b);" }), [
    'two_code: no test shows it',
  ]);
  assert.deepEqual(check({ [page]: '`one_code`' }), [`two_code: ${page} does not list it`]);
});
