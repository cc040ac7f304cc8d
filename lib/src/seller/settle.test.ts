import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTestShop } from '../../test/shop.ts';
import type { ClaimStore } from '../claim/index.ts';
import type { FacilitatorQuestion } from '../settlement/index.ts';

test('a facilitator is asked about our own terms and our own reading of the payload, not the buyer’s spelling', async () => {
  const shop = openTestShop();
  const asked: FacilitatorQuestion[] = [];
  const facilitator = {
    ...shop.rig.options.facilitator,
    settle: async (question: FacilitatorQuestion) => {
      asked.push(question);
      return shop.rig.options.facilitator.settle(question);
    },
  };
  const payment = await shop.payment();
  const authorization = payment.payload.authorization as Record<string, string>;
  const loud = { ...authorization, nonce: `0x${authorization.nonce?.slice(2).toUpperCase()}` };
  const seller = shop.rig.another({ facilitator });
  const seen = await shop.ask({
    payment: { ...payment, payload: { ...payment.payload, authorization: loud } },
    seller,
  });
  assert.equal(seen.status, 200);
  const [question] = asked;
  assert.equal(JSON.stringify(question?.payment).includes(String(authorization.nonce)), true);
  assert.equal(JSON.stringify(question?.payment).includes(loud.nonce), false);
  assert.equal((await shop.ask({ payment, seller })).text, 'sunny 1');
  assert.equal(shop.rig.ledger.landed.size, 1);
});

test('S13: one payment makes one settle call and one verify, however often it is presented', async () => {
  const shop = openTestShop();
  const payment = await shop.payment();
  for (let turn = 0; turn < 10; turn += 1) await shop.ask({ payment });
  assert.deepEqual([shop.rig.calls.verify, shop.rig.calls.settle, shop.rig.calls.supported], [1, 1, 1]);
});

/** A store that fails over once the send has begun, to a state from before it. */
function forgetting(shop: ReturnType<typeof openTestShop>): ClaimStore {
  const { store } = shop.rig.options;
  return {
    ...store,
    recordMoney: async (key) => {
      const { record, nowMs } = await store.find(key);
      if (record === undefined) return { changed: false, nowMs };
      const { lease: _, ...before } = record;
      return { record: { ...before, money: { state: 'none' }, sends: 0 }, changed: false, nowMs };
    },
  };
}

test('S3: a store that forgot a send makes nobody say that nothing moved: what settled is served, what is not known is unknown', async () => {
  for (const says of ['settled', 'lost'] as const) {
    const shop = openTestShop();
    if (says === 'lost') shop.rig.settles.push({ lands: true, says: 'lost' });
    const seller = shop.rig.another({ store: forgetting(shop) });
    const seen = await shop.ask({ payment: await shop.payment(), seller });
    assert.deepEqual(
      [seen.status, seen.required],
      [says === 'settled' ? 200 : 503, undefined],
      'and a new payment is never asked for',
    );
    if (says === 'lost')
      assert.deepEqual([seen.problem.code, seen.problem.money], ['settlement_unknown', 'unknown']);
    assert.ok(
      shop.rig.events.some((event) => event.event === 'alarm' && event.alarm === 'store_lost_a_send'),
    );
  }
});
