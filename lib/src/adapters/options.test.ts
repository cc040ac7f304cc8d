import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkNames } from './options.ts';

test('an option that nobody reads is a mistake that is named', () => {
  const check = (options: object): void => checkNames('paid', options, ['handler', 'peer']);
  assert.throws(() => check({ pear: 1 }), { name: 'TypeError', message: /paid .*"pear"/ });
  check({ peer: 1 });
  check({});
});
