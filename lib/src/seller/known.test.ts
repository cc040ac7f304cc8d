import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf, buyerOf, rest, transactionOf } from '../../test/rig.ts';
import { openTestShop } from '../../test/shop.ts';

test('C03: a settled payment is answered from our own store, however often it comes, without asking anybody', async () => {
  const shop = openTestShop();
  const payment = await shop.payment();
  const first = await shop.ask({ payment });
  assert.equal(first.status, 200);
  const before = { ...shop.rig.calls };
  for (let copy = 0; copy < 5; copy += 1) {
    const again = await shop.ask({ payment });
    assert.deepEqual([again.status, again.text], [200, 'sunny 1']);
    assert.equal(again.response?.transaction, transactionOf(1));
  }
  assert.equal(shop.runs(), 1);
  assert.deepEqual(shop.rig.calls, before);
});

test('C03: after the kept answer is gone the payment is said to be used, and stays refused', async () => {
  const shop = openTestShop();
  const payment = await shop.payment();
  await shop.ask({ payment });
  await shop.rig.clock.advance(700_000);
  await shop.rig.options.store.prune(100);
  const late = await shop.ask({ payment });
  assert.deepEqual(
    [late.status, late.problem.code, late.problem.money, late.problem.retry],
    [409, 'payment_already_used', 'moved', 'never'],
  );
  assert.equal(late.response?.transaction, transactionOf(1));
  assert.equal(late.required, undefined);
  assert.equal(shop.runs(), 1);
});

test('C06: one authorization on two routes runs one of them', async () => {
  const shop = openTestShop();
  const payment = await shop.payment();
  await shop.ask({ payment });
  const elsewhere = await shop.ask({ payment, target: '/premium' });
  assert.deepEqual(
    [elsewhere.status, elsewhere.problem.code, elsewhere.problem.money],
    [409, 'payment_already_used', 'moved'],
  );
  assert.deepEqual(elsewhere.problem.fields, ['request']);
  assert.equal(elsewhere.required, undefined);
  assert.equal(shop.runs(), 1);
});

test('a payment that is at work for one request is in progress for another, and never runs both', async () => {
  const shop = openTestShop();
  const payment = await shop.payment();
  const gate = Promise.withResolvers<void>();
  shop.works(async () => {
    await gate.promise;
    return answerOf('sunny');
  });
  const second = shop.rig.another();
  const first = shop.ask({ payment });
  await rest();
  const other = await shop.ask({ payment, seller: second });
  assert.deepEqual(
    [other.status, other.problem.code, other.problem.retry],
    [402, 'payment_in_progress', 'same_payment'],
  );
  assert.equal(other.required, undefined);
  assert.equal(other.response?.payer, undefined);
  gate.resolve();
  assert.equal((await first).status, 200);
  assert.equal(shop.runs(), 1);
});

test('a route may say 409 while a payment is in progress', async () => {
  const shop = openTestShop({ route: { inProgressStatus: 409 } });
  const payment = await shop.payment();
  const gate = Promise.withResolvers<void>();
  shop.works(async () => {
    await gate.promise;
    return answerOf('sunny');
  });
  const first = shop.ask({ payment });
  await rest();
  assert.equal((await shop.ask({ payment })).status, 409);
  gate.resolve();
  await first;
});

test('the kept answer carries no Set-Cookie and no field of the connection', async () => {
  const shop = openTestShop();
  const payment = await shop.payment();
  shop.works(async () =>
    answerOf('sunny', 200, [
      ['set-cookie', 'a=1'],
      ['connection', 'close'],
      ['x-unit', 'celsius'],
    ]),
  );
  const first = await shop.ask({ payment });
  assert.equal(first.header('set-cookie'), 'a=1');
  const again = await shop.ask({ payment });
  assert.deepEqual(
    [again.header('set-cookie'), again.header('connection'), again.header('x-unit')],
    [undefined, undefined, 'celsius'],
  );
});

test('a route that re-delivers only the status does not give the answer again', async () => {
  const shop = openTestShop({ route: { redeliver: 'status' } });
  const payment = await shop.payment();
  await shop.ask({ payment });
  const again = await shop.ask({ payment });
  assert.deepEqual([again.status, again.problem.code], [409, 'payment_already_used']);
  assert.equal(again.response?.success, true);
});

