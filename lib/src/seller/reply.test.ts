import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTestShop } from '../../test/shop.ts';
import { statusText, unsettledResponse } from './reply.ts';

test('terms go with every 402 that invites a new payment and with nothing else', async () => {
  const shop = openTestShop({ route: { description: 'Weather — today', mimeType: 'text/plain' } });
  const unpaid = await shop.ask();
  assert.equal(unpaid.required?.resource.description, 'Weather — today');
  assert.equal(unpaid.required?.error, 'payment_required');
  const payment = await shop.payment();
  const forged = await shop.ask({
    payment: { ...payment, payload: { ...payment.payload, signature: `0x${'1'.repeat(128)}1b` } },
  });
  assert.deepEqual([forged.status, forged.problem.code], [402, 'signature_invalid']);
  assert.equal(forged.required?.error, 'invalid_exact_evm_payload_signature');
  await shop.ask({ payment });
  const elsewhere = await shop.ask({ payment, target: '/premium' });
  assert.deepEqual([elsewhere.status, elsewhere.required], [409, undefined]);
});

test('a response for a payment that did not settle names no transaction unless one is known', () => {
  assert.deepEqual(unsettledResponse('eip155:1', 'payment_in_progress'), {
    success: false,
    errorReason: 'payment_in_progress',
    transaction: '',
    network: 'eip155:1',
  });
});

test('the status header reads as a list of three', () => {
  assert.equal(
    statusText({ code: 'work_owed', money: 'moved', retry: 'later' }),
    'code=work_owed; money=moved; retry=later',
  );
});

test('a settlement that is pending names its transaction, so that the buyer can look for itself', async () => {
  const shop = openTestShop({ seller: { chain: 'none' } });
  const transaction = `0x${'5'.repeat(64)}`;
  shop.rig.settles.push({
    says: {
      kind: 'answer',
      status: 200,
      body: { success: false, errorReason: 'settlement_pending', transaction, network: 'eip155:31337' },
    },
  });
  const seen = await shop.ask({ payment: await shop.payment() });
  assert.deepEqual([seen.status, seen.problem.code, seen.required], [503, 'settlement_unknown', undefined]);
  assert.deepEqual(
    [seen.response?.errorReason, seen.response?.transaction],
    ['settlement_pending', transaction],
  );
});
