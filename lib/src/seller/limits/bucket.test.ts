import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buyerOf, said } from '../../../test/rig.ts';
import { openTestShop, type TestShop } from '../../../test/shop.ts';
import { createBucket } from './bucket.ts';

test('a payer may lose as many calls in a row as the bucket holds, and gets one back after a while', () => {
  let now = 0;
  const bucket = createBucket({ capacity: 3, refillMs: 1_000 }, () => now);
  for (let call = 0; call < 3; call += 1) {
    assert.equal(bucket.waitMs('a'), 0);
    bucket.spend('a');
  }
  assert.equal(bucket.waitMs('a'), 1_000);
  assert.equal(bucket.waitMs('b'), 0);
  now += 400;
  assert.equal(bucket.waitMs('a'), 600);
  now += 600;
  assert.equal(bucket.waitMs('a'), 0);
  bucket.spend('a');
  assert.equal(bucket.waitMs('a'), 1_000);
  now += 3_000;
  assert.deepEqual([bucket.waitMs('a'), bucket.size()], [0, 0], 'a full bucket takes no room');
});

test('C08: the buckets of any number of payers stay bounded, and the quietest payer is forgotten first', () => {
  const bucket = createBucket({ capacity: 1, refillMs: 3_600_000 }, () => 0);
  bucket.spend('first');
  for (let payer = 0; payer < 9_999; payer += 1) bucket.spend(`p${payer}`);
  assert.ok(bucket.waitMs('first') > 0);
  bucket.spend('first');
  bucket.spend('one more');
  assert.equal(bucket.size(), 10_000);
  assert.ok(bucket.waitMs('first') > 0);
  assert.equal(bucket.waitMs('p0'), 0);
});

const invalid = said({ isValid: false, invalidReason: 'insufficient_funds' });
const seller = { limits: { refused: { capacity: 3, refillMs: 2_000 } } } as const;

async function waste(shop: TestShop, times: number): Promise<void> {
  for (let turn = 0; turn < times; turn += 1) {
    shop.rig.verifies.push(invalid);
    const seen = await shop.ask({ payment: await shop.payment() });
    assert.equal(seen.problem.code, 'payment_refused');
  }
}

test('S13: payments that the facilitator refuses cost their payer a token each, and then no further call is made', async () => {
  const shop = openTestShop({ seller });
  const { rig } = shop;
  await waste(shop, 3);
  const calls = rig.calls.verify;
  const seen = await shop.ask({ payment: await shop.payment() });
  assert.deepEqual(
    [seen.status, seen.problem.code, seen.problem.money, seen.problem.retry, seen.header('retry-after')],
    [429, 'too_many_requests', 'unknown', 'same_payment', '2'],
  );
  assert.equal(seen.required, undefined);
  assert.deepEqual([rig.calls.verify, rig.calls.settle, shop.runs()], [calls, 0, 0]);
  assert.equal((await shop.ask({ payment: await shop.payment({ buyer: buyerOf(0x22) }) })).status, 200);
  await rig.clock.advance(2_000);
  assert.equal((await shop.ask({ payment: await shop.payment() })).status, 200, 'one came back');
});

test('S13: settles that are refused cost a token too, in both flows', async () => {
  for (const flow of ['authorization', 'upfront'] as const) {
    const shop = openTestShop({ seller: { ...seller, unpaidRuns: 'off' }, route: { flow } });
    const poor = said({ success: false, errorReason: 'insufficient_funds', transaction: '' });
    for (let turn = 0; turn < 3; turn += 1) {
      shop.rig.settles.push({ says: poor });
      const seen = await shop.ask({ payment: await shop.payment() });
      assert.equal(seen.problem.code, 'settlement_refused');
    }
    const seen = await shop.ask({ payment: await shop.payment() });
    assert.deepEqual([seen.status, shop.rig.calls.settle], [429, 3]);
  }
});

test('S13: a payer without tokens still gets what it has paid for, since a known key is answered from its record', async () => {
  const shop = openTestShop({ seller });
  const paid = await shop.payment();
  assert.equal((await shop.ask({ payment: paid })).text, 'sunny 1');
  await waste(shop, 3);
  assert.equal((await shop.ask({ payment: await shop.payment() })).status, 429);
  const again = await shop.ask({ payment: paid });
  assert.deepEqual([again.status, again.text], [200, 'sunny 1']);
});

test('S08: what fails on the facilitator’s side costs the payer nothing', async () => {
  const shop = openTestShop({ seller: { ...seller, breaker: 'off' }, route: { earlierPayment: 'off' } });
  const nonceTooLow = said({
    success: false,
    errorReason: 'invalid_exact_evm_transaction_failed',
    errorMessage: 'nonce too low',
    transaction: '',
  });
  for (const says of ['unsent', 'lost', nonceTooLow, 'unsent', 'lost', nonceTooLow] as const) {
    shop.rig.settles.push({ says });
    const seen = await shop.ask({ payment: await shop.payment() });
    assert.equal(seen.status, 503);
    assert.equal(seen.required, undefined);
  }
  assert.equal((await shop.ask({ payment: await shop.payment() })).status, 200);
  assert.ok(!shop.rig.events.some(({ event }) => event === 'run_unpaid'));
});

test('S13: nobody spends another payer’s tokens with signatures that only a contract could judge', async () => {
  const shop = openTestShop({ seller: { ...seller, chain: 'none' } });
  for (let turn = 0; turn < 3; turn += 1) {
    const honest = await shop.payment();
    const { payload } = await shop.payment({ buyer: buyerOf(0x66) });
    const forged = { ...honest, payload: { ...honest.payload, signature: String(payload.signature) } };
    shop.rig.verifies.push(invalid);
    assert.equal((await shop.ask({ payment: forged })).problem.code, 'payment_refused');
  }
  assert.equal((await shop.ask({ payment: await shop.payment() })).status, 200);
});
