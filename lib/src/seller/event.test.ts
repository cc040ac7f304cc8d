import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTestShop } from '../../test/shop.ts';
import { encodePaymentSignature } from '../wire/index.ts';
import { alarmOf, moneyEvent } from './event.ts';

test('what a seller tells its observer holds no signature, no payload and no body', async () => {
  const shop = openTestShop({ route: { method: 'POST' } });
  const payment = await shop.payment();
  shop.rig.settles.push({ lands: true, says: 'lost' });
  await shop.ask({ payment, body: 'secret prompt' });
  await shop.ask({ payment, body: 'secret prompt' });
  const told = JSON.stringify(shop.rig.events, (_name, value) =>
    typeof value === 'bigint' ? String(value) : value,
  );
  assert.ok(shop.rig.events.length > 4);
  assert.doesNotMatch(told, /secret prompt/);
  assert.ok(!told.includes(String(payment.payload.signature).slice(2, 40)));
  assert.ok(!told.includes(encodePaymentSignature(payment).slice(0, 60)));
});

test('a chain that shows what a facilitator refused raises an alarm, and the answer is served', async () => {
  const shop = openTestShop();
  const payment = await shop.payment();
  shop.rig.settles.push({
    lands: true,
    says: {
      kind: 'answer',
      status: 200,
      body: { success: false, errorReason: 'insufficient_funds', transaction: '', network: 'eip155:31337' },
    },
  });
  const refused = await shop.ask({ payment });
  assert.equal(refused.problem.code, 'settlement_refused');
  const [record] = await shop.rig.options.store.list({ limit: 1 });
  assert.ok(record);
  const { resolveRecord } = await import('../settlement/index.ts');
  const chains = shop.rig.options.chains ?? {};
  await resolveRecord(shop.rig.options.store, (network) => chains[network], record);
  const served = await shop.ask({ payment });
  assert.deepEqual([served.status, served.text, served.required], [200, 'sunny 1', undefined]);
});

test('S07: a chain that disproves what a facilitator had settled raises an alarm', async () => {
  const shop = openTestShop();
  await shop.ask({ payment: await shop.payment() });
  const [settled] = await shop.rig.options.store.list({ limit: 1 });
  assert.ok(settled?.money.state === 'settled');
  const refused = {
    state: 'refused',
    why: 'expired',
    reason: 'authorization_expired',
    rank: 'chain',
  } as const;
  assert.equal(alarmOf(settled, { ...settled, money: refused }), 'evidence_overridden');
  assert.equal(alarmOf(settled, { ...settled, money: { ...settled.money, rank: 'chain' } }), undefined);
});

test('S05, F01: what the chain undoes, and a success that never was, are alarms of their own', async () => {
  const shop = openTestShop();
  await shop.ask({ payment: await shop.payment() });
  const [settled] = await shop.rig.options.store.list({ limit: 1 });
  assert.ok(settled?.money.state === 'settled');
  const { transaction } = settled.money;
  assert.equal(
    alarmOf(settled, { ...settled, money: { state: 'reversed', transaction } }),
    'settlement_reversed',
  );
  const asserted = { ...settled, money: { state: 'unknown', phase: 'pay', n: 1, transaction } } as const;
  const refused = {
    state: 'refused',
    why: 'expired',
    reason: 'authorization_expired',
    rank: 'chain',
  } as const;
  assert.equal(alarmOf(asserted, { ...settled, money: refused }), 'success_without_transfer');
  assert.equal(alarmOf({ ...asserted, sendLog: [] }, { ...settled, money: refused }), undefined);
});

test('an event about money says on whose word it moved, and nothing where it did not', () => {
  const transaction = `0x${'5e'.repeat(32)}`;
  const settled = { state: 'settled', transaction, amount: 1n, rank: 'chain', finality: 'safe' } as const;
  assert.deepEqual(moneyEvent('k', settled), {
    event: 'money',
    key: 'k',
    state: 'settled',
    basis: 'chain safe',
  });
  assert.deepEqual(moneyEvent('k', { state: 'none' }), { event: 'money', key: 'k', state: 'none' });
});
