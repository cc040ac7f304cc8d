/** Two processes share one store, and one of them stands still at the worst place while the other goes on. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pauseAt } from '../../test/pause.ts';
import { answerOf, read, requestOf, rest, said } from '../../test/rig.ts';
import { openTestShop } from '../../test/shop.ts';
import type { ClaimStore } from '../claim/index.ts';

const nonceUsed = said({ isValid: false, invalidReason: 'invalid_exact_evm_nonce_already_used' });
const poor = said({ isValid: false, invalidReason: 'insufficient_funds' });
/** Shorter than every limit on a call, so that only the lease ends while a process stands still. */
const lease = { leaseMs: 3_000, heartbeatMs: 1_000, marginMs: 500, graceMs: 500 };
const overMs = 3_600;
const short = { seller: { lease } };

/** The store of a process whose heartbeats stop with it. */
function beatless(store: ClaimStore): ClaimStore {
  return { ...store, heartbeat: () => new Promise<never>(() => {}) };
}

const busy = ['payment_in_progress', 'unknown', 'same_payment', undefined];

test('a paused process that hears "nonce used" at its verify does not undo what another settled meanwhile', async () => {
  const shop = openTestShop(short);
  const payment = await shop.payment();
  const { store, facilitator } = shop.rig.options;
  const pause = pauseAt(facilitator, 'verify', 'before');
  const slow = shop.ask({
    payment,
    seller: shop.rig.another({ store: beatless(store), facilitator: pause.target }),
  });
  await pause.reached;
  await shop.rig.clock.advance(overMs);
  assert.equal((await shop.ask({ payment, how: 'cut' })).text, 'sunny 1');
  shop.rig.verifies.push(nonceUsed);
  pause.resume();
  const { problem, required } = await slow;
  assert.deepEqual([problem.code, problem.money, problem.retry, required], busy);
  const back = await shop.ask({ payment });
  assert.deepEqual([back.status, back.text, shop.runs()], [200, 'sunny 1', 1]);
});

test('I3: a paused process that hears "no" at its verify invites no payment while another may send this one', async () => {
  const shop = openTestShop(short);
  const payment = await shop.payment();
  const { store, facilitator } = shop.rig.options;
  const pause = pauseAt(facilitator, 'verify', 'before');
  const slow = shop.ask({
    payment,
    seller: shop.rig.another({ store: beatless(store), facilitator: pause.target }),
  });
  await pause.reached;
  await shop.rig.clock.advance(overMs);
  const gate = Promise.withResolvers<void>();
  shop.works(async () => {
    await gate.promise;
    return answerOf('sunny');
  });
  const other = shop.ask({ payment });
  await rest();
  shop.rig.verifies.push(poor);
  pause.resume();
  const { problem, required } = await slow;
  assert.deepEqual([problem.code, problem.money, problem.retry, required], busy);
  gate.resolve();
  assert.equal((await other).text, 'sunny');
});

for (const flow of ['authorization', 'upfront'] as const) {
  test(`${flow}: work that fails in a process whose claim has passed on says nothing of the other run’s money`, async () => {
    const shop = openTestShop({ ...short, route: { flow } });
    const payment = await shop.payment();
    const pause = pauseAt(beatless(shop.rig.options.store), 'fail', 'before');
    shop.works(async () => answerOf('broken', 500));
    const slow = shop.ask({ payment, seller: shop.rig.another({ store: pause.target }) });
    await pause.reached;
    await shop.rig.clock.advance(overMs);
    shop.works(async () => answerOf('sunny'));
    assert.equal((await shop.ask({ payment })).text, 'sunny');
    pause.resume();
    const { problem, required } = await slow;
    assert.deepEqual([problem.code, problem.money, problem.retry, required], busy);
    assert.equal((await shop.ask({ payment })).text, 'sunny');
  });

  test(`I1: ${flow}, a process that was paused while the store answered its claim does not start to work after its lease`, async () => {
    const shop = openTestShop({ ...short, route: { flow } });
    const payment = await shop.payment();
    const call = flow === 'authorization' ? 'take' : 'startWork';
    const pause = pauseAt(beatless(shop.rig.options.store), call, 'after');
    const slow = shop.ask({ payment, seller: shop.rig.another({ store: pause.target }) });
    await pause.reached;
    await shop.rig.clock.advance(overMs);
    const gate = Promise.withResolvers<void>();
    shop.works(async () => {
      await gate.promise;
      return answerOf('sunny');
    });
    const other = shop.ask({ payment });
    await rest();
    pause.resume();
    const { problem, required } = await slow;
    assert.deepEqual([problem.code, problem.money, problem.retry, required], busy);
    assert.equal(shop.runs(), 1);
    gate.resolve();
    assert.equal((await other).text, 'sunny');
    assert.equal(shop.rig.ledger.landed.size, 1);
  });
}

