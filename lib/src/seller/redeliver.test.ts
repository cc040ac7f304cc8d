import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTestShop } from '../../test/shop.ts';

test('a route that re-delivers nothing says only that the payment is used', async () => {
  const shop = openTestShop({ route: { redeliver: 'off' } });
  const payment = await shop.payment();
  await shop.ask({ payment });
  const again = await shop.ask({ payment });
  assert.deepEqual(
    [again.status, again.problem.code, again.response],
    [409, 'payment_already_used', undefined],
  );
});

test('an answer that was never delivered is kept beyond its time, for the payment that bought it', async () => {
  const shop = openTestShop();
  const payment = await shop.payment();
  await shop.ask({ payment, how: 'cut' });
  await shop.rig.clock.advance(40_000_000);
  await shop.rig.options.store.prune(100);
  const back = await shop.ask({ payment });
  assert.deepEqual([back.status, back.text], [200, 'sunny 1']);
  assert.equal(shop.runs(), 1);
});

test('re-delivery goes on for ten minutes after the first complete write, to the same signature', async () => {
  const shop = openTestShop();
  const payment = await shop.payment();
  await shop.ask({ payment });
  await shop.rig.clock.advance(599_000);
  await shop.rig.options.store.prune(100);
  assert.equal((await shop.ask({ payment })).text, 'sunny 1');
});

for (const redeliver of ['status', 'off'] as const) {
  test(`S4: a route that re-delivers "${redeliver}" still owes the answer until it was written out whole once`, async () => {
    const shop = openTestShop({ route: { redeliver } });
    const payment = await shop.payment();
    await shop.ask({ payment, how: 'cut' });
    const back = await shop.ask({ payment });
    assert.deepEqual([back.status, back.text], [200, 'sunny 1']);
    const again = await shop.ask({ payment });
    assert.deepEqual([again.status, again.problem.code], [409, 'payment_already_used']);
    const lost = await shop.payment();
    await shop.ask({ payment: lost, how: 'cut' });
    assert.equal((await shop.ask({ payment: await shop.payment() })).text, 'sunny 2');
    assert.deepEqual([shop.runs(), shop.rig.ledger.landed.size], [2, 2]);
  });
}

test('a paid answer that cannot be read any more and never went out is owed, and not "already used"', async () => {
  const shop = openTestShop();
  const payment = await shop.payment();
  await shop.ask({ payment, how: 'cut' });
  const { store } = shop.rig.options;
  const blind = { ...store, readAnswer: async () => new Uint8Array(200) };
  const seen = await shop.ask({ payment, seller: shop.rig.another({ store: blind }) });
  assert.deepEqual(
    [seen.status, seen.problem.code, seen.problem.money, seen.problem.retry],
    [502, 'work_owed', 'moved', 'later'],
  );
  assert.equal(seen.response?.success, true);
});
