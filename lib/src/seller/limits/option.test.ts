import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRig } from '../../../test/rig.ts';
import { checkCount, checkNames } from './option.ts';

test('a misspelt limit stops the start and is named, so that none is silently off', () => {
  assert.throws(() => checkNames('limits', { perPayr: 1 }, ['perPayer']), /limits has no member "perPayr"/);
  assert.throws(() => checkNames('limits', null as unknown as object, []), /is an object/);
  for (const value of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '3', 11, undefined]) {
    assert.throws(() => checkCount('n', value, 10), /n must be a whole number from 1 to 10/);
  }
  checkCount('n', 10, 10);
});

test('each option of the limits is checked as the seller is made', () => {
  const wrong: readonly (readonly [object, RegExp])[] = [
    [{ limits: { perIp: 3 } }, /limits has no member "perIp"/],
    [{ limits: 'off' }, /limits is an object/],
    [{ limits: { total: 0 } }, /limits.total/],
    [{ limits: { total: 'off' } }, /limits.total/],
    [{ limits: { perPayer: 1.5 } }, /limits.perPayer/],
    [{ limits: { perAddress: -1 } }, /limits.perAddress/],
    [{ limits: { refused: { tokens: 3 } } }, /limits.refused has no member "tokens"/],
    [{ limits: { refused: { capacity: 0 } } }, /limits.refused.capacity/],
    [{ limits: { refused: { refillMs: 0 } } }, /limits.refused.refillMs/],
    [{ breaker: { rate: 0.5 } }, /breaker has no member "rate"/],
    [{ breaker: { failureRate: 1 } }, /breaker.failureRate/],
    [{ breaker: { failureRate: Number.NaN } }, /breaker.failureRate/],
    [{ breaker: { minimum: 0 } }, /breaker.minimum/],
    [{ breaker: { windowMs: 0.5 } }, /breaker.windowMs/],
    [{ breaker: { coolDownMs: 20_000, maxCoolDownMs: 10_000 } }, /maxCoolDownMs is at least coolDownMs/],
    [{ unpaidRuns: { runs: 3 } }, /unpaidRuns has no member "runs"/],
    [{ unpaidRuns: { limit: 0 } }, /unpaidRuns.limit/],
    [{ unpaidRuns: { open: 10_001 } }, /unpaidRuns.open/],
    [{ unpaidRuns: 'none' }, /unpaidRuns is an object/],
  ];
  for (const [options, fault] of wrong) assert.throws(() => createRig(options), fault);
  createRig({
    limits: { perPayer: 'off', perAddress: 'off', refused: 'off' },
    breaker: 'off',
    unpaidRuns: 'off',
  });
});
