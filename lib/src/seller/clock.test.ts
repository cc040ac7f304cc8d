import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf, createRig, network, type Rig, read, requestOf } from '../../test/rig.ts';
import type { ChainReader } from '../settlement/index.ts';

type Head = Awaited<ReturnType<ChainReader['head']>>;

/** A seller whose chain shows one head after another, the last for ever. */
function watching(heads: (nowMs: number) => readonly (Head | Error)[]): {
  readonly rig: Rig;
  readonly start: () => Promise<void>;
  readonly warnings: () => readonly (string | undefined)[];
} {
  const rig = createRig();
  const shown = [...heads(rig.clock.nowMs())];
  const chain = rig.options.chains?.[network];
  assert.ok(chain);
  const head: ChainReader['head'] = async () => {
    const next = shown.length > 1 ? shown.shift() : shown[0];
    if (next instanceof Error) throw next;
    return next;
  };
  const seller = rig.another({ chains: { [network]: { ...chain, head } } });
  const warnings = (): readonly (string | undefined)[] =>
    rig.events.flatMap((event) =>
      event.event === 'alarm' && event.alarm === 'clock_skew' ? [event.detail] : [],
    );
  return { rig, start: () => seller.ready(), warnings };
}

test('T05: a clock that is 31 s behind the chain is named at the start, one that is 30 s behind is not', async () => {
  const slow = watching((now) => [{ block: 7, timeMs: now + 31_000 }]);
  await slow.start();
  assert.deepEqual(slow.warnings(), [`${network} is 31 s ahead of this clock`]);
  const fair = watching((now) => [{ block: 7, timeMs: now + 30_000 }]);
  await fair.start();
  await fair.rig.clock.advance(60_000);
  assert.deepEqual(fair.warnings(), []);
});

test('T05: a clock that is ahead of the chain is named once a block made meanwhile proves it', async () => {
  const fast = watching((now) => [
    { block: 7, timeMs: now - 46_000 },
    { block: 8, timeMs: now - 44_000 },
  ]);
  await fast.start();
  assert.deepEqual(fast.warnings(), []);
  await fast.rig.clock.advance(15_000);
  assert.deepEqual(fast.warnings(), [`${network} is 44 s behind this clock`]);
});

test('T05: an idle chain, whose newest block is old, is no reason for a warning', async () => {
  const idle = watching((now) => [{ block: 7, timeMs: now - 86_400_000 }]);
  await idle.start();
  await idle.rig.clock.advance(600_000);
  assert.deepEqual(idle.warnings(), []);
});

test('T05: an idle chain that wakes up is believed by its new block', async () => {
  const woken = watching((now) => [
    { block: 7, timeMs: now - 86_400_000 },
    { block: 8, timeMs: now + 9_000 },
  ]);
  await woken.start();
  await woken.rig.clock.advance(15_000);
  assert.deepEqual(woken.warnings(), []);
});

test('T05: a clock that is 20 s fast is left alone, even where a block was made right after the first look', async () => {
  const near = watching((now) => [
    { block: 7, timeMs: now - 86_400_000 },
    { block: 8, timeMs: now - 20_000 },
  ]);
  await near.start();
  await near.rig.clock.advance(15_000);
  assert.deepEqual(near.warnings(), []);
});

test('T05: a chain that does not answer, or answers nonsense, does not keep a seller from starting', async () => {
  for (const heads of [[new Error('down')], [undefined], [{ block: 7, timeMs: 0 }, new Error('down')]]) {
    const quiet = watching(() => heads);
    await quiet.start();
    await quiet.rig.clock.advance(15_000);
    assert.deepEqual(quiet.warnings(), []);
  }
});

test('T05: a wall clock that leaps while a payment is served changes neither its lease nor its time limits', async () => {
  const rig = createRig();
  let leapMs = 0;
  const world = { ...rig.world, nowMs: () => rig.clock.nowMs() + leapMs };
  const seller = rig.another({ world });
  const route = seller.route({ method: 'GET', path: '/weather', price: '$0.01' });
  const asked = await read(seller.charge(route, requestOf(), async () => answerOf('x')));
  assert.ok(asked.required);
  const payment = await rig.pay(asked.required);
  const served = await read(
    seller.charge(route, requestOf({ payment }), async ({ signal }) => {
      leapMs = 3_600_000;
      await rig.clock.advance(20_000);
      leapMs = -3_600_000;
      await rig.clock.advance(20_000);
      return answerOf(signal.aborted ? 'told to stop' : 'sunny');
    }),
  );
  assert.deepEqual([served.status, served.text], [200, 'sunny']);
});

test('T05: a store whose clock is off by more than the skew is named at the start, and so is one that is down', async () => {
  const rig = createRig();
  const { store } = rig.options;
  const find = (aheadMs: number) => async () => ({ nowMs: rig.clock.nowMs() + aheadMs });
  const details = (): readonly (string | undefined)[] =>
    rig.events.flatMap((event) => (event.event === 'alarm' ? [event.detail] : []));
  await rig.another({ store: { ...store, find: find(30_000) } }).ready();
  assert.deepEqual(details(), []);
  await rig.another({ store: { ...store, find: find(3_600_000) } }).ready();
  assert.deepEqual(details(), ['the store memory is 3600 s ahead of this clock']);
  const down = () => Promise.reject(new Error('refused'));
  await rig.another({ store: { ...store, find: down } }).ready();
  assert.equal(details().at(-1), 'at the start');
});