test('I3: terms that changed invite a new payment only once a slow owner can send this one no more', async () => {
  const shop = openTestShop(short);
  const payment = await shop.payment();
  const pause = pauseAt(beatless(shop.rig.options.store), 'keepAndBeginSend', 'before');
  const slow = shop.ask({ payment, seller: shop.rig.another({ store: pause.target }) });
  await pause.reached;
  const deployed = shop.rig.another();
  const dearer = deployed.route({ method: 'GET', path: '/weather', price: '$0.02' });
  const present = () => read(deployed.charge(dearer, requestOf({ payment }), async () => answerOf('never')));
  assert.deepEqual((await present()).problem.code, 'payment_in_progress');
  await shop.rig.clock.advance(overMs);
  const told = await present();
  assert.deepEqual(
    [told.status, told.problem.code, told.problem.money],
    [402, 'requirement_mismatch', 'unmoved'],
  );
  assert.ok(told.required);
  pause.resume();
  const { problem, required } = await slow;
  assert.deepEqual([problem.code, problem.money, problem.retry, required], busy);
  assert.deepEqual([shop.rig.calls.settle, shop.rig.ledger.landed.size], [0, 0]);
});

test('I3: a copy that another process took and sent while this one judged it is answered from its record', async () => {
  const shop = openTestShop();
  const payment = await shop.payment();
  const pricing = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const deployed = shop.rig.another();
  const dearer = deployed.route({
    method: 'GET',
    path: '/weather',
    price: async () => {
      asked.resolve();
      await pricing.promise;
      return '$0.02';
    },
  });
  const judging = read(deployed.charge(dearer, requestOf({ payment }), async () => answerOf('never')));
  await asked.promise;
  shop.rig.settles.push({ lands: true, says: 'lost' });
  assert.equal((await shop.ask({ payment })).problem.code, 'settlement_unknown');
  pricing.resolve();
  const seen = await judging;
  assert.deepEqual([seen.status, seen.text, seen.required], [200, 'sunny 1', undefined]);
});

test('I3: a contract wallet whose money another process has just moved with this very payment is not asked to pay again', async () => {
  const shop = openTestShop();
  const signed = await shop.payment();
  const signature = `0x${'5a'.repeat(48)}${'6492'.repeat(16)}`;
  const payment = { ...signed, payload: { ...signed.payload, signature } };
  const pause = pauseAt(shop.rig.options.facilitator, 'verify', 'before');
  const slow = shop.ask({ payment, seller: shop.rig.another({ facilitator: pause.target }) });
  await pause.reached;
  assert.equal((await shop.ask({ payment })).text, 'sunny 1');
  shop.rig.verifies.push(poor);
  pause.resume();
  const seen = await slow;
  assert.deepEqual([seen.status, seen.text, seen.required], [200, 'sunny 1', undefined]);
  assert.deepEqual([shop.runs(), shop.rig.calls.settle], [1, 1]);
});
