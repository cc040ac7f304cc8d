import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatSpan, formatTime } from './time.ts';

test('a span is told in its largest whole unit', () => {
  assert.deepEqual([0, 999, 1_000, 59_999, 60_000, 3_600_000, 172_800_000].map(formatSpan), [
    '0 ms',
    '999 ms',
    '1 s',
    '59 s',
    '1 min',
    '1 h',
    '2 d',
  ]);
});

test('a moment is UTC with seconds, and one beyond every calendar is its number', () => {
  assert.equal(formatTime(0), '1970-01-01T00:00:00Z');
  assert.equal(formatTime(1_796_000_000_999), '2026-11-30T00:53:20Z');
  assert.equal(formatTime(1e20), '100000000000000000000 ms');
});
