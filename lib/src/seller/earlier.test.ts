import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf, buyerOf, rest } from '../../test/rig.ts';
import { openTestShop, type TestShop } from '../../test/shop.ts';

async function loseFirst(shop: TestShop, lands: boolean): Promise<void> {
  const payment = await shop.payment();
  shop.rig.settles.push({ lands, says: 'lost' });
  const lost = await shop.ask({ payment });
  assert.deepEqual([lost.status, lost.problem.code], [503, 'settlement_unknown']);
}

for (const flow of ['authorization', 'upfront'] as const) {
  test(`${flow}: a newer payment for the same request gets the earlier one’s answer and is never sent`, async () => {
    const shop = openTestShop({ route: { flow } });
    await loseFirst(shop, true);
    const newer = await shop.payment();
    const served = await shop.ask({ payment: newer });
    assert.deepEqual([served.status, served.text], [200, 'sunny 1']);
    assert.match(served.header('counterfoil-payment') ?? '', /money=unmoved; live-until=\d+/);
    assert.equal(shop.rig.ledger.landed.size, 1);
    assert.deepEqual([shop.runs(), shop.rig.calls.settle], [1, 1]);
    const again = await shop.ask({ payment: newer });
    assert.deepEqual([again.status, again.text], [200, 'sunny 1']);
    assert.equal(shop.rig.calls.settle, 1);
  });
}

test('a newer payment waits while the earlier one is unknown and alive, and is not sent', async () => {
  const shop = openTestShop();
  await loseFirst(shop, false);
  const newer = await shop.payment();
  const waits = await shop.ask({ payment: newer });
  assert.deepEqual(
    [waits.status, waits.problem.code, waits.problem.money, waits.problem.retry],
    [503, 'earlier_payment_unresolved', 'unmoved', 'same_payment'],
  );
  assert.equal(waits.required, undefined);
  assert.deepEqual([shop.runs(), shop.rig.calls.settle], [1, 1]);
  assert.ok(waits.header('retry-after'));
});

test('the earlier answer goes to one newer payment only; the next one buys for itself', async () => {
  const shop = openTestShop();
  await loseFirst(shop, true);
  const served = await shop.ask({ payment: await shop.payment() });
  assert.equal(served.text, 'sunny 1');
  const next = await shop.ask({ payment: await shop.payment() });
  assert.deepEqual([next.status, next.text], [200, 'sunny 2']);
  assert.equal(shop.rig.ledger.landed.size, 2);
});

test('twenty honest twins each pay and each get an answer', async () => {
  const shop = openTestShop();
  const gate = Promise.withResolvers<void>();
  shop.works(async () => {
    await gate.promise;
    return answerOf('sunny');
  });
  const payments = await Promise.all(Array.from({ length: 20 }, () => shop.payment()));
  const answers = payments.map((payment) => shop.ask({ payment }));
  await rest();
  gate.resolve();
  const seen = await Promise.all(answers);
  assert.ok(seen.every(({ status }) => status === 200));
  assert.deepEqual([shop.runs(), shop.rig.ledger.landed.size, shop.rig.calls.settle], [20, 20, 20]);
});

test('another payer’s doubt does not block this one', async () => {
  const shop = openTestShop();
  await loseFirst(shop, false);
  const other = await shop.payment({ buyer: buyerOf(0x22) });
  assert.equal((await shop.ask({ payment: other })).status, 200);
});

test('the same payer’s doubt about one request does not block another request', async () => {
  const shop = openTestShop();
  await loseFirst(shop, false);
  const target = '/weather?city=Lima';
  const payment = await shop.payment({ for: { target } });
  assert.equal((await shop.ask({ payment, target })).status, 200);
});

test('a route may switch the rule off', async () => {
  const shop = openTestShop({ route: { earlierPayment: 'off' } });
  await loseFirst(shop, true);
  const newer = await shop.ask({ payment: await shop.payment() });
  assert.deepEqual([newer.status, newer.text], [200, 'sunny 2']);
  assert.equal(shop.rig.ledger.landed.size, 2);
});

test('after an answer was lost on its way to the buyer, a newer payment gets it and is not charged', async () => {
  const shop = openTestShop();
  const first = await shop.ask({ payment: await shop.payment(), how: 'cut' });
  assert.equal(first.status, 200);
  const newer = await shop.ask({ payment: await shop.payment() });
  assert.deepEqual([newer.status, newer.text], [200, 'sunny 1']);
  assert.equal(shop.rig.ledger.landed.size, 1);
});

test('a stranger who knows the nonce of a newer payment does not get the earlier one’s answer', async () => {
  for (const flow of ['authorization', 'upfront'] as const) {
    const shop = openTestShop({ route: { flow } });
    await loseFirst(shop, true);
    const newer = await shop.payment();
    assert.equal((await shop.ask({ payment: newer })).status, 200);
    const signature = String((await shop.payment()).payload.signature);
    const forged = await shop.ask({ payment: { ...newer, payload: { ...newer.payload, signature } } });
    assert.deepEqual(
      [forged.status, forged.problem.code, forged.problem.money, forged.problem.fields],
      [409, 'payment_already_used', 'unmoved', ['signature']],
    );
    assert.deepEqual([forged.response, forged.required, shop.runs()], [undefined, undefined, 1]);
  }
});

