import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf, network, rest, said } from '../../test/rig.ts';
import { openTestShop } from '../../test/shop.ts';

test('C07: a hundred forgeries of a payment leave no claim, and the real one is served', async () => {
  const shop = openTestShop();
  const payment = await shop.payment();
  for (let forgery = 1; forgery <= 100; forgery += 1) {
    const signature = `0x${forgery.toString(16).padStart(128, '1')}1b`;
    const seen = await shop.ask({ payment: { ...payment, payload: { ...payment.payload, signature } } });
    assert.equal(seen.status, 402);
    assert.equal(seen.problem.money, 'unmoved');
  }
  assert.equal((await shop.rig.options.store.list({ limit: 10 })).length, 0);
  assert.equal((await shop.ask({ payment })).status, 200);
  assert.deepEqual([shop.runs(), shop.rig.calls.settle], [1, 1]);
});

test('C07: a payment that the facilitator does not accept leaves no claim either', async () => {
  const shop = openTestShop();
  const payment = await shop.payment();
  shop.rig.verifies.push(said({ isValid: false, invalidReason: 'insufficient_funds' }));
  const refused = await shop.ask({ payment });
  assert.deepEqual(
    [refused.status, refused.problem.code, refused.problem.reason],
    [402, 'payment_refused', 'insufficient_funds'],
  );
  assert.ok(refused.required);
  assert.equal(shop.runs(), 0);
  assert.equal((await shop.rig.options.store.list({ limit: 10 })).length, 0);
  assert.equal((await shop.ask({ payment })).status, 200);
});

test('a facilitator that is down at verify gives the claim back and asks for the same payment later', async () => {
  const shop = openTestShop();
  const payment = await shop.payment();
  shop.rig.verifies.push({ kind: 'unsent' }, said({ error: 'x' }, 500), { kind: 'failed', why: 'timeout' });
  for (let turn = 0; turn < 3; turn += 1) {
    const seen = await shop.ask({ payment });
    assert.deepEqual(
      [seen.status, seen.problem.code, seen.problem.money, seen.problem.retry],
      [503, 'facilitator_unavailable', 'unmoved', 'same_payment'],
    );
    assert.equal(seen.required, undefined);
  }
  assert.equal(shop.runs(), 0);
  assert.equal((await shop.ask({ payment })).status, 200);
});

test('C11: work that fails is tried as often as the route allows for one payment, then the payment is dead', async () => {
  const shop = openTestShop();
  const payment = await shop.payment();
  shop.works(async () => answerOf('no such city', 404));
  const first = await shop.ask({ payment });
  assert.deepEqual([first.status, first.text], [404, 'no such city']);
  assert.match(
    first.header('counterfoil-payment') ?? '',
    /code=work_failed; money=unmoved; retry=same_payment/,
  );
  assert.equal(first.header('cache-control'), 'no-store');
  const second = await shop.ask({ payment });
  assert.match(second.header('counterfoil-payment') ?? '', /retry=new_payment/);
  const third = await shop.ask({ payment });
  assert.deepEqual(
    [third.status, third.problem.code, third.problem.retry],
    [402, 'attempts_exhausted', 'new_payment'],
  );
  assert.ok(third.required);
  assert.deepEqual([shop.runs(), shop.rig.calls.settle], [2, 0]);
});

test('work that throws is said to have failed, uncharged, without its words', async () => {
  const shop = openTestShop();
  const payment = await shop.payment();
  shop.works(async () => {
    throw new Error('password=hunter2');
  });
  const seen = await shop.ask({ payment });
  assert.deepEqual([seen.status, seen.problem.code, seen.problem.money], [500, 'work_failed', 'unmoved']);
  assert.doesNotMatch(seen.text, /hunter2|charge\.ts/);
  assert.equal(shop.rig.calls.settle, 0);
  // The seller itself is shown what its handler threw.
  const told = shop.rig.events.find(({ event }) => event === 'work_failed');
  assert.ok(told?.event === 'work_failed' && told.fault instanceof Error);
  assert.equal(told.fault.message, 'password=hunter2');
});

test('after work that failed unpaid, the payment may buy another request of the same terms, within its attempts', async () => {
  const shop = openTestShop({ route: { binding: 'off' } });
  const payment = await shop.payment();
  shop.works(async ({ request }) => answerOf(request.url, request.url.includes('Lima') ? 200 : 500));
  assert.equal((await shop.ask({ payment })).status, 500);
  const other = await shop.ask({ payment, target: '/weather?city=Lima' });
  assert.equal(other.status, 200);
  assert.deepEqual([shop.runs(), shop.rig.ledger.landed.size], [2, 1]);
});

