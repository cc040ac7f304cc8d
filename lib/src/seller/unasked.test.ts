import assert from 'node:assert/strict';
import { test } from 'node:test';
import { network, said, transactionOf } from '../../test/rig.ts';
import { openTestShop, type TestShop } from '../../test/shop.ts';
import type { ClaimRecord } from '../claim/index.ts';
import type { PaymentPayload } from '../wire/v2.ts';

/** An upfront payment whose settle was lost before anything landed, under a background that may send again. */
async function openDoubt(): Promise<{
  shop: TestShop;
  payment: PaymentPayload;
  record: () => Promise<ClaimRecord>;
}> {
  const shop = openTestShop({
    route: { flow: 'upfront' },
    seller: { reconcile: { resend: 'upfront', everyMs: 10_000, jitter: 0 } },
  });
  await shop.rig.seller.ready();
  const payment = await shop.payment();
  shop.rig.settles.push({ says: 'lost' });
  assert.equal((await shop.ask({ payment })).status, 503);
  const record = async (): Promise<ClaimRecord> => {
    const [found] = await shop.rig.options.store.list({ limit: 1 });
    assert.ok(found);
    return found;
  };
  return { shop, payment, record };
}

test('a payment that is sent again without its buyer is owed, is held by nobody, and its buyer gets the work at once', async () => {
  const { shop, payment, record } = await openDoubt();
  await shop.rig.clock.advance(11_000);
  const { money, work, lease, sends } = await record();
  assert.deepEqual([money.state, work.state, lease, sends], ['settled', 'idle', undefined, 2]);
  assert.equal(shop.runs(), 0);
  const served = await shop.ask({ payment });
  assert.deepEqual(
    [served.status, served.text, served.response?.transaction],
    [200, 'sunny 1', transactionOf(1)],
  );
  assert.deepEqual([shop.rig.calls.settle, shop.rig.ledger.landed.size], [2, 1]);
});

test('a payment that stays unknown is sent three times in all, whoever asks', async () => {
  const { shop, payment } = await openDoubt();
  for (let turn = 0; turn < 8; turn += 1) shop.rig.settles.push({ says: 'lost' });
  await shop.rig.clock.advance(200_000);
  assert.equal(shop.rig.calls.settle, 3);
  assert.equal((await shop.ask({ payment })).problem.code, 'settlement_unknown');
  assert.equal(shop.rig.calls.settle, 3);
});

test('nothing is sent again so late that the chain might not take it any more, or once an operator has closed it', async () => {
  const quiet = openTestShop({ route: { flow: 'upfront' } });
  quiet.rig.settles.push({ says: 'lost' });
  await quiet.ask({ payment: await quiet.payment() });
  const [left] = await quiet.rig.options.store.list({ limit: 1 });
  assert.ok(left);
  await quiet.rig.clock.advance(left.validBeforeMs - quiet.rig.clock.nowMs() - 59_000);
  const seller = quiet.rig.another({ reconcile: { resend: 'upfront', everyMs: 10_000, jitter: 0 } });
  await seller.ready();
  await quiet.rig.clock.advance(50_000);
  assert.equal(quiet.rig.calls.settle, 1);

  const closed = await openDoubt();
  const { key } = await closed.record();
  await closed.shop.rig.options.store.deliver(key, { kind: 'closed', reference: 'ticket 7' });
  await closed.shop.rig.clock.advance(60_000);
  assert.equal(closed.shop.rig.calls.settle, 1);
  const again = await closed.shop.ask({ payment: closed.payment });
  assert.deepEqual([again.problem.code, closed.shop.rig.calls.settle], ['settlement_unknown', 1]);
});

test('a re-send that is refused proves nothing, and one that was never sent stays in doubt', async () => {
  const poor = { success: false, errorReason: 'insufficient_funds', transaction: '', network };
  for (const says of [said(poor), 'unsent'] as const) {
    const { shop, record } = await openDoubt();
    shop.rig.settles.push({ says }, { says: 'lost' });
    await shop.rig.clock.advance(11_000);
    assert.deepEqual([(await record()).money.state, shop.rig.calls.settle], ['unknown', 2]);
  }
});
