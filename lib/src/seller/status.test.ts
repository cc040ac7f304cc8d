/** S09: what every status of a handler comes to, in both flows: what is delivered, what is charged, what is written down. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf } from '../../test/rig.ts';
import { openTestShop } from '../../test/shop.ts';
import { rowOf } from '../../test/table.ts';

type Flow = 'authorization' | 'upfront';
/** The answer as a row, transfers, then work and money of the record. */
type Outcome = readonly [row: string, transfers: number, work: string, money: string];

const sold = (status: number): Outcome => [`${status} PS{success}`, 1, 'done', 'settled'];
const failed = (status: number): Record<Flow, Outcome> => ({
  authorization: [`${status} work_failed unmoved same_payment`, 0, 'failed', 'none'],
  upfront: [`${status} PS{success} work_owed moved same_payment`, 1, 'failed', 'settled'],
});
const redirect: Record<Flow, Outcome> = {
  authorization: ['502 redirect_not_sold unmoved never', 0, 'failed', 'none'],
  upfront: ['502 PS{success} work_owed moved same_payment', 1, 'failed', 'settled'],
};
/** No final answer at all: 1xx, and what is no status. */
const none: Record<Flow, Outcome> = {
  authorization: ['500 work_failed unmoved same_payment', 0, 'failed', 'none'],
  upfront: ['502 PS{success} work_owed moved same_payment', 1, 'failed', 'settled'],
};
const both = (outcome: Outcome): Record<Flow, Outcome> => ({ authorization: outcome, upfront: outcome });

const table: readonly (readonly [number, 'refuse' | 'sell', Record<Flow, Outcome>])[] = [
  [103, 'refuse', none],
  [200, 'refuse', both(sold(200))],
  [201, 'refuse', both(sold(201))],
  [204, 'refuse', both(sold(204))],
  [206, 'refuse', both(sold(206))],
  [301, 'refuse', redirect],
  [302, 'refuse', redirect],
  [304, 'refuse', redirect],
  [399, 'refuse', redirect],
  [301, 'sell', both(sold(301))],
  [302, 'sell', both(sold(302))],
  [304, 'sell', both(sold(304))],
  [399, 'sell', both(sold(399))],
  ...[400, 401, 402, 404, 409, 429, 500, 502, 503, 599].map(
    (status) => [status, 'refuse', failed(status)] as const,
  ),
];

for (const flow of ['authorization', 'upfront'] as const) {
  for (const [status, redirects, expected] of table) {
    test(`S09: ${flow}, a handler that answers ${status}, where redirects are set to ${redirects}`, async () => {
      const shop = openTestShop({ route: { flow, redirects } });
      const body = status === 204 || status === 304 ? '' : 'secret';
      shop.works(async () => answerOf(body, status));
      const seen = await shop.ask({ payment: await shop.payment() });
      const [record] = await shop.rig.options.store.list({ limit: 2 });
      assert.ok(record);
      const outcome = [rowOf(seen), shop.rig.ledger.landed.size, record.work.state, record.money.state];
      assert.deepEqual(outcome, expected[flow]);
      assert.equal(seen.required, undefined, 'a handler never makes a 402 of ours');
      assert.equal(shop.runs(), 1);
      const delivered = record.deliveredAtMs !== undefined;
      assert.equal(delivered, expected[flow][2] === 'done', 'what was not delivered is not said to be');
      // A redirect may point at the goods: nothing of it leaves.
      if (redirects === 'refuse' && status >= 300 && status < 400) assert.doesNotMatch(seen.text, /secret/);
      if (status >= 400) assert.equal(seen.text, 'secret', 'the handler’s own words');
    });
  }
}

test('S09: upfront, work that failed after the charge is run again for the same payment and charged no second time', async () => {
  for (const status of [302, 404, 500]) {
    const shop = openTestShop({ route: { flow: 'upfront' } });
    const payment = await shop.payment();
    shop.works(async () => answerOf('no', status));
    await shop.ask({ payment });
    shop.works(async () => answerOf('sunny'));
    const seen = await shop.ask({ payment });
    assert.deepEqual([seen.status, seen.text, shop.rig.ledger.landed.size], [200, 'sunny', 1]);
  }
});
