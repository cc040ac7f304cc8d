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
