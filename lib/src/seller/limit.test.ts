import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClock } from '../../test/rig.ts';
import { within } from './limit.ts';

test('what comes in time is given, what comes later is late, and no timer is left', async () => {
  const clock = createClock();
  assert.equal(await within(clock, 1_000, Promise.resolve('in time')), 'in time');
  const never = within(clock, 1_000, new Promise<string>(() => {}));
  await clock.advance(1_000);
  assert.equal(await never, 'late');
  await assert.rejects(within(clock, 1_000, Promise.reject(new Error('no'))), /no/);
});
