import assert from 'node:assert/strict';
import { test } from 'node:test';
import { names } from './names.ts';

const check = (path: string): string[] => names({ path, text: '' }).map(({ message }) => message);

test('one lower-case word names a file', () => {
  for (const name of [
    'charge.ts',
    'charge.test.ts',
    'charge.crash.test.ts',
    'v2.ts',
    'guard.mjs',
    'guard.d.mts',
    'README.md',
    'vite.config.js',
  ])
    assert.deepEqual(check(`lib/src/claim/${name}`), [], name);
});

test('two words, capitals and hyphens do not', () => {
  for (const name of ['chargeOnce.ts', 'Charge.ts', 'charge-once.ts', 'charge_once.ts', 'charge.once.ts'])
    assert.deepEqual(check(`lib/src/claim/${name}`), ['a file name is one lower-case word'], name);
});

test('a name that says nothing is a fault', () => {
  for (const name of ['utils.ts', 'helpers.test.ts', 'common.ts', 'types.ts', 'misc.d.ts'])
    assert.match(check(`lib/src/claim/${name}`).join(), /says nothing/, name);
});
