import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf, network, rest, type SettleScript, said, transactionOf } from '../../test/rig.ts';
import { openTestShop } from '../../test/shop.ts';
import type { TransportResult } from '../settlement/index.ts';

const garbled = (body: Parameters<typeof said>[0], status?: number): TransportResult => said(body, status);

/** Each loses the answer of a settle that landed, in its own way. */
const faults: readonly (readonly [string, SettleScript])[] = [
  ['502', { lands: true, says: garbled({ error: 'bad gateway' }, 502) }],
  ['504', { lands: true, says: garbled({}, 504) }],
  ['reset or time-out', { lands: true, says: 'lost' }],
  ['truncated JSON', { lands: true, says: { kind: 'answer', status: 200, body: undefined } }],
  [
    'success false in words that prove nothing',
    {
      lands: true,
      says: garbled({ success: false, errorReason: 'unexpected_settle_error', transaction: '', network }),
    },
  ],
  [
    'success as a text',
    { lands: true, says: garbled({ success: 'true', transaction: transactionOf(1), network }) },
  ],
  [
    'success on another network',
    { lands: true, says: garbled({ success: true, transaction: transactionOf(1), network: 'eip155:1' }) },
  ],
  [
    'success without a transaction',
    { lands: true, says: garbled({ success: true, transaction: '', network }) },
  ],
];

for (const flow of ['authorization', 'upfront'] as const) {
  for (const [name, script] of faults) {
    test(`S04: ${flow}, landed and answered with ${name}: the same payment gets its answer, charged once`, async () => {
      const shop = openTestShop({ route: { flow } });
      const payment = await shop.payment();
      shop.rig.settles.push(script);
      const first = await shop.ask({ payment });
      assert.ok(first.status === 503 || first.status === 200, `status ${first.status}`);
      assert.equal(first.required, undefined);
      const again = await shop.ask({ payment });
      assert.equal(again.status, 200);
      assert.equal(again.text, 'sunny 1');
      assert.equal(again.response?.transaction, transactionOf(1));
      assert.equal(shop.rig.ledger.landed.size, 1);
      assert.equal(shop.runs(), 1);
    });

    test(`S04: ${flow}, not landed and answered with ${name}: the identical payment is sent again and buys once`, async () => {
      const shop = openTestShop({ route: { flow } });
      const payment = await shop.payment();
      shop.rig.settles.push({ ...script, lands: false });
      const first = await shop.ask({ payment });
      assert.equal(first.status, 503);
      assert.equal(first.problem.code, 'settlement_unknown');
      assert.equal(first.required, undefined);
      const again = await shop.ask({ payment });
      assert.deepEqual([again.status, again.text], [200, 'sunny 1']);
      assert.equal(shop.rig.ledger.landed.size, 1);
      assert.deepEqual([shop.runs(), shop.rig.calls.settle], [1, 2]);
    });
  }
}

test('identical re-sends are bounded: a payment that stays unknown is not hammered', async () => {
  const shop = openTestShop();
  const payment = await shop.payment();
  for (let turn = 0; turn < 6; turn += 1) shop.rig.settles.push({ says: 'lost' });
  for (let turn = 0; turn < 6; turn += 1) {
    const seen = await shop.ask({ payment });
    assert.deepEqual(
      [seen.status, seen.problem.code, seen.problem.money],
      [503, 'settlement_unknown', 'unknown'],
    );
    assert.equal(seen.required, undefined);
  }
  assert.deepEqual([shop.runs(), shop.rig.calls.settle], [1, 3]);
});

test('without a chain to ask, an unknown stays unknown and nothing is sent again', async () => {
  const shop = openTestShop({ seller: { chain: 'none' } });
  const payment = await shop.payment();
  shop.rig.settles.push({ lands: true, says: 'lost' });
  await shop.ask({ payment });
  const again = await shop.ask({ payment });
  assert.deepEqual([again.status, again.problem.code], [503, 'settlement_unknown']);
  assert.equal(shop.rig.calls.settle, 1);
});

test('a facilitator that was never reached moved nothing: the kept answer is sent for when the payment comes again', async () => {
  const shop = openTestShop();
  const payment = await shop.payment();
  shop.rig.settles.push({ says: 'unsent' });
  const first = await shop.ask({ payment });
  assert.deepEqual(
    [first.status, first.problem.code, first.problem.money, first.problem.retry],
    [503, 'facilitator_unavailable', 'unmoved', 'same_payment'],
  );
  const again = await shop.ask({ payment });
  assert.deepEqual([again.status, again.text], [200, 'sunny 1']);
  assert.deepEqual([shop.runs(), shop.rig.calls.settle, shop.rig.ledger.landed.size], [1, 2, 1]);
});

test('an authorization that its payer canceled on chain is dead, and a new payment is invited', async () => {
  const shop = openTestShop();
  const payment = await shop.payment();
  shop.rig.settles.push({ says: 'lost' });
  await shop.ask({ payment });
  const { from, nonce } = payment.payload.authorization as { from: string; nonce: string };
  shop.rig.ledger.canceled.add(`${from}/${nonce}`);
  const again = await shop.ask({ payment });
  assert.deepEqual(
    [again.status, again.problem.code, again.problem.money, again.problem.retry],
    [402, 'settlement_refused', 'unmoved', 'new_payment'],
  );
  assert.ok(again.required);
  assert.equal(again.problem.reason, 'authorization_canceled');
});

