import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countedAs, createLimits } from './limits.ts';

const shop = { world: { monotonicMs: () => 0 }, observe: () => {} };

test('a seller that sets nothing has limits, and they are those of the documentation', () => {
  const { quota, refused, breaker, addressOf } = createLimits({}, shop);
  const many = (most: number, admit: () => unknown): number => {
    let admitted = 0;
    while (admitted <= most && admit() === undefined) admitted += 1;
    return admitted;
  };
  assert.equal(
    many(64, () => quota.enterPayer('p')),
    64,
  );
  assert.equal(
    many(256, () => quota.enter('a')),
    256,
  );
  assert.equal(
    many(10_000, () => quota.enter(undefined)),
    10_000 - 256,
  );
  for (let call = 0; call < 20; call += 1) {
    assert.equal(refused.waitMs('p'), 0);
    refused.spend('p');
  }
  assert.equal(refused.waitMs('p'), 3_000);
  for (let call = 0; call < 9; call += 1) breaker.heard(breaker.era(), false);
  assert.equal(breaker.admit(), 'free');
  breaker.heard(breaker.era(), false);
  const shut = breaker.admit();
  assert.ok(typeof shut === 'object' && shut.retryAfter === 10);
  assert.equal(addressOf({ peer: '198.51.100.7', headers: [] }), '198.51.100.7');
});

test('what is switched off counts nothing', () => {
  const limits = { perPayer: 'off', perAddress: 'off', refused: 'off' } as const;
  const { quota, refused, breaker, addressOf } = createLimits({ limits, breaker: 'off' }, shop);
  assert.equal(addressOf({ peer: '198.51.100.7', headers: [] }), undefined);
  for (let call = 0; call < 500; call += 1) {
    assert.equal(quota.enterPayer('p'), undefined);
    refused.spend('p');
    breaker.heard(breaker.era(), false);
  }
  assert.deepEqual([quota.counted().payers, refused.waitMs('p'), breaker.admit()], [0, 0, 'free']);
});

test('payments whose signature only a contract can judge are counted apart from those of the key itself', () => {
  const payment = { payer: '0xa' };
  assert.equal(countedAs({ signedBy: 'payer', payment }), '0xa');
  assert.notEqual(countedAs({ signedBy: 'foreign', payment }), '0xa');
  assert.equal(countedAs({ signedBy: 'contract', payment }), countedAs({ signedBy: 'foreign', payment }));
});
