import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exampleHex, exampleNowMs, examplePurchase, exampleTake } from './example.ts';

test('two examples are honest twins: the same payer buys the same request with two authorizations', () => {
  const [a, b] = [examplePurchase(1), examplePurchase(2)];
  for (const name of ['network', 'payer', 'payTo', 'fingerprint', 'amount'] as const)
    assert.equal(a[name], b[name]);
  for (const name of ['key', 'nonce', 'signatureHash'] as const) assert.notEqual(a[name], b[name]);
});

test('an example is alive when the example clock starts, and takes what differs', () => {
  const purchase = examplePurchase(1, { flow: 'upfront' });
  assert.ok(purchase.validAfterMs <= exampleNowMs && purchase.validBeforeMs > exampleNowMs);
  assert.equal(purchase.flow, 'upfront');
  assert.equal(exampleTake(purchase, { owner: 'me' }).owner, 'me');
  assert.match(exampleHex(255), /^0{62}ff$/);
});