test('S06: an observer who settles first settles for us, once', async () => {
  const shop = openTestShop();
  const payment = await shop.payment();
  const { from, to, value, nonce } = payment.payload.authorization as {
    from: string;
    to: string;
    value: string;
    nonce: string;
  };
  shop.works(async () => {
    shop.rig.ledger.landed.set(`${from}/${nonce}`, {
      transaction: transactionOf(77),
      amount: value,
      payTo: to,
    });
    return { status: 200, headers: [], body: new TextEncoder().encode('sunny') };
  });
  const seen = await shop.ask({ payment });
  assert.deepEqual([seen.status, seen.text], [200, 'sunny']);
  assert.equal(seen.response?.transaction, transactionOf(77));
  assert.equal(shop.rig.ledger.landed.size, 1);
});

test('S06: an authorization that was spent on another payee pays for nothing here and is no invitation to pay', async () => {
  const shop = openTestShop();
  const payment = await shop.payment();
  const { from, value, nonce } = payment.payload.authorization as {
    from: string;
    value: string;
    nonce: string;
  };
  shop.works(async () => {
    shop.rig.ledger.landed.set(`${from}/${nonce}`, {
      transaction: transactionOf(77),
      amount: value,
      payTo: '0x00000000000000000000000000000000000000aa',
    });
    return { status: 200, headers: [], body: new TextEncoder().encode('sunny') };
  });
  const seen = await shop.ask({ payment });
  assert.deepEqual(
    [seen.status, seen.problem.code, seen.problem.retry],
    [409, 'payment_already_used', 'never'],
  );
  assert.equal(seen.required, undefined);
  assert.ok(
    shop.rig.events.some((event) => event.event === 'alarm' && event.alarm === 'settle_nonce_used_elsewhere'),
  );
});

test('C15: a nonce that was spent before we ever sent it is refused at verify, with an alarm, and the work does not run', async () => {
  const shop = openTestShop();
  const payment = await shop.payment();
  const { from, to, value, nonce } = payment.payload.authorization as {
    from: string;
    to: string;
    value: string;
    nonce: string;
  };
  shop.rig.ledger.landed.set(`${from}/${nonce}`, {
    transaction: transactionOf(77),
    amount: value,
    payTo: to,
  });
  shop.rig.verifies.push(said({ isValid: false, invalidReason: 'invalid_exact_evm_nonce_already_used' }));
  const seen = await shop.ask({ payment });
  assert.deepEqual(
    [seen.status, seen.problem.code, seen.problem.money],
    [409, 'payment_already_used', 'moved'],
  );
  assert.equal(shop.runs(), 0);
  assert.ok(
    shop.rig.events.some((event) => event.event === 'alarm' && event.alarm === 'settle_nonce_used_elsewhere'),
  );
  const again = await shop.ask({ payment });
  assert.deepEqual([again.status, again.problem.code], [409, 'payment_already_used']);
});

test('a kept answer whose authorization ends before it was sent for is retired for good, then a new payment is invited', async () => {
  const shop = openTestShop();
  const payment = await shop.payment();
  shop.rig.settles.push({ says: 'unsent' });
  await shop.ask({ payment });
  await shop.rig.clock.advance(280_000);
  const dead = await shop.ask({ payment });
  assert.deepEqual(
    [dead.status, dead.problem.code, dead.problem.money, dead.problem.retry],
    [402, 'authorization_expired', 'unmoved', 'new_payment'],
  );
  assert.equal(typeof dead.problem.liveUntil, 'number');
  const [record] = await shop.rig.options.store.list({ limit: 1 });
  assert.equal(record?.money.state, 'refused');
  const again = await shop.ask({ payment });
  assert.deepEqual([again.status, again.problem.code], [402, 'settlement_refused']);
  assert.deepEqual([shop.rig.calls.settle, shop.rig.ledger.landed.size], [1, 0]);
});

test('a kept answer that waits behind an earlier doubt has that doubt looked up, and is served by what it proves', async () => {
  const shop = openTestShop();
  const gate = Promise.withResolvers<void>();
  shop.works(async () => {
    await gate.promise;
    return answerOf(`sunny ${shop.runs()}`);
  });
  const [one, two] = [await shop.payment(), await shop.payment()];
  shop.rig.settles.push({ lands: true, says: 'lost' }, { says: 'unsent' });
  const first = shop.ask({ payment: one });
  await rest();
  const second = shop.ask({ payment: two });
  await rest();
  gate.resolve();
  assert.equal((await first).problem.code, 'settlement_unknown');
  assert.equal((await second).problem.code, 'facilitator_unavailable');
  const served = await shop.ask({ payment: two });
  assert.deepEqual([served.status, served.text], [200, 'sunny 2']);
  assert.match(served.header('counterfoil-payment') ?? '', /money=unmoved/);
  assert.deepEqual([shop.rig.ledger.landed.size, shop.rig.calls.settle], [1, 2]);
});

for (const flow of ['authorization', 'upfront'] as const) {
  test(`${flow}: a plain no to the first send that left is a refusal, though one before it never left`, async () => {
    const shop = openTestShop({ route: { flow } });
    const payment = await shop.payment();
    const poor = { success: false, errorReason: 'insufficient_funds', transaction: '', network };
    shop.rig.settles.push({ says: 'unsent' }, { says: said(poor) });
    assert.equal((await shop.ask({ payment })).problem.code, 'facilitator_unavailable');
    const refused = await shop.ask({ payment });
    assert.deepEqual(
      [refused.status, refused.problem.code, refused.problem.money],
      [402, 'settlement_refused', 'unmoved'],
    );
    assert.ok(refused.required);
    assert.equal((await shop.ask({ payment: await shop.payment() })).status, 200);
  });
}