test('another buyer’s payment for the same request is its own purchase', async () => {
  const shop = openTestShop();
  const one = await shop.payment();
  const two = await shop.payment({ buyer: buyerOf(0x22) });
  assert.equal((await shop.ask({ payment: one })).text, 'sunny 1');
  assert.equal((await shop.ask({ payment: two })).text, 'sunny 2');
  assert.equal(shop.rig.ledger.landed.size, 2);
});

test('a settlement that a facilitator refused invites a new payment and says how long the old one lives', async () => {
  const shop = openTestShop();
  const payment = await shop.payment();
  shop.rig.settles.push({
    says: {
      kind: 'answer',
      status: 200,
      body: { success: false, errorReason: 'insufficient_funds', transaction: '', network: 'eip155:31337' },
    },
  });
  const refused = await shop.ask({ payment });
  assert.deepEqual(
    [refused.status, refused.problem.code, refused.problem.money, refused.problem.retry],
    [402, 'settlement_refused', 'unmoved', 'new_payment'],
  );
  assert.ok(refused.required);
  assert.equal(refused.response?.success, false);
  assert.equal(refused.response?.errorReason, 'insufficient_funds');
  assert.equal(typeof refused.problem.liveUntil, 'number');
  const again = await shop.ask({ payment });
  assert.deepEqual([again.status, again.problem.code], [402, 'settlement_refused']);
  assert.deepEqual([shop.runs(), shop.rig.calls.settle], [1, 1]);
});

test('a settlement that the chain undid is said to be reversed, and a new payment is named in the body alone', async () => {
  const shop = openTestShop();
  const payment = await shop.payment();
  await shop.ask({ payment });
  const { store } = shop.rig.options;
  const key = (await store.list({ limit: 1 }))[0]?.key ?? '';
  await store.recordMoney(key, { fact: 'reversed', transaction: transactionOf(1) });
  const seen = await shop.ask({ payment });
  assert.deepEqual(
    [seen.status, seen.problem.code, seen.problem.retry],
    [409, 'settlement_reversed', 'new_payment'],
  );
  assert.equal(seen.required, undefined);
});

test('what an operator has closed starts no work any more, but an answer that is there is still given', async () => {
  const owed = openTestShop({ route: { flow: 'upfront' } });
  const payment = await owed.payment();
  owed.works(async () => answerOf('broken', 500));
  assert.equal((await owed.ask({ payment })).status, 500);
  const { store } = owed.rig.options;
  const close = async (shop: typeof owed): Promise<void> => {
    const [record] = await shop.rig.options.store.list({ limit: 1 });
    await shop.rig.options.store.deliver(record?.key ?? '', { kind: 'closed', reference: 'ticket 7' });
  };
  await close(owed);
  const seen = await owed.ask({ payment });
  assert.deepEqual(
    [seen.status, seen.problem.code, seen.problem.money, seen.required],
    [409, 'payment_already_used', 'moved', undefined],
  );
  assert.equal(owed.runs(), 1);
  assert.deepEqual(await store.due(10), []);

  const kept = openTestShop();
  const paid = await kept.payment();
  await kept.ask({ payment: paid, how: 'cut' });
  await close(kept);
  assert.equal((await kept.ask({ payment: paid })).text, 'sunny 1');
});

test('a newer payment for the same request does not wait behind one that an operator has closed', async () => {
  const shop = openTestShop({ seller: { chain: 'none' } });
  shop.rig.settles.push({ says: 'lost' });
  await shop.ask({ payment: await shop.payment() });
  assert.equal(
    (await shop.ask({ payment: await shop.payment() })).problem.code,
    'earlier_payment_unresolved',
  );
  const [record] = await shop.rig.options.store.list({ limit: 1, money: 'unknown' });
  await shop.rig.options.store.deliver(record?.key ?? '', { kind: 'closed', reference: 'ticket 7' });
  assert.equal((await shop.ask({ payment: await shop.payment() })).text, 'sunny 2');
});
