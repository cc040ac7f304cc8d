import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createDepthChain, type DepthChain } from '../../test/depth.ts';
import { createRig, network, rest, type SettleScript, said, transactionOf } from '../../test/rig.ts';
import { openTestShop, type TestShop } from '../../test/shop.ts';
import type { ClaimRecord } from '../claim/index.ts';
import { type Assurance, finalityOf } from './assurance.ts';
import type { Alarm } from './event.ts';
import { createSeller } from './seller.ts';

type Flow = 'authorization' | 'upfront';
type Stage = {
  readonly shop: TestShop;
  readonly chain: DepthChain;
  readonly record: () => Promise<ClaimRecord>;
  readonly alarms: () => readonly Alarm[];
};

/** A shop whose only route believes nobody but the chain. */
function openStage(assurance: Assurance, flow: Flow): Stage {
  const ledger = { landed: new Map(), canceled: new Set<string>() };
  const chain = createDepthChain({ ledger });
  const shop = openTestShop({ route: { flow, assurance }, seller: { chains: { [network]: chain } } });
  // The rig moves money in a ledger of its own; the chain reads that one.
  Object.assign(ledger, shop.rig.ledger);
  return {
    shop,
    chain,
    record: async () => {
      const [record] = await shop.rig.options.store.list({ limit: 1 });
      assert.ok(record);
      return record;
    },
    alarms: () => shop.rig.events.flatMap((event) => (event.event === 'alarm' ? [event.alarm] : [])),
  };
}

/** A facilitator that says success, with a hash that never was. */
const lie = (payer: string): SettleScript => ({
  lands: false,
  says: said({ success: true, payer, transaction: transactionOf(404), network }),
});

for (const flow of ['authorization', 'upfront'] as const) {
  test(`S07: ${flow}, an answer waits until the chain shows the transfer as deep as the route asks, and says so`, async () => {
    const { shop, chain, record } = openStage({ chain: 3 }, flow);
    const seen = shop.ask({ payment: await shop.payment() });
    await rest();
    await shop.rig.clock.advance(4_000);
    assert.equal((await record()).money.state, 'sending');
    assert.equal(shop.runs(), flow === 'upfront' ? 0 : 1, 'upfront work began before the money was proven');
    chain.now.confirmations = 3;
    await shop.rig.clock.advance(2_000);
    const { status, text, response } = await seen;
    assert.deepEqual([status, text, response?.transaction], [200, 'sunny 1', transactionOf(1)]);
    const { money, assurance, sendLog } = await record();
    assert.deepEqual(
      [money, assurance],
      [
        {
          state: 'settled',
          transaction: transactionOf(1),
          amount: 10_000n,
          rank: 'chain',
          block: 101,
          finality: 3,
        },
        3,
      ],
    );
    assert.deepEqual(
      sendLog.map(({ said: what, by }) => `${what} by ${by}`),
      ['begun by seller', 'settled by facilitator', 'settled by chain'],
    );
    const told = shop.rig.events.filter((event) => event.event === 'money');
    assert.deepEqual(
      told.map((event) => [event.state, event.basis]),
      [['settled', 'chain 3']],
    );
  });

  test(`S07: ${flow}, a transfer that is not deep enough in time is pending, names its transaction, and is served later`, async () => {
    const { shop, chain, record } = openStage({ chain: 3 }, flow);
    const payment = await shop.payment();
    const first = shop.ask({ payment });
    await rest();
    await shop.rig.clock.advance(32_000);
    const { status, problem, required, response } = await first;
    assert.deepEqual(
      [status, problem.code, problem.money, required],
      [503, 'settlement_unknown', 'unknown', undefined],
    );
    assert.deepEqual(
      [response?.success, response?.errorReason, response?.transaction],
      [false, 'settlement_pending', transactionOf(1)],
    );
    assert.deepEqual((await record()).money, {
      state: 'unknown',
      phase: 'pay',
      n: 1,
      transaction: transactionOf(1),
    });
    assert.equal((await shop.ask({ payment })).response?.errorReason, 'settlement_pending');
    chain.now.confirmations = 3;
    const served = await shop.ask({ payment });
    assert.deepEqual([served.status, served.text, shop.rig.calls.settle], [200, 'sunny 1', 1]);
  });

  test(`F01: ${flow}, a facilitator that lies is never believed: nothing is delivered, and the alarm is raised`, async () => {
    const { shop, chain, record, alarms } = openStage({ chain: 'latest' }, flow);
    const payment = await shop.payment();
    shop.rig.settles.push(lie(shop.rig.buyer.address), lie(shop.rig.buyer.address), {
      ...lie(shop.rig.buyer.address),
    });
    for (let turn = 0; turn < 3; turn += 1) {
      const asked = shop.ask({ payment });
      await rest();
      await shop.rig.clock.advance(32_000);
      const { status, problem, required } = await asked;
      assert.deepEqual([status, problem.code, required], [503, 'settlement_unknown', undefined]);
    }
    assert.deepEqual(alarms(), Array<Alarm>(3).fill('success_without_transfer'));
    assert.equal(shop.runs(), flow === 'upfront' ? 0 : 1);
    chain.now.over = true;
    const dead = await shop.ask({ payment });
    assert.deepEqual(
      [dead.status, dead.problem.code, dead.problem.money],
      [402, 'settlement_refused', 'unmoved'],
    );
    const { money } = await record();
    assert.ok(money.state === 'refused' && money.rank === 'chain');
    assert.deepEqual(alarms().slice(3), ['success_without_transfer']);
    assert.equal(shop.rig.ledger.landed.size, 0);
  });

  test(`F01: ${flow}, where a facilitator's word is enough its lie is delivered, and the record says on whose word`, async () => {
    const { shop, record } = openStage('facilitator', flow);
    shop.rig.settles.push(lie(shop.rig.buyer.address));
    assert.equal((await shop.ask({ payment: await shop.payment() })).status, 200);
    const { money, assurance } = await record();
    assert.ok(money.state === 'settled');
    assert.deepEqual([money.rank, money.finality, assurance], ['facilitator', undefined, undefined]);
    const told = shop.rig.events.find((event) => event.event === 'money');
    assert.equal(told?.basis, 'facilitator-asserted');
  });

  test(`S06: ${flow}, somebody else who settles first settles for us, as deep as the route asks`, async () => {
    const { shop, chain } = openStage({ chain: 2 }, flow);
    const payment = await shop.payment();
    const { from, to, value, nonce } = payment.payload.authorization as Record<string, string>;
    const observed = { transaction: transactionOf(77), amount: String(value), payTo: String(to) };
    const { settles, ledger } = shop.rig;
    settles.push({
      before: Promise.resolve().then(() => ledger.landed.set(`${from}/${nonce}`, observed)),
      says: 'success',
    });
    const early = await shop.ask({ payment });
    assert.deepEqual([early.status, early.response?.transaction], [503, transactionOf(77)]);
    chain.now.confirmations = 2;
    const served = await shop.ask({ payment });
    assert.deepEqual([served.status, served.response?.transaction], [200, transactionOf(77)]);
    assert.deepEqual([shop.rig.calls.settle, shop.runs()], [1, 1]);
  });

  test(`S07: ${flow}, a chain that cannot be read proves nothing: unknown, no alarm, and never a payable 402`, async () => {
    const { shop, chain, alarms } = openStage({ chain: 'latest' }, flow);
    const payment = await shop.payment();
    chain.now.unread = true;
    const asked = shop.ask({ payment });
    await rest();
    await shop.rig.clock.advance(32_000);
    const { status, required } = await asked;
    assert.deepEqual([status, required, alarms()], [503, undefined, []]);
    chain.now.unread = false;
    assert.equal((await shop.ask({ payment })).status, 200);
  });
}

