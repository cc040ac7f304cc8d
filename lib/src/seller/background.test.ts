import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createDepthChain, type DepthChain } from '../../test/depth.ts';
import { createRig, network, rest, said, transactionOf } from '../../test/rig.ts';
import { openTestShop, type ShopOptions, type TestShop } from '../../test/shop.ts';
import type { ClaimRecord, ClaimStore } from '../claim/index.ts';
import { checkReconcile, type ReconcileSettings } from './background.ts';
import type { SellerEvent } from './event.ts';
import { createSeller } from './seller.ts';

type Stage = {
  readonly shop: TestShop;
  readonly chain: DepthChain;
  readonly record: () => Promise<ClaimRecord>;
  readonly alarms: () => readonly string[];
  readonly passes: () => readonly (SellerEvent & { readonly event: 'reconciled' })[];
};

/** A shop whose background is awake. */
async function openStage(
  route: ShopOptions['route'] = {},
  reconcile: ReconcileSettings = {},
): Promise<Stage> {
  const ledger = { landed: new Map(), canceled: new Set<string>() };
  const chain = createDepthChain({ ledger });
  const shop = openTestShop({ route, seller: { chains: { [network]: chain }, reconcile } });
  Object.assign(ledger, shop.rig.ledger);
  await shop.rig.seller.ready();
  return {
    shop,
    chain,
    record: async () => {
      const [record] = await shop.rig.options.store.list({ limit: 1 });
      assert.ok(record);
      return record;
    },
    alarms: () => shop.rig.events.flatMap((event) => (event.event === 'alarm' ? [event.alarm] : [])),
    passes: () => shop.rig.events.filter((event) => event.event === 'reconciled'),
  };
}

/** Long enough for every interval there is. */
const aPassMs = 40_000;
/** From a settlement to the look that is due after it. */
const aLookMs = 70_000;

test('a settle whose answer was lost is found by the background, and the same payment gets its answer', async () => {
  for (const flow of ['authorization', 'upfront'] as const) {
    const { shop, record } = await openStage({ flow });
    const payment = await shop.payment();
    shop.rig.settles.push({ lands: true, says: 'lost' });
    assert.equal((await shop.ask({ payment })).status, 503);
    await shop.rig.clock.advance(aPassMs);
    const { money } = await record();
    assert.ok(money.state === 'settled' && money.rank === 'chain');
    const told = shop.rig.events.findLast((event) => event.event === 'money');
    assert.equal(told?.basis, 'chain latest');
    const served = await shop.ask({ payment });
    assert.deepEqual([served.status, served.text, shop.rig.calls.settle], [200, 'sunny 1', 1]);
    await shop.rig.seller.close();
  }
});

test('S05: a settlement becomes final in the background, and nothing is asked about it any more', async () => {
  const { shop, chain, record, passes } = await openStage();
  await shop.ask({ payment: await shop.payment() });
  await shop.rig.clock.advance(aLookMs);
  const shown = (await record()).money;
  assert.ok(shown.state === 'settled');
  assert.deepEqual([shown.rank, shown.finality], ['chain', 'latest']);
  chain.now.finalized = true;
  await shop.rig.clock.advance(120_000);
  const final = (await record()).money;
  assert.ok(final.state === 'settled' && final.finality === 'finalized');
  assert.equal(passes().at(-1)?.summary.final, 1);
  const asked = chain.asked.length;
  await shop.rig.clock.advance(600_000);
  assert.equal(chain.asked.length, asked);
});

test('S05: a settlement that is reorganised away is missing, is settled again if it lands again, and else is reversed', async () => {
  const { shop, chain, record, alarms } = await openStage();
  const payment = await shop.payment();
  assert.equal((await shop.ask({ payment })).status, 200);
  await shop.rig.clock.advance(aPassMs);
  const { landed } = shop.rig.ledger;
  const [[id, transfer] = ['', undefined]] = [...landed];
  landed.clear();
  await shop.rig.clock.advance(120_000);
  assert.deepEqual([(await record()).money.state, alarms().at(-1)], ['settled', 'settlement_missing']);
  assert.equal((await shop.ask({ payment })).status, 200, 'still paid for, as far as anybody can tell');
  if (transfer !== undefined) landed.set(id, transfer);
  const before = alarms().length;
  await shop.rig.clock.advance(600_000);
  assert.deepEqual([(await record()).money.state, alarms().length], ['settled', before]);
  landed.clear();
  chain.now.over = true;
  await shop.rig.clock.advance(700_000);
  assert.deepEqual([(await record()).money.state, alarms().at(-1)], ['reversed', 'settlement_reversed']);
  const again = await shop.ask({ payment });
  assert.deepEqual(
    [again.status, again.problem.code, again.problem.money, again.required],
    [409, 'settlement_reversed', 'unmoved', undefined],
  );
  assert.equal(shop.runs(), 1);
});

