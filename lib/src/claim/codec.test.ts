import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decodeRecord, encodeRecord } from './codec.ts';
import { examplePurchase, exampleTake, exampleNowMs as now } from './example.ts';
import type { ClaimRecord, MoneyAxis } from './record.ts';
import { take } from './take.ts';

const amount = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });
const text = fc.string({ unit: 'binary', maxLength: 20 });
const money: fc.Arbitrary<MoneyAxis> = fc.oneof(
  fc.constant<MoneyAxis>({ state: 'none' }),
  fc.tuple(text, amount).map(([transaction, value]): MoneyAxis => {
    return { state: 'settled', transaction, amount: value, rank: 'chain' };
  }),
  fc.nat().map((n): MoneyAxis => ({ state: 'unknown', phase: 'pay', n })),
);

function record(differing: Partial<ClaimRecord> = {}): ClaimRecord {
  const { outcome } = take({ older: [], nowMs: now, full: false }, exampleTake(examplePurchase(1)));
  assert.equal(outcome.kind, 'taken');
  return { ...outcome.record, ...differing };
}

test('a record comes back from its text as it went in, with any amount up to 2^256 - 1 and any text', () => {
  fc.assert(
    fc.property(amount, money, text, fc.dictionary(text, fc.jsonValue()), (value, axis, word, extra) => {
      // The round trip through JSON first: -0 and the like are no part of the terms.
      const requirement = {
        ...examplePurchase(1).requirement,
        amount: value,
        extra: JSON.parse(JSON.stringify(extra)),
      };
      const before = record({ amount: value, money: axis, resourceUrl: word, requirement });
      assert.deepEqual(decodeRecord(encodeRecord(before)), before);
    }),
    { seed: 2, numRuns: 300 },
  );
});

test('terms whose extra members look like markers of ours are kept as they are', () => {
  const extra = JSON.parse('{"$n": "not a number", "amount": "7", "__proto__": {"amount": 1}}');
  const before = record({ requirement: { ...examplePurchase(1).requirement, extra } });
  const after = decodeRecord(encodeRecord(before));
  assert.equal(JSON.stringify(after.requirement.extra), JSON.stringify(extra));
});

test('a text that is no record is a SyntaxError, and never a record with holes', () => {
  const whole = encodeRecord(record());
  const texts = [
    '',
    'null',
    '7',
    '{}',
    '[]',
    '{"key":"a"}',
    whole.slice(0, -1),
    whole.replace('"amount":"10000"', '"amount":"x"'),
  ];
  for (const broken of texts) assert.throws(() => decodeRecord(broken), SyntaxError, broken);
});
