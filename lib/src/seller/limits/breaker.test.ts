import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf, rest, type SettleScript, said } from '../../../test/rig.ts';
import { openTestShop, type TestShop } from '../../../test/shop.ts';
import { type BreakerState, createBreaker } from './breaker.ts';

function opened() {
  const clock = { now: 0 };
  const states: BreakerState[] = [];
  const breaker = createBreaker(
    { minimum: 4, windowMs: 1_000, coolDownMs: 100, maxCoolDownMs: 350 },
    { monotonicMs: () => clock.now, report: (state) => states.push(state) },
  );
  const hear = (well: boolean, times = 1): void => {
    for (let call = 0; call < times; call += 1) breaker.heard(breaker.era(), well);
  };
  return { clock, states, breaker, hear };
}

test('S14: it opens above the rate and not at it, and not for a handful of calls', () => {
  const { states, hear } = opened();
  hear(false, 3);
  assert.deepEqual(states, []);
  hear(true, 4);
  hear(false, 1);
  assert.deepEqual(states, [], 'half of them');
  hear(false, 1);
  assert.deepEqual(states, ['open']);
});

test('S14: calls from before the window do not count any more', () => {
  const { clock, states, hear } = opened();
  hear(false, 3);
  clock.now += 1_100;
  hear(false, 3);
  assert.deepEqual(states, []);
  hear(false, 1);
  assert.deepEqual(states, ['open']);
});

test('S14: after the cool-down one trial passes at a time; a failed one doubles the next cool-down, up to a limit', () => {
  const { clock, states, breaker, hear } = opened();
  hear(false, 4);
  for (const coolDownMs of [100, 200, 350, 350]) {
    clock.now += coolDownMs - 1;
    const refused = breaker.admit();
    assert.ok(typeof refused === 'object');
    assert.deepEqual([refused.code, refused.retryAfter], ['facilitator_unavailable', 1]);
    clock.now += 1;
    assert.equal(breaker.admit(), 'trial');
    assert.equal(typeof breaker.admit(), 'object', 'one at a time');
    hear(false);
    breaker.leave('trial');
  }
  clock.now += 350;
  assert.equal(breaker.admit(), 'trial');
  hear(true);
  breaker.leave('trial');
  assert.equal(breaker.admit(), 'free');
  assert.deepEqual(states.slice(-2), ['half_open', 'closed']);
  hear(false, 4);
  clock.now += 100;
  assert.equal(breaker.admit(), 'trial', 'the cool-down starts anew');
});

test('a trial that never reaches the facilitator makes room for the next one', () => {
  const { clock, breaker, hear } = opened();
  hear(false, 4);
  clock.now += 100;
  assert.equal(breaker.admit(), 'trial');
  breaker.leave('trial');
  assert.equal(breaker.admit(), 'trial');
});

test('what began before the last change says nothing of the present', () => {
  const { clock, states, breaker, hear } = opened();
  const before = breaker.era();
  hear(false, 4);
  clock.now += 100;
  breaker.admit();
  breaker.heard(before, true);
  breaker.heard(before, false);
  assert.deepEqual(states, ['open', 'half_open']);
});

const breaker = { minimum: 3, coolDownMs: 10_000 } as const;

function openShop(flow: 'authorization' | 'upfront' = 'authorization'): TestShop {
  return openTestShop({ seller: { breaker }, route: { earlierPayment: 'off', flow } });
}

async function fail(shop: TestShop, scripts: readonly SettleScript['says'][]): Promise<void> {
  for (const says of scripts) {
    shop.rig.settles.push({ says });
    await shop.ask({ payment: await shop.payment() });
  }
}

function states(shop: TestShop): readonly string[] {
  return shop.rig.events.flatMap((event) => (event.event === 'breaker' ? [event.state] : []));
}

