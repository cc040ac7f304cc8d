import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { reconcile } from 'counterfoil/settlement';
import type { FaultName } from '../spoil.ts';
import { type Market, openMarket, present, type Stall, seen } from './market.ts';

/** Each moves the money and loses the answer in its own way. */
const landed: readonly FaultName[] = [
  'land_then_502',
  'land_then_504',
  'land_then_reset',
  'land_then_cut',
  'land_then_truncated',
  'land_then_hang',
  'land_then_refused',
];
/** Each moves nothing and tells nothing. */
const silent: readonly FaultName[] = ['unavailable', 'reset', 'hang'];
/** A hanging facilitator is given up after this long. */
const settleMs = 1_000;

describe('a settle whose answer is lost, on a real chain', () => {
  let market: Market;
  before(async () => {
    market = await openMarket();
  });
  after(() => market.close());
  afterEach(async () => {
    // Whatever a test that failed has left behind: without blocks every later one would wait for its limit.
    await market.devnet.chain.setAutomine(true);
    await market.rig.setReachable(true);
    market.rig.setMode('pass');
    market.rig.setVerifyMode('pass');
    market.rig.clear();
  });

  for (const flow of ['authorization', 'upfront'] as const) {
    for (const fault of landed) {
      test(`S04: ${flow}, ${fault}: the same payment gets its answer, and the buyer paid once`, async () => {
        const stall = await market.open({ flow, settleMs });
        const buyer = market.buyer();
        const payment = await buyer.sign(stall.url);
        market.rig.setMode([fault]);
        const first = await present(stall.url, payment);
        // Only a refusal in words that prove nothing is looked up at once; silence is not (design 9.1).
        if (fault === 'land_then_refused') assert.deepEqual([first.status, first.text], [200, 'sunny 1']);
        else
          assert.deepEqual([first.status, first.code, first.money], [503, 'settlement_unknown', 'unknown']);
        assert.equal(first.required, undefined);
        const again = await present(stall.url, payment);
        assert.deepEqual([again.status, again.text], [200, 'sunny 1']);
        const transfers = await buyer.transfers();
        assert.deepEqual([transfers.length, market.rig.counts().settle, stall.runs()], [1, 1, 1]);
        assert.equal(again.response?.transaction, transfers[0]?.transaction);
        const { money } = await stall.record();
        assert.ok(money.state === 'settled' && money.rank === 'chain');
      });
    }

    for (const fault of silent) {
      test(`S04: ${flow}, ${fault} and nothing landed: the identical payment is sent again and buys once`, async () => {
        const stall = await market.open({ flow, settleMs });
        const buyer = market.buyer();
        const payment = await buyer.sign(stall.url);
        market.rig.setMode([fault]);
        const first = await present(stall.url, payment);
        assert.deepEqual([first.status, first.code], [503, 'settlement_unknown']);
        assert.equal(first.required, undefined);
        const again = await present(stall.url, payment);
        assert.deepEqual([again.status, again.text], [200, 'sunny 1']);
        const { settle } = market.rig.counts();
        assert.deepEqual([(await buyer.transfers()).length, settle, stall.runs()], [1, 2, 1]);
        const [one, two] = market.rig.calls('settle');
        assert.deepEqual(one?.body, two?.body, 'the second send was not identical');
      });
    }

    test(`S04: ${flow}, a stock agent that retries until its first 200 pays once and is served within three calls`, async () => {
      for (const fault of landed) {
        const stall = await market.open({ flow, settleMs });
        const buyer = market.buyer();
        market.rig.setMode([fault]);
        const answers = await untilServed(stall, buyer.fetch);
        assert.ok(answers.length <= 3, `${fault}: ${answers.length} calls`);
        const served = answers.at(-1);
        assert.deepEqual([served?.status, served?.text], [200, 'sunny 1'], fault);
        assert.equal((await buyer.transfers()).length, 1, fault);
        assert.equal(stall.runs(), 1, fault);
        assert.deepEqual(
          answers.filter(({ required }) => required !== undefined),
          [],
          `${fault}: a payment was answered with a request for another`,
        );
      }
    });

    test(`S04: ${flow}, without a chain to read an unknown payment stays unknown, and is never sent again blindly`, async () => {
      const stall = await market.open({ flow, chain: 'none' });
      const buyer = market.buyer();
      const payment = await buyer.sign(stall.url);
      market.rig.setMode(['land_then_502']);
      for (let turn = 0; turn < 3; turn += 1) {
        const answer = await present(stall.url, payment);
        assert.deepEqual(
          [answer.status, answer.code, answer.required],
          [503, 'settlement_unknown', undefined],
        );
      }
      assert.equal((await buyer.transfers()).length, 1);
      const newer = await present(stall.url, await buyer.sign(stall.url));
      assert.deepEqual(
        [newer.status, newer.code, newer.money],
        [503, 'earlier_payment_unresolved', 'unmoved'],
      );
      assert.equal((await buyer.transfers()).length, 1);
      const summary = await reconcile(stall.store, (name) =>
        name === market.devnet.network ? market.chain : undefined,
      );
      assert.deepEqual([summary.looked, summary.settled], [1, 1]);
      const served = await present(stall.url, payment);
      assert.deepEqual([served.status, served.text, stall.runs()], [200, 'sunny 1', 1]);
    });

    test(`S04: ${flow}, a payment that is slow to be mined is sent again meanwhile, and still moves once`, async () => {
      const stall = await market.open({ flow, settleMs });
      const buyer = market.buyer();
      const payment = await buyer.sign(stall.url);
      await market.devnet.chain.setAutomine(false);
      const first = await present(stall.url, payment);
      assert.deepEqual([first.status, first.code], [503, 'settlement_unknown']);
      const again = present(stall.url, payment);
      const arrived = market.rig.arrived(2).then(() => 'arrived');
      assert.equal(await Promise.race([arrived, again]), 'arrived');
      await market.devnet.chain.setAutomine(true);
      await market.devnet.chain.mine();
      const answers = [await again, await present(stall.url, payment)];
      assert.deepEqual([answers[1]?.status, answers[1]?.text], [200, 'sunny 1']);
      assert.deepEqual(
        answers.filter(({ required }) => required !== undefined),
        [],
      );
      assert.deepEqual([(await buyer.transfers()).length, stall.runs()], [1, 1]);
    });

    test(`a settle that was never sent, for the facilitator refused the connection, leaves the payment unmoved: ${flow}`, async () => {
      const stall = await market.open({ flow });
      const buyer = market.buyer();
      const payment = await buyer.sign(stall.url);
      await market.rig.setReachable(false);
      const first = await present(stall.url, payment);
      assert.deepEqual(
        [first.status, first.code, first.money, first.retry, first.required],
        [503, 'facilitator_unavailable', 'unmoved', 'same_payment', undefined],
      );
      await market.rig.setReachable(true);
      const again = await present(stall.url, payment);
      assert.deepEqual([again.status, again.text], [200, 'sunny 1']);
      assert.deepEqual([(await buyer.transfers()).length, stall.runs()], [1, 1]);
    });

    test(`a settle that is refused for good invites a new payment, which buys: ${flow}`, async () => {
      const stall = await market.open({ flow });
      const buyer = market.buyer();
      const payment = await buyer.sign(stall.url);
      market.rig.setMode(['refused']);
      const refused = await present(stall.url, payment);
      assert.deepEqual([refused.status, refused.code, refused.money], [402, 'settlement_refused', 'unmoved']);
      assert.ok(refused.required);
      const served = await present(stall.url, await buyer.sign(stall.url));
      assert.equal(served.status, 200);
      assert.equal((await buyer.transfers()).length, 1);
    });
  }
});

/** Calls as an agent does that knows nothing of payments: again and again, until it is served. */
async function untilServed(
  stall: Stall,
  call: (url: string) => Promise<Response>,
): Promise<readonly Awaited<ReturnType<typeof seen>>[]> {
  const answers: Awaited<ReturnType<typeof seen>>[] = [];
  while (answers.length < 5 && answers.at(-1)?.status !== 200)
    answers.push(await seen(await call(stall.url)));
  return answers;
}