test('an answer that waits for the chain is never waited for longer than a settlement may take', async () => {
  const { shop, chain } = openStage({ chain: 3 }, 'authorization');
  let answeredAtMs = 0;
  const startMs = shop.rig.clock.nowMs();
  const asked = shop.ask({ payment: await shop.payment() }).then((seen) => {
    answeredAtMs = shop.rig.clock.nowMs();
    return seen;
  });
  await rest();
  await shop.rig.clock.advance(60_000);
  assert.equal((await asked).status, 503);
  assert.ok(answeredAtMs - startMs <= 32_000, `${answeredAtMs - startMs} ms`);
  assert.ok(chain.asked.length <= 25, `${chain.asked.length} look-ups`);
});

test('an assurance that no chain can give, or in no time, is a start-up error', () => {
  const { options } = createRig();
  const settings = { method: 'GET', path: '/weather', price: '$0.01' } as const;
  const blind = createSeller({ ...options, chains: {}, assurance: { chain: 'latest' } });
  assert.throws(() => blind.route(settings), /no reader of eip155:31337/);
  assert.ok(blind.route({ ...settings, assurance: 'facilitator' }));
  const seller = createSeller(options);
  const deep = { ...settings, assurance: { chain: 100 }, settleMs: 60_000 };
  assert.throws(() => seller.route(deep), /settleMs, which must be at least 104000/);
  const short = { ...settings, assurance: { chain: 'latest' }, settleMs: 1_000 } as const;
  assert.throws(() => seller.route(short), /at least 5000/);
});

test('an assurance is a facilitator’s word or a finality, and nothing else', () => {
  assert.deepEqual([finalityOf('facilitator'), finalityOf({ chain: 'safe' })], [undefined, 'safe']);
  const wrong: readonly unknown[] = [
    'chain',
    { chain: 0 },
    { chain: 1.5 },
    { chain: 'final' },
    {},
    { chain: 1, safe: 1 },
    null,
    3,
  ];
  for (const value of wrong) assert.throws(() => finalityOf(value as Assurance), TypeError, String(value));
  const { options } = createRig();
  assert.throws(() => createSeller({ ...options, assurance: 'chain' as Assurance }), TypeError);
});
