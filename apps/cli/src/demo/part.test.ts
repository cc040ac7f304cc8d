import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asKnown, beside, holds, inform, must, should } from './part.ts';

test('a part holds only if everything that must be so is so, and something must be so', () => {
  assert.equal(holds({ checks: [must('a', 1, 1), inform('b', 2)] }), true);
  assert.equal(holds({ checks: [must('a', 1, 1), must('b', 2, 1)] }), false);
  assert.equal(holds({ checks: [should({ what: 'a', ours: 'x' }, false)] }), false);
  assert.equal(holds({ checks: [inform('a', 1)] }), false);
  assert.equal(holds({ checks: [] }), false);
});

test('a number is not taken for the text of the same digits', () => {
  assert.equal(must('status', '200', 200).holds, false);
});

test("the official seller's figure stands beside ours and decides nothing", () => {
  assert.deepEqual(beside(must('runs', 1, 1), 50), {
    what: 'runs',
    ours: '1',
    holds: true,
    wanted: '1',
    stock: '50',
  });
  assert.deepEqual(asKnown(true), { asKnown: true, notes: [] });
  assert.match(asKnown(false).notes.join(), /otherwise here than version 2\.27\.0/);
});
