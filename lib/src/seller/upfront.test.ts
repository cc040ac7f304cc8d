import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf, rest, said, transactionOf } from '../../test/rig.ts';
import { openTestShop } from '../../test/shop.ts';

const upfront = { route: { flow: 'upfront' as const } };

test('upfront says so in its terms, moves the money first and asks for no verify', async () => {
  const shop = openTestShop(upfront);
  const { required } = await shop.ask();
  assert.equal(required?.accepts[0]?.extra.paymentFlow, 'upfront');
  const payment = await shop.payment();
  shop.works(async () => answerOf(`landed ${shop.rig.ledger.landed.size}`));
  const seen = await shop.ask({ payment });
  assert.deepEqual([seen.status, seen.text], [200, 'landed 1']);
  assert.equal(seen.response?.transaction, transactionOf(1));
  assert.deepEqual([shop.rig.calls.verify, shop.rig.calls.settle], [0, 1]);
});

test('upfront: while the settlement is refused or unknown the work does not run', async () => {
  const shop = openTestShop(upfront);
  shop.rig.settles.push({
    says: said({
      success: false,
      errorReason: 'insufficient_funds',
      transaction: '',
      network: 'eip155:31337',
    }),
  });
  const refused = await shop.ask({ payment: await shop.payment() });
  assert.deepEqual([refused.status, refused.problem.code], [402, 'settlement_refused']);
  shop.rig.settles.push({ says: 'lost' });
  const unknown = await shop.ask({ payment: await shop.payment() });
  assert.deepEqual([unknown.status, unknown.problem.code], [503, 'settlement_unknown']);
  assert.equal(shop.runs(), 0);
});

test('upfront: work that fails is owed; the same payment runs it again, and then it stands on the owed list', async () => {
  const shop = openTestShop(upfront);
  const payment = await shop.payment();
  shop.works(async () => answerOf('broken', 500));
  const first = await shop.ask({ payment });
  assert.deepEqual([first.status, first.text], [500, 'broken']);
  assert.match(first.header('counterfoil-payment') ?? '', /code=work_owed; money=moved; retry=same_payment/);
  assert.equal(first.response?.transaction, transactionOf(1));
  const second = await shop.ask({ payment });
  assert.match(second.header('counterfoil-payment') ?? '', /retry=later/);
  const third = await shop.ask({ payment });
  assert.deepEqual(
    [third.status, third.problem.code, third.problem.money, third.problem.retry],
    [502, 'work_owed', 'moved', 'later'],
  );
  assert.equal(third.response?.transaction, transactionOf(1));
  assert.deepEqual([shop.runs(), shop.rig.calls.settle], [2, 1]);
  const due = await shop.rig.options.store.due(10);
  assert.deepEqual(
    due.map(({ work, money }) => [work.state, money.state]),
    [['exhausted', 'settled']],
  );
});

test('upfront: owed work that succeeds at the second run is delivered and not charged again', async () => {
  const shop = openTestShop(upfront);
  const payment = await shop.payment();
  shop.works(async () => {
    throw new Error('no');
  });
  const first = await shop.ask({ payment });
  assert.deepEqual(
    [first.status, first.problem.code, first.problem.money, first.problem.retry],
    [502, 'work_owed', 'moved', 'same_payment'],
  );
  shop.works(async () => answerOf('sunny'));
  assert.equal((await shop.ask({ payment })).text, 'sunny');
  assert.deepEqual([shop.runs(), shop.rig.ledger.landed.size], [2, 1]);
});