test('upfront: a stranger who knows the nonce of a newer payment does not start the work that is owed', async () => {
  const shop = openTestShop({ route: { flow: 'upfront' } });
  shop.works(async () => answerOf('broken', 500));
  assert.equal((await shop.ask({ payment: await shop.payment() })).status, 500);
  const newer = await shop.payment();
  const signature = String((await shop.payment()).payload.signature);
  shop.works(async () => {
    throw new Error('still broken');
  });
  await shop.ask({ payment: newer });
  assert.equal(shop.runs(), 2);
  const forged = await shop.ask({ payment: { ...newer, payload: { ...newer.payload, signature } } });
  assert.deepEqual([forged.status, shop.runs(), forged.response], [409, 2, undefined]);
});

test('once the earlier answer is gone, the newer payment is said to be unmoved, and until when it lives', async () => {
  const shop = openTestShop();
  await loseFirst(shop, true);
  const newer = await shop.payment();
  assert.equal((await shop.ask({ payment: newer })).status, 200);
  const { store } = shop.rig.options;
  await shop.rig.clock.advance(700_000);
  await store.prune(10);
  const { problem, response, status } = await shop.ask({ payment: newer });
  assert.deepEqual(
    [status, problem.code, problem.money, problem.retry],
    [409, 'payment_already_used', 'unmoved', 'never'],
  );
  assert.equal(typeof problem.liveUntil, 'number');
  assert.equal(response?.success, true);
});

test('once the earlier payment is forgotten, the newer one that it stood in for is used up, and not in progress for ever', async () => {
  const shop = openTestShop();
  await loseFirst(shop, true);
  // The doubt stands for hours; then a new payment resolves it.
  await shop.rig.clock.advance(7_200_000);
  const newer = await shop.payment();
  assert.equal((await shop.ask({ payment: newer })).text, 'sunny 1');
  await shop.rig.clock.advance(700_000);
  assert.equal(await shop.rig.options.store.prune(10), 1);
  const { problem, status, required } = await shop.ask({ payment: newer });
  assert.deepEqual(
    [status, problem.code, problem.money, required],
    [409, 'payment_already_used', 'unmoved', undefined],
  );
});

test('upfront: work that an earlier payment is owed and that fails again is not said to have moved the newer one', async () => {
  const shop = openTestShop({ route: { flow: 'upfront' } });
  shop.works(() => Promise.reject(new Error('no')));
  const first = await shop.ask({ payment: await shop.payment() });
  assert.deepEqual([first.problem.code, first.problem.money], ['work_owed', 'moved']);
  const newer = await shop.payment();
  for (const retry of ['later', 'later']) {
    const seen = await shop.ask({ payment: newer });
    assert.deepEqual(
      [seen.status, seen.problem.code, seen.problem.money, seen.problem.retry],
      [502, 'work_owed', 'unmoved', retry],
    );
    assert.equal(seen.response?.success, true);
  }
  assert.deepEqual([shop.runs(), shop.rig.ledger.landed.size], [2, 1]);
});

test('S3: upfront, a doubt that nobody wrote down still stands before a newer payment while its work runs', async () => {
  const shop = openTestShop({ route: { flow: 'upfront' } });
  const never = () => new Promise<never>(() => {});
  const dying = { ...shop.rig.options.store, heartbeat: never, recordMoney: never };
  const payment = await shop.payment();
  void shop.ask({ payment, seller: shop.rig.another({ store: dying }) });
  await rest();
  await shop.rig.clock.advance(36_000);
  const gate = Promise.withResolvers<void>();
  shop.works(async () => {
    await gate.promise;
    return answerOf('sunny');
  });
  const back = shop.ask({ payment });
  await rest();
  const newer = await shop.ask({ payment: await shop.payment() });
  assert.deepEqual([newer.status, newer.problem.code], [402, 'payment_in_progress']);
  gate.resolve();
  assert.equal((await back).text, 'sunny');
  assert.equal(shop.rig.ledger.landed.size, 1);
});

test('S3: a payment whose earlier one a person has closed was never sent, says so, and waits for nobody', async () => {
  const shop = openTestShop({ route: { flow: 'upfront' } });
  shop.works(() => Promise.reject(new Error('no')));
  const first = await shop.payment();
  for (const _ of ['first run', 'second run']) await shop.ask({ payment: first });
  const newer = await shop.payment();
  assert.equal((await shop.ask({ payment: newer })).problem.code, 'work_owed');
  const { store } = shop.rig.options;
  const [owed] = await store.due(1);
  assert.ok(owed);
  assert.equal((await store.deliver(owed.key, { kind: 'closed', reference: 'ticket 7' })).changed, true);
  const seen = await shop.ask({ payment: newer });
  assert.deepEqual(
    [seen.status, seen.problem.code, seen.problem.money, seen.required],
    [409, 'payment_already_used', 'unmoved', undefined],
  );
  shop.works(async () => answerOf('sunny'));
  assert.equal((await shop.ask({ payment: await shop.payment() })).text, 'sunny', 'a new one is free');
});