for (const flow of ['authorization', 'upfront'] as const) {
  test(`S14: ${flow}, while settles fail new payments get 503 before any work, and one trial finds out when it is over`, async () => {
    const shop = openShop(flow);
    await fail(shop, ['lost', said({}, 429), said({ success: false }, 500)]);
    const { runs, rig } = shop;
    const before = [runs(), rig.calls.verify, rig.calls.settle];
    for (let turn = 0; turn < 20; turn += 1) {
      const seen = await shop.ask({ payment: await shop.payment() });
      assert.deepEqual(
        [seen.status, seen.problem.code, seen.problem.money, seen.problem.retry],
        [503, 'facilitator_unavailable', 'unmoved', 'same_payment'],
      );
      assert.deepEqual([seen.header('retry-after'), seen.required], ['10', undefined]);
    }
    assert.deepEqual([runs(), rig.calls.verify, rig.calls.settle], before);
    await rig.clock.advance(10_000);
    const gate = Promise.withResolvers<void>();
    rig.settles.push({ says: 'success', before: gate.promise });
    const trial = shop.ask({ payment: await shop.payment() });
    await rest();
    assert.equal((await shop.ask({ payment: await shop.payment() })).status, 503, 'one at a time');
    gate.resolve();
    assert.equal((await trial).status, 200);
    assert.equal((await shop.ask({ payment: await shop.payment() })).status, 200);
    assert.deepEqual(states(shop), ['open', 'half_open', 'closed']);
  });
}

test('S14: while it is open what was paid is delivered, and what is in doubt is looked up', async () => {
  const shop = openShop();
  const paid = await shop.payment();
  assert.equal((await shop.ask({ payment: paid })).text, 'sunny 1');
  const doubted = await shop.payment();
  shop.rig.settles.push({ says: 'lost', lands: true });
  assert.equal((await shop.ask({ payment: doubted })).problem.code, 'settlement_unknown');
  await fail(shop, ['lost', 'lost', 'lost']);
  assert.deepEqual(states(shop), ['open']);
  assert.equal((await shop.ask({ payment: paid })).text, 'sunny 1');
  const seen = await shop.ask({ payment: doubted });
  assert.deepEqual([seen.status, seen.text], [200, 'sunny 2']);
});

test('S14: a facilitator that verifies and cannot settle is found out, and its good verdicts do not hide it', async () => {
  const shop = openShop();
  await fail(shop, ['lost', 'lost', 'lost']);
  assert.equal(shop.rig.calls.verify, 3);
  assert.deepEqual(states(shop), ['open']);
});

test('S14: a facilitator that cannot even verify is asked no more', async () => {
  const shop = openShop();
  for (let turn = 0; turn < 3; turn += 1) {
    shop.rig.verifies.push({ kind: 'failed', why: 'timeout' });
    await shop.ask({ payment: await shop.payment() });
  }
  await shop.ask({ payment: await shop.payment() });
  assert.deepEqual([states(shop), shop.rig.calls.verify, shop.runs()], [['open'], 3, 0]);
});

test('S14: bad payments close no shop, whatever they are refused for', async () => {
  const shop = openTestShop({
    seller: { breaker, unpaidRuns: 'off', limits: { refused: 'off' } },
    route: { earlierPayment: 'off' },
  });
  const reasons = [
    'insufficient_funds',
    'permit2_allowance_required',
    'invalid_exact_evm_nonce_already_used',
    'invalid_exact_evm_transaction_simulation_failed',
    'invalid_transaction_state',
  ];
  for (let turn = 0; turn < 3; turn += 1) {
    await fail(
      shop,
      reasons.map((errorReason) => said({ success: false, errorReason, transaction: '' })),
    );
  }
  assert.deepEqual(states(shop), []);
  assert.equal((await shop.ask({ payment: await shop.payment() })).status, 200);
});

test('S14: a payment that was never sent and whose first run failed waits like a new one, and is not lost', async () => {
  const shop = openShop();
  const payment = await shop.payment();
  shop.works(async () => answerOf('broken', 500));
  assert.equal((await shop.ask({ payment })).status, 500);
  shop.works(async () => answerOf('sunny'));
  await fail(shop, ['lost', 'lost', 'lost']);
  const waits = await shop.ask({ payment });
  assert.deepEqual([waits.status, waits.problem.code], [503, 'facilitator_unavailable']);
  await shop.rig.clock.advance(10_000);
  assert.equal((await shop.ask({ payment })).text, 'sunny');
});

test('a payment that is older than our memory is not called unmoved by an open breaker', async () => {
  const shop = openShop();
  const old = await shop.payment({ nowMs: shop.rig.world.nowMs() - 8_000_000 });
  await fail(shop, ['lost', 'lost', 'lost']);
  const seen = await shop.ask({ payment: old });
  assert.deepEqual([seen.status, seen.problem.money], [503, 'unknown']);
});

test('the breaker can be switched off', async () => {
  const shop = openTestShop({ seller: { breaker: 'off' }, route: { earlierPayment: 'off' } });
  await fail(
    shop,
    Array.from({ length: 15 }, () => 'lost' as const),
  );
  assert.deepEqual([shop.runs(), states(shop)], [15, []]);
});
