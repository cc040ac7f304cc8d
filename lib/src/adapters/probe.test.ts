import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inTime } from './probe.ts';

const asked = { method: 'GET', target: '/weather' };

test('H05: a probe that is over, in whichever way, is told to stop', async () => {
  const stops: AbortSignal[] = [];
  assert.equal(await inTime(asked, 1000, async (stop) => stops.push(stop)), 1);
  await assert.rejects(
    inTime(asked, 1000, async (stop) => {
      stops.push(stop);
      throw new Error('broken');
    }),
    /broken/,
  );
  await assert.rejects(
    inTime(asked, 10, (stop) => {
      stops.push(stop);
      return new Promise(() => {});
    }),
    /GET \/weather was not answered/,
  );
  assert.deepEqual(
    stops.map(({ aborted }) => aborted),
    [true, true, true],
  );
});
