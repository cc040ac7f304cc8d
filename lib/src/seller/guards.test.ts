import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf, buyerOf, createRig, read, requestOf, rest } from '../../test/rig.ts';
import { openTestShop } from '../../test/shop.ts';
import { StoreError } from '../stores/error.ts';

for (const flow of ['authorization', 'upfront'] as const) {
  test(`C07, B08: ${flow}, a sound signature for one unit, or for another payee, buys nothing and leaves no claim`, async () => {
    const shop = openTestShop({ route: { flow } });
    const { required } = await shop.ask();
    const [ours] = required?.accepts ?? [];
    assert.ok(required && ours);
    for (const change of [{ amount: 1n }, { payTo: `0x${'00'.repeat(19)}aa` }]) {
      const cheap = await shop.rig.pay({ ...required, accepts: [{ ...ours, ...change }] });
      const seen = await shop.ask({ payment: { ...cheap, accepted: ours } });
      assert.deepEqual(
        [seen.status, seen.problem.code, seen.problem.money],
        [402, 'requirement_mismatch', 'unmoved'],
      );
    }
    assert.deepEqual([shop.runs(), shop.rig.calls.verify, shop.rig.calls.settle], [0, 0, 0]);
    assert.equal((await shop.rig.options.store.list({ limit: 1 })).length, 0);
  });
}

test('C07: a well-formed signature by another key takes nothing, and the payer’s own is served', async () => {
  const shop = openTestShop();
  const payment = await shop.payment();
  const stranger = await shop.payment({ buyer: buyerOf(0x22) });
  const signature = stranger.payload.signature ?? '';
  const forged = { ...payment, payload: { ...payment.payload, signature } };
  const seen = await shop.ask({ payment: forged });
  assert.deepEqual(
    [seen.status, seen.problem.code, seen.problem.money],
    [402, 'signature_invalid', 'unmoved'],
  );
  assert.deepEqual([shop.runs(), shop.rig.calls.verify], [0, 0]);
  assert.equal((await shop.ask({ payment })).status, 200);
});

test('C13: whoever knows payer and nonce of a settled payment, but not its signature, learns nothing', async () => {
  const shop = openTestShop();
  const payment = await shop.payment();
  await shop.ask({ payment });
  const lengths = [80, 64, 200];
  for (const length of lengths) {
    const signature = `0x${'ab'.repeat(length)}`;
    const seen = await shop.ask({ payment: { ...payment, payload: { ...payment.payload, signature } } });
    assert.deepEqual(
      [seen.status, seen.problem.code, seen.response],
      [409, 'payment_already_used', undefined],
    );
    assert.doesNotMatch(seen.text, /sunny/);
  }
  assert.equal(shop.runs(), 1);
});

test('an unknown payment is sent again only for the signature that it was sent with', async () => {
  const shop = openTestShop();
  const payment = await shop.payment();
  shop.rig.settles.push({ says: 'lost' });
  await shop.ask({ payment });
  const signature = `0x${'ab'.repeat(80)}`;
  const seen = await shop.ask({ payment: { ...payment, payload: { ...payment.payload, signature } } });
  assert.equal(seen.status, 503);
  assert.equal(shop.rig.calls.settle, 1);
});

test('C06: one authorization at two routes at once, in two processes, runs one of them', async () => {
  const rig = createRig();
  const other = rig.another();
  const settings = { method: 'GET', price: '$0.01' } as const;
  const weather = rig.seller.route({ ...settings, path: '/weather' });
  const premium = other.route({ ...settings, path: '/premium' });
  let runs = 0;
  const gate = Promise.withResolvers<void>();
  const work = async () => {
    runs += 1;
    await gate.promise;
    return answerOf('sold');
  };
  const { required } = await read(rig.seller.charge(weather, requestOf(), work));
  assert.ok(required);
  const payment = await rig.pay(required);
  const both = [
    read(rig.seller.charge(weather, requestOf({ payment }), work)),
    read(other.charge(premium, requestOf({ payment, target: '/premium' }), work)),
  ];
  await rest();
  gate.resolve();
  const statuses = (await Promise.all(both)).map(({ status }) => status).sort();
  assert.equal(statuses.filter((status) => status === 200).length, 1);
  assert.deepEqual([runs, rig.calls.settle], [1, 1]);
});

test('S2: a payment that was used does not buy the same path with another method, body or content type', async () => {
  const shop = openTestShop({ route: { method: 'POST' } });
  const payment = await shop.payment();
  const json = [['content-type', 'application/json']] as const;
  assert.equal((await shop.ask({ payment, body: '{"a":1}', headers: json })).status, 200);
  const others = [
    { body: '{"a":2}', headers: json },
    { body: '{"a":1}', headers: [['content-type', 'text/plain']] as const },
  ];
  for (const ask of others) {
    const seen = await shop.ask({ payment, ...ask });
    assert.deepEqual([seen.status, seen.problem.code], [409, 'payment_already_used']);
  }
  const { seller } = shop.rig;
  const put = seller.route({ method: 'PUT', path: '/weather', price: '$0.01' });
  const request = requestOf({ method: 'PUT', payment, body: '{"a":1}', headers: json });
  const seen = await read(seller.charge(put, request, async () => assert.fail('it ran')));
  assert.deepEqual([seen.status, seen.problem.code], [409, 'payment_already_used']);
  assert.equal(shop.runs(), 1);
});

