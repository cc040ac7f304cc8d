import assert from 'node:assert/strict';
import { test } from 'node:test';
import { begunAt, createTally, readCounts } from './tally.ts';

test('each run is counted when it begins, and listed when it has ended', async () => {
  const tally = createTally(1);
  const running = tally.work('/work');
  assert.deepEqual([tally.begun(), tally.runs()], [{ '/work': 1 }, []]);
  assert.match(await running, /^\{"sold":"\/work","run":1,"tookMs":\d+\}$/);
  const [run] = tally.runs();
  assert.ok(run !== undefined && run.endMs >= run.startMs);
});

test('only the expensive path takes its time, and an owner that lost its claim stops', async () => {
  const tally = createTally(60_000);
  await tally.work('/weather');
  const stopped = AbortSignal.abort();
  await assert.rejects(tally.work('/work', stopped), { name: 'AbortError' });
  assert.deepEqual(tally.begun(), { '/weather': 1, '/work': 1 });
  assert.equal(tally.runs().length, 1);
});

test('counts survive the way between two processes, and nothing else does', async () => {
  const tally = createTally(0);
  await tally.work('/weather');
  const counts = readCounts(JSON.parse(JSON.stringify({ begun: tally.begun(), runs: tally.runs() })));
  assert.deepEqual(counts, { begun: tally.begun(), runs: tally.runs() });
  assert.deepEqual([begunAt(counts), begunAt(counts, '/weather'), begunAt(counts, '/work')], [1, 1, 0]);
  assert.throws(() => readCounts({ begun: { '/weather': 'many' }, runs: [] }), TypeError);
  assert.throws(() => readCounts(undefined), TypeError);
});

test('the free answer is counted nowhere', async () => {
  const tally = createTally(0);
  assert.deepEqual(JSON.parse(await tally.hello()), { hello: true });
  assert.deepEqual([tally.begun(), tally.runs()], [{}, []]);
});
