import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTestShop } from '../../test/shop.ts';
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