for (const copies of [2, 20, 50, 200]) {
  test(`C01: of ${copies} copies at once, ten times over, one runs and one settles each time`, async () => {
    const shop = openTestShop();
    for (let round = 1; round <= 10; round += 1) {
      const payment = await shop.payment();
      const seen = await Promise.all(Array.from({ length: copies }, () => shop.ask({ payment })));
      assert.equal(seen.filter(({ status }) => status === 200).length, 1);
      const losers = seen.filter(({ status }) => status !== 200);
      assert.ok(losers.every(({ problem }) => problem.code === 'payment_in_progress'));
      assert.ok(
        losers.every(({ response }) => response?.payer === undefined && response?.transaction === ''),
      );
      assert.deepEqual([shop.runs(), shop.rig.calls.settle], [round, round]);
    }
  });
}

test('C09: a store forgets what retention allows on the back of paid requests, and nothing sooner', async () => {
  const shop = openTestShop();
  const old = await shop.payment();
  await shop.ask({ payment: old });
  await shop.rig.clock.advance(3_000_000);
  for (let visit = 0; visit < 130; visit += 1) await shop.ask({ payment: await shop.payment() });
  const key = `eip155:31337/eip3009/`;
  const before = await shop.rig.options.store.list({ limit: 1_000 });
  assert.equal(before.length, 131);
  assert.ok(before.every((record) => record.key.startsWith(key)));
  await shop.rig.clock.advance(2_000_000);
  for (let visit = 0; visit < 130; visit += 1) await shop.ask({ payment: await shop.payment() });
  await rest();
  const after = await shop.rig.options.store.list({ limit: 1_000 });
  assert.equal(after.length, 260);
});

test('G06: a signature of another length from a payer without code is nobody’s, and costs no facilitator call', async () => {
  const shop = openTestShop();
  const payment = await shop.payment();
  const signature = `${String(payment.payload.signature)}00`;
  const seen = await shop.ask({ payment: { ...payment, payload: { ...payment.payload, signature } } });
  assert.deepEqual([seen.status, seen.problem.code], [402, 'signature_invalid']);
  const counterfactual = `0x${'11'.repeat(80)}${'6492'.repeat(16)}`;
  const asked = await shop.ask({
    payment: { ...payment, payload: { ...payment.payload, signature: counterfactual } },
  });
  assert.equal(asked.status, 200);
  assert.deepEqual([shop.rig.calls.verify, shop.runs()], [1, 1]);
});

test('contract signatures are judged a few at a time, the question whether there is code included', async () => {
  const shop = openTestShop();
  const gate = Promise.withResolvers<boolean>();
  const reader = shop.rig.options.chains?.['eip155:31337'];
  assert.ok(reader);
  let asked = 0;
  const hasCode = () => {
    asked += 1;
    return gate.promise;
  };
  const seller = shop.rig.another({ chains: { 'eip155:31337': { ...reader, hasCode } } });
  const signature = `0x${'ab'.repeat(80)}`;
  const payments = await Promise.all(Array.from({ length: 40 }, () => shop.payment()));
  const all = payments.map((payment) =>
    shop.ask({ payment: { ...payment, payload: { ...payment.payload, signature } }, seller }),
  );
  await rest();
  assert.equal(asked, 8);
  gate.resolve(false);
  const codes = (await Promise.all(all)).map(({ problem }) => problem.code);
  assert.equal(codes.filter((code) => code === 'facilitator_unavailable').length, 32);
});

test('an operator is told which fault of the store it was', async () => {
  const shop = openTestShop();
  const busy = () => Promise.reject(Object.assign(new Error('locked'), { code: 'store_busy' }));
  const seller = shop.rig.another({ store: { ...shop.rig.options.store, find: busy } });
  const seen = await shop.ask({ payment: await shop.payment(), seller });
  assert.equal(seen.problem.code, 'store_unavailable');
  assert.doesNotMatch(seen.text, /store_busy|locked/);
  assert.ok(shop.rig.events.some((event) => event.event === 'alarm' && event.detail === 'store_busy'));
  const down = () => Promise.reject(new StoreError('store_failed', 'The disk is full.'));
  const other = shop.rig.another({ store: { ...shop.rig.options.store, find: down } });
  assert.doesNotMatch((await shop.ask({ payment: await shop.payment(), seller: other })).text, /disk/);
  const said = 'store_failed: The disk is full.';
  assert.ok(shop.rig.events.some((event) => event.event === 'alarm' && event.detail === said));
});