test('F01: a lie that was delivered is found by the background: missing first, and refused once it can never be true', async () => {
  const { shop, chain, record, alarms } = await openStage();
  const payment = await shop.payment();
  const body = { success: true, payer: shop.rig.buyer.address, transaction: transactionOf(404), network };
  shop.rig.settles.push({ lands: false, says: said(body) });
  assert.equal((await shop.ask({ payment })).status, 200);
  await shop.rig.clock.advance(29_000);
  assert.deepEqual(alarms(), [], 'a transaction of a moment ago is no alarm');
  await shop.rig.clock.advance(120_000);
  assert.equal(alarms().at(-1), 'settlement_missing');
  chain.now.over = true;
  await shop.rig.clock.advance(700_000);
  const { money } = await record();
  assert.ok(money.state === 'refused' && money.rank === 'chain');
  assert.equal(alarms().at(-1), 'evidence_overridden');
  assert.equal((await shop.ask({ payment })).problem.code, 'settlement_refused');
});

test('F10: a node that is behind never re-opens a settled payment', async () => {
  const { shop, chain, record, alarms } = await openStage();
  const payment = await shop.payment();
  await shop.ask({ payment });
  await shop.rig.clock.advance(aLookMs);
  chain.now.stale = true;
  chain.now.over = true;
  for (let turn = 0; turn < 20; turn += 1) {
    await shop.rig.clock.advance(aPassMs);
    assert.equal((await shop.ask({ payment })).text, 'sunny 1');
  }
  assert.deepEqual([(await record()).money.state, alarms(), shop.runs()], ['settled', [], 1]);
});

test('nothing is sent again while nobody asks, unless the seller chose that for what moves the money first', async () => {
  const cases = [
    ['authorization', 'never', 1],
    ['authorization', 'upfront', 1],
    ['upfront', 'never', 1],
    ['upfront', 'upfront', 2],
  ] as const;
  for (const [flow, resend, sends] of cases) {
    const { shop } = await openStage({ flow }, { resend });
    const payment = await shop.payment();
    shop.rig.settles.push({ says: 'lost' });
    assert.equal((await shop.ask({ payment })).status, 503);
    await shop.rig.clock.advance(aPassMs);
    assert.deepEqual([flow, resend, shop.rig.calls.settle], [flow, resend, sends]);
    const served = await shop.ask({ payment });
    assert.deepEqual([served.status, served.text], [200, 'sunny 1'], `${flow} ${resend}`);
    assert.deepEqual([shop.rig.ledger.landed.size, shop.runs()], [1, 1]);
    await shop.rig.seller.close();
  }
});

test('a doubt that stays is looked at less and less often, and each look makes room for another payment', async () => {
  const { shop, chain } = await openStage({}, { limit: 1, everyMs: 10_000, jitter: 0 });
  for (const target of ['/weather?a', '/weather?b']) {
    const payment = await shop.payment({ for: { target } });
    shop.rig.settles.push({ says: 'lost' });
    await shop.ask({ payment, target });
  }
  chain.asked.length = 0;
  await shop.rig.clock.advance(20_000);
  assert.equal(chain.asked.length, 2);
  await shop.rig.clock.advance(3_600_000);
  assert.ok(chain.asked.length < 40, `${chain.asked.length} look-ups in an hour`);
});

test('the first passes of a fleet spread over an interval, and the next ones do not fall into step', async () => {
  const moments: number[] = [];
  for (const octet of [0, 64, 128, 255]) {
    const rig = createRig();
    const delays: number[] = [];
    const world = {
      ...rig.world,
      random: (length: number) => new Uint8Array(length).fill(octet),
      after: (delayMs: number, work: () => void) => {
        delays.push(delayMs);
        return rig.clock.after(delayMs, work);
      },
    };
    const seller = createSeller({ ...rig.options, world });
    await seller.ready();
    moments.push(delays[0] ?? -1);
    await rig.clock.advance(30_000);
    const next = delays.findLast((delayMs) => delayMs !== 30_000 && delayMs > 20_000) ?? -1;
    assert.ok(next >= 22_500 && next <= 37_500, String(next));
    await seller.close();
  }
  assert.deepEqual(moments, [0, 7_529, 15_058, 29_999]);
});

