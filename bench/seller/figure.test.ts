import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addition, median, ratio } from './figure.ts';

test('a median is the middle, of an even number the mean of the two in the middle', () => {
  assert.deepEqual([median([3, 1, 2]), median([4, 1, 3, 2]), median([5])], [2, 2.5, 5]);
  assert.throws(() => median([]), TypeError);
});

test('servers are compared round by round, so that a disturbance of both changes nothing', () => {
  // In the second round the machine was four times as slow.
  assert.equal(ratio([20, 80, 22], [10, 40, 11]), 2);
  assert.equal(addition([20, 80, 22], [10, 40, 11]), 11);
  assert.throws(() => ratio([1, 2], [1]), TypeError);
});
