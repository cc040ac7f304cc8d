import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkClosed, checkNames } from './options.ts';

test('an option that nobody reads is a mistake that is named', () => {
  const check = (options: object): void => checkNames('paid', options, ['handler', 'peer']);
  assert.throws(() => check({ pear: 1 }), { name: 'TypeError', message: /paid .*"pear"/ });
  check({ peer: 1 });
  check({});
});

test('S5: a gate before an application must be told what is closed, if only that nothing is', () => {
  for (const options of [undefined, {}, { closed: undefined }, { closed: '/api' }]) {
    assert.throws(() => checkClosed(options), { name: 'TypeError', message: /needs closed/ });
  }
  checkClosed({ closed: [] });
  checkClosed({ closed: ['/'] });
});