test('after close no pass starts, one under way ends, and only then is the store closed', async () => {
  const shop = openTestShop();
  shop.rig.settles.push({ lands: true, says: 'lost' });
  await shop.ask({ payment: await shop.payment() });
  const { store, chains } = shop.rig.options;
  const reader = chains?.[network];
  assert.ok(reader);
  const order: string[] = [];
  const answer = Promise.withResolvers<void>();
  const slow: typeof reader = {
    ...reader,
    fate: async (question) => {
      order.push('asked');
      await answer.promise;
      return reader.fate(question);
    },
  };
  const watched: ClaimStore = {
    ...store,
    recordMoney: async (key, fact) => {
      order.push('written');
      return store.recordMoney(key, fact);
    },
    close: async () => {
      order.push('closed');
    },
  };
  const seller = shop.rig.another({ store: watched, chains: { [network]: slow } });
  await seller.ready();
  await shop.rig.clock.advance(31_000);
  const closed = seller.close();
  await rest();
  assert.deepEqual(order, ['asked']);
  answer.resolve();
  await closed;
  assert.deepEqual(order, ['asked', 'written', 'closed']);
  await seller.ready();
  await shop.rig.clock.advance(120_000);
  assert.equal(order.length, 3);
});

test('a chain that never answers does not keep a seller from closing', async () => {
  const shop = openTestShop();
  const { clock, options } = shop.rig;
  const reader = options.chains?.[network];
  assert.ok(reader);
  shop.rig.settles.push({ says: 'lost' });
  await shop.ask({ payment: await shop.payment() });
  const hung = { ...reader, fate: () => new Promise<never>(() => {}) };
  const seller = shop.rig.another({ chains: { [network]: hung } });
  await seller.ready();
  await clock.advance(31_000);
  let closed = false;
  const closing = seller.close().then(() => {
    closed = true;
  });
  await clock.advance(4_900);
  assert.equal(closed, false);
  await clock.advance(200);
  await closing;
});

test('a store that fails under the background is an alarm, and never an unhandled rejection', async () => {
  const unhandled: unknown[] = [];
  const note = (fault: unknown): number => unhandled.push(fault);
  process.on('unhandledRejection', note);
  const rig = createRig();
  const down = async (): Promise<never> => {
    throw new Error('store');
  };
  const store: ClaimStore = { ...rig.options.store, due: down, unproven: down };
  const seller = createSeller({ ...rig.options, store, observe: (event) => rig.events.push(event) });
  await seller.ready();
  await rig.clock.advance(90_000);
  const alarms = rig.events.filter((event) => event.event === 'alarm');
  assert.ok(alarms.length >= 2);
  for (const alarm of alarms)
    assert.deepEqual([alarm.alarm, alarm.detail], ['store_unavailable', 'reconcile: 3 steps failed']);
  await seller.close();
  await rest();
  process.off('unhandledRejection', note);
  assert.deepEqual(unhandled, []);
});

test('the background is off where it is said so, or where there is no chain to ask', async () => {
  for (const more of [{ reconcile: 'off' }, { chains: {} }] as const) {
    const rig = createRig();
    const store: ClaimStore = {
      ...rig.options.store,
      due: async () => assert.fail('looked'),
    };
    const seller = createSeller({ ...rig.options, store, ...more });
    await seller.ready();
    await rig.clock.advance(600_000);
    assert.deepEqual(rig.events, []);
  }
  const { options } = createRig();
  assert.throws(() => createSeller({ ...options, chains: {}, reconcile: {} }), /chains/);
});

test('settings that nobody could mean are start-up errors', () => {
  assert.deepEqual(checkReconcile({}), { everyMs: 30_000, jitter: 0.25, limit: 200, resend: 'never' });
  const wrong: readonly object[] = [
    { every: 1 },
    { everyMs: 999 },
    { everyMs: Number.NaN },
    { jitter: 1.1 },
    { jitter: Number.NaN },
    { limit: 0 },
    { resend: 'always' },
  ];
  for (const settings of wrong)
    assert.throws(() => checkReconcile(settings as ReconcileSettings), TypeError, JSON.stringify(settings));
});
