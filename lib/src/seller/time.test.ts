import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf, read, requestOf } from '../../test/rig.ts';
import { openTestShop } from '../../test/shop.ts';

const flows = ['authorization', 'upfront'] as const;

/** A payment that the client's clock, wrong by so much, makes for 300 seconds. */
async function withClock(flow: (typeof flows)[number], offsetMs: number): Promise<string> {
  const shop = openTestShop({ route: { flow } });
  const payment = await shop.payment({ nowMs: shop.rig.world.nowMs() + offsetMs });
  const seen = await shop.ask({ payment });
  if (seen.status !== 200) {
    assert.equal(seen.problem.money, 'unmoved');
    assert.equal(shop.runs(), 0);
    assert.equal(shop.rig.calls.verify, 0);
  }
  return seen.status === 200 ? 'served' : seen.problem.code;
}

test('T01: an authorization that is over is refused before the work, at the second', async () => {
  assert.equal(await withClock('authorization', -301_000), 'authorization_expired');
  assert.equal(await withClock('authorization', -300_000), 'authorization_expired');
  assert.equal(await withClock('upfront', -330_000), 'authorization_expired');
  assert.equal(await withClock('upfront', -329_000), 'served');
});

test('T02, T03: an authorization must outlive skew, work and settlement, unless the money moves first', async () => {
  assert.equal(await withClock('authorization', -180_000), 'served');
  assert.equal(await withClock('authorization', -181_000), 'authorization_window_too_short');
  assert.equal(await withClock('upfront', -181_000), 'served');
});

test('T04: an authorization that lives longer than this seller remembers is refused', async () => {
  assert.equal(await withClock('authorization', 30_000), 'served');
  assert.equal(await withClock('authorization', 31_000), 'authorization_window_too_long');
});

test('T01: a key older than retention may have moved money, so nothing is promised and no payment invited', async () => {
  const shop = openTestShop();
  const payment = await shop.payment({ nowMs: shop.rig.world.nowMs() - 8_000_000 });
  const seen = await shop.ask({ payment });
  assert.deepEqual(
    [seen.status, seen.problem.code, seen.problem.money, seen.problem.retry],
    [402, 'authorization_expired', 'unknown', 'later'],
  );
  assert.equal(seen.required, undefined);
  assert.deepEqual([seen.response?.success, seen.response?.transaction], [false, '']);
});

test('T01: what a store with a faster clock has forgotten is not called unmoved', async () => {
  const shop = openTestShop();
  const payment = await shop.payment();
  assert.equal((await shop.ask({ payment })).status, 200);
  await shop.rig.clock.advance(300_000 + 3_630_000 + 1_000);
  assert.equal(await shop.rig.options.store.prune(10), 1);
  const { world } = shop.rig;
  const slow = shop.rig.another({ world: { ...world, nowMs: () => world.nowMs() - 20_000 } });
  const seen = await shop.ask({ payment, seller: slow });
  assert.deepEqual([seen.problem.code, seen.problem.money], ['authorization_expired', 'unknown']);
  assert.equal(seen.required, undefined);
});

test('T06: milliseconds in place of seconds are out of range, not valid for fifty thousand years', async () => {
  const shop = openTestShop();
  const payment = await shop.payment({ nowMs: shop.rig.world.nowMs() * 1000 });
  const seen = await shop.ask({ payment });
  assert.deepEqual([seen.status, seen.problem.code], [402, 'authorization_window_too_long']);
  assert.match(String(seen.problem.detail), /seconds/);
});

test('I3: a payment older than our memory is no misfit of today’s terms, which would call it unmoved', async () => {
  const shop = openTestShop();
  const payment = await shop.payment();
  assert.equal((await shop.ask({ payment })).status, 200);
  await shop.rig.clock.advance(4_000_000);
  assert.equal(await shop.rig.options.store.prune(10), 1);
  const deployed = shop.rig.another();
  const dearer = deployed.route({ method: 'GET', path: '/weather', price: '$0.02' });
  const seen = await read(deployed.charge(dearer, requestOf({ payment }), async () => answerOf('never')));
  assert.deepEqual(
    [seen.status, seen.problem.code, seen.problem.money, seen.required],
    [402, 'authorization_expired', 'unknown', undefined],
  );
});