test('an answer larger than the route keeps is refused before anything is charged', async () => {
  const shop = openTestShop({ route: { maxAnswerBytes: 10 } });
  const payment = await shop.payment();
  shop.works(async () => answerOf('eleven octet'));
  const seen = await shop.ask({ payment });
  assert.deepEqual(
    [seen.status, seen.problem.code, seen.problem.money],
    [500, 'answer_too_large', 'unmoved'],
  );
  assert.equal(shop.rig.calls.settle, 0);
});

test('a redirect is not sold unless the route says so', async () => {
  const shop = openTestShop();
  shop.works(async () => answerOf('', 302, [['location', '/elsewhere']]));
  const seen = await shop.ask({ payment: await shop.payment() });
  assert.deepEqual([seen.status, seen.problem.code], [502, 'redirect_not_sold']);
  assert.equal(seen.header('location'), undefined);
  assert.equal(shop.rig.calls.settle, 0);
  const sells = openTestShop({ route: { redirects: 'sell' } });
  sells.works(async () => answerOf('', 302, [['location', '/elsewhere']]));
  assert.equal((await sells.ask({ payment: await sells.payment() })).status, 302);
});

test('C10: an owner that stalls past its lease is told to stop, and what it brings later is not sent', async () => {
  const shop = openTestShop();
  const payment = await shop.payment();
  const late = Promise.withResolvers<void>();
  let told = false;
  const stalled = { ...shop.rig.options.store, heartbeat: () => new Promise<never>(() => {}) };
  const slow = shop.rig.another({ store: stalled });
  shop.works(async ({ signal }) => {
    signal.addEventListener('abort', () => {
      told = true;
    });
    await late.promise;
    return answerOf('late');
  });
  const first = shop.ask({ payment, seller: slow });
  await rest();
  await shop.rig.clock.advance(26_000);
  assert.equal(told, true);
  assert.equal((await first).status, 500);
  shop.works(async () => answerOf('second'));
  const second = await shop.ask({ payment });
  assert.deepEqual([second.status, second.text], [200, 'second']);
  late.resolve();
  await rest();
  assert.deepEqual([shop.runs(), shop.rig.calls.settle, shop.rig.ledger.landed.size], [2, 1, 1]);
});

test('C10: a process that died in its work is followed after lease and grace, not before', async () => {
  const shop = openTestShop();
  const payment = await shop.payment();
  const store = shop.rig.options.store;
  const dead = {
    ...store,
    heartbeat: () => new Promise<never>(() => {}),
    fail: () => new Promise<never>(() => {}),
  };
  shop.works(() => new Promise<never>(() => {}));
  void shop.ask({ payment, seller: shop.rig.another({ store: dead }) });
  await rest();
  shop.works(async () => answerOf('second'));
  assert.equal((await shop.ask({ payment })).problem.code, 'payment_in_progress');
  await shop.rig.clock.advance(31_000);
  assert.equal((await shop.ask({ payment })).problem.code, 'payment_in_progress');
  await shop.rig.clock.advance(5_000);
  const second = await shop.ask({ payment });
  assert.deepEqual([second.status, second.text], [200, 'second']);
  assert.deepEqual([shop.runs(), shop.rig.ledger.landed.size], [2, 1]);
});

test('work that runs over its time is stopped and uncharged', async () => {
  const shop = openTestShop({ route: { workMs: 5_000 } });
  const payment = await shop.payment();
  shop.works(() => new Promise<never>(() => {}));
  const seen = shop.ask({ payment });
  await rest();
  await shop.rig.clock.advance(5_001);
  assert.deepEqual([(await seen).status, (await seen).problem.code], [500, 'work_failed']);
  assert.equal(shop.rig.calls.settle, 0);
});

test('S10: a client that leaves is still served: the work runs on, is settled, and waits for the same payment', async () => {
  const shop = openTestShop();
  const payment = await shop.payment();
  await shop.ask({ payment, how: 'cut' });
  const back = await shop.ask({ payment });
  assert.deepEqual([back.status, back.text], [200, 'sunny 1']);
  assert.deepEqual([shop.runs(), shop.rig.calls.settle], [1, 1]);
});

test('F03: a settle that does not say true, the boolean, releases nothing', async () => {
  for (const success of ['true', 1, null, {}] as const) {
    const shop = openTestShop({ seller: { chain: 'none' } });
    const payment = await shop.payment();
    shop.rig.settles.push({ says: said({ success, transaction: `0x${'1'.repeat(64)}`, network }) });
    const seen = await shop.ask({ payment });
    assert.deepEqual(
      [seen.status, seen.problem.code, seen.problem.money],
      [503, 'settlement_unknown', 'unknown'],
    );
    assert.doesNotMatch(seen.text, /sunny/);
  }
});