test('upfront: a seller that died between the settlement and the work leaves work that the same payment runs', async () => {
  const shop = openTestShop(upfront);
  const payment = await shop.payment();
  const store = shop.rig.options.store;
  const never = () => new Promise<never>(() => {});
  const dying = { ...store, startWork: never, heartbeat: never };
  void shop.ask({ payment, seller: shop.rig.another({ store: dying }) });
  await rest();
  assert.equal(shop.rig.ledger.landed.size, 1);
  assert.equal((await shop.ask({ payment })).problem.code, 'payment_in_progress');
  await shop.rig.clock.advance(36_000);
  const back = await shop.ask({ payment });
  assert.deepEqual([back.status, back.text], [200, 'sunny 1']);
  assert.deepEqual([shop.runs(), shop.rig.ledger.landed.size], [1, 1]);
});

test('upfront: owed work runs even after its authorization has expired, since the money moved', async () => {
  const shop = openTestShop(upfront);
  const payment = await shop.payment();
  shop.works(async () => answerOf('broken', 500));
  await shop.ask({ payment });
  await shop.rig.clock.advance(400_000);
  shop.works(async () => answerOf('sunny'));
  assert.equal((await shop.ask({ payment })).text, 'sunny');
});

test('C01: upfront, of twenty copies one settles and runs', async () => {
  const shop = openTestShop(upfront);
  const payment = await shop.payment();
  const gate = Promise.withResolvers<void>();
  shop.rig.settles.push({ says: 'success', before: gate.promise });
  const second = shop.rig.another();
  const copies = Array.from({ length: 20 }, (_, copy) =>
    shop.ask({ payment, ...(copy % 2 === 0 ? {} : { seller: second }) }),
  );
  await rest();
  gate.resolve();
  const seen = await Promise.all(copies);
  assert.equal(seen.filter(({ status }) => status === 200).length, 1);
  assert.ok(
    seen
      .filter(({ status }) => status !== 200)
      .every(({ status, required }) => status === 402 && required === undefined),
  );
  assert.deepEqual([shop.runs(), shop.rig.calls.settle], [1, 1]);
});

test('I3: upfront, a doubt that the chain resolves after the authorization is over is paid work, and no invitation to pay', async () => {
  const shop = openTestShop(upfront);
  const payment = await shop.payment();
  shop.rig.settles.push({ lands: true, says: 'lost' });
  assert.equal((await shop.ask({ payment })).problem.code, 'settlement_unknown');
  await shop.rig.clock.advance(400_000);
  const back = await shop.ask({ payment });
  assert.deepEqual([back.status, back.text, back.required], [200, 'sunny 1', undefined]);
  assert.equal(shop.rig.ledger.landed.size, 1);
});

test('upfront: owed work whose last run died is owed to a newer payment as well, and not in progress', async () => {
  const shop = openTestShop({ route: { flow: 'upfront', attempts: 1 } });
  const dying = { ...shop.rig.options.store, heartbeat: () => new Promise<never>(() => {}) };
  shop.works(() => new Promise<never>(() => {}));
  void shop.ask({
    payment: await shop.payment(),
    seller: shop.rig.another({ store: { ...dying, fail: dying.heartbeat } }),
  });
  await rest();
  await shop.rig.clock.advance(36_000);
  const seen = await shop.ask({ payment: await shop.payment() });
  assert.deepEqual([seen.status, seen.problem.code, seen.problem.money], [502, 'work_owed', 'unmoved']);
  assert.deepEqual([shop.runs(), shop.rig.ledger.landed.size], [1, 1]);
});

test('upfront: a settlement that outlasts what heartbeats could confirm does not cost the payment an attempt', async () => {
  const shop = openTestShop(upfront);
  const payment = await shop.payment();
  const settled = Promise.withResolvers<void>();
  shop.rig.settles.push({ says: 'success', hold: settled.promise });
  const mute = { ...shop.rig.options.store, heartbeat: () => Promise.reject(new Error('down')) };
  const seen = shop.ask({ payment, seller: shop.rig.another({ store: mute }) });
  await rest();
  await shop.rig.clock.advance(26_000);
  settled.resolve();
  assert.deepEqual([(await seen).status, (await seen).text, shop.runs()], [200, 'sunny 1', 1]);
});
