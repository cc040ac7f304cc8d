import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createCalendar } from './calendar.ts';

const change = fc.tuple(fc.nat({ max: 5 }), fc.option(fc.nat({ max: 10 }), { nil: undefined }));

test('the calendar names exactly the keys whose moment has passed, earliest first, however often they moved', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 200 }), fc.nat({ max: 12 }), (changes, nowMs) => {
      const moments = new Map<string, number | undefined>();
      const calendar = createCalendar((key) => moments.get(key));
      for (const [index, [name, atMs]] of changes.entries()) {
        moments.set(`${name}`, atMs);
        calendar.note(`${name}`, atMs);
        if (index % 7 === 0) calendar.passed(nowMs, 3);
      }
      const due = [...moments].filter(([, atMs]) => atMs !== undefined && atMs < nowMs);
      const found = calendar.passed(nowMs, 1_000);
      assert.deepEqual([...found].sort(), due.map(([key]) => key).sort());
      const times = found.map((key) => moments.get(key) ?? 0);
      assert.deepEqual(
        times,
        times.toSorted((a, b) => a - b),
      );
      assert.deepEqual(
        [...calendar.passed(nowMs, 1_000)].sort(),
        [...found].sort(),
        'asking changes nothing',
      );
    }),
    { seed: 3, numRuns: 500 },
  );
});
