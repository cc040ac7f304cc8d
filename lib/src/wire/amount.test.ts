/** Amounts in atomic units and prices for people. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { MoneyFault } from './amount.ts';
import { formatAmount, formatMoney, maxAmount, moneyFaults, parseAmount, parseMoney } from './amount.ts';

function price(text: string, decimals = 6): bigint {
  const result = parseMoney(text, decimals);
  assert.ok(result.ok, `${text} is refused`);
  return result.value;
}

function faultOf(text: unknown, decimals = 6): MoneyFault {
  const result = parseMoney(text, decimals);
  assert.ok(!result.ok, `${String(text)} is accepted`);
  return result.fault;
}

test('P05: an amount is a plain decimal below 2^256 and nothing else', () => {
  assert.equal(parseAmount('0'), 0n);
  assert.equal(parseAmount('9007199254740993'), 9007199254740993n);
  assert.equal(parseAmount(maxAmount.toString()), maxAmount);
  const refused = [
    '',
    ' 12 ',
    '12\n',
    '0x10',
    '-1',
    '+1',
    '01',
    '010000',
    '1.0',
    '1e3',
    '1_000',
    '1n',
    '\u0661',
    'NaN',
  ];
  for (const text of refused) assert.equal(parseAmount(text), undefined, JSON.stringify(text));
  assert.equal(parseAmount((maxAmount + 1n).toString()), undefined);
  assert.equal(parseAmount('9'.repeat(79)), undefined);
});

test('an amount survives the way to the wire and back', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: maxAmount }), (amount) => {
      assert.equal(parseAmount(formatAmount(amount)), amount);
    }),
  );
  assert.throws(() => formatAmount(-1n), RangeError);
  assert.throws(() => formatAmount(maxAmount + 1n), RangeError);
});

test('P05, BUG-003: a price below one atomic unit is an error and never zero', () => {
  assert.equal(faultOf('$0.0000001'), 'too_precise');
  assert.equal(faultOf('$1.0000001'), 'too_precise');
  assert.equal(price('$0.0000001', 7), 1n);
  assert.equal(price('$0.1000000'), 100000n);
  assert.equal(price('$0.000001'), 1n);
});

test('P05, BUG-005: prices are converted exactly', () => {
  assert.equal(price('$4.02'), 4020000n);
  assert.equal(price('$0.29'), 290000n);
  assert.equal(price('$1.005'), 1005000n);
  assert.equal(price('$0.01'), 10000n);
  assert.equal(price('$9007199254740993.000001'), 9007199254740993000001n);
  assert.equal(price('$5', 0), 5n);
  assert.equal(price('$0.1', 18), 10n ** 17n);
});

test('P05, BUG-006: a bare number is refused, because it could mean atomic units', () => {
  assert.equal(faultOf('10000'), 'ambiguous');
  assert.equal(faultOf('0.01'), 'ambiguous');
  assert.equal(faultOf(0.01), 'not_text');
  assert.equal(faultOf(10000n), 'not_text');
});

test('P05: what is no price is refused by name', () => {
  const cases: readonly (readonly [MoneyFault, readonly string[]])[] = [
    ['zero', ['$0', '$0.00', '$0.0000000000']],
    ['negative', ['$-1', '-$1', '$+1', '\u2212$1']],
    ['exponent', ['$1e-2', '$1E6', '1e400', '$1e+400']],
    ['grouping', ['$1,000.00', "$1'000", '$1_000', '$1,5']],
    ['white_space', [' $1', '$1 ', '$ 1', '$1\n', '$1\u00a0']],
    [
      'not_a_number',
      [
        '',
        '$',
        '$.5',
        '$5.',
        '$01',
        '$NaN',
        'NaN',
        '$Infinity',
        '$0x10',
        '$1.2.3',
        '$$1',
        '€1',
        '$\uff11',
        '1$',
        'free',
      ],
    ],
    ['too_large', [`$${maxAmount}`, `$${'9'.repeat(400)}`]],
  ];
  for (const [fault, texts] of cases)
    for (const text of texts) assert.equal(faultOf(text), fault, JSON.stringify(text));
  for (const sentence of Object.values(moneyFaults)) assert.match(sentence, /\.$/);
});

test('a price and its amount mean the same in both directions', () => {
  const decimals = fc.integer({ min: 0, max: 30 });
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 10n ** 40n }), decimals, (amount, places) => {
      assert.equal(price(formatMoney(amount, places), places), amount);
    }),
  );
  assert.equal(formatMoney(10000n, 6), '$0.01');
  assert.equal(formatMoney(0n, 6), '$0.00');
  assert.equal(formatMoney(5000000n, 6), '$5.00');
  assert.equal(formatMoney(123n, 6), '$0.000123');
  assert.equal(formatMoney(7n, 0), '$7.00');
});

test('impossible decimals are a mistake of the programmer', () => {
  for (const decimals of [-1, 1.5, 256, Number.NaN]) {
    assert.throws(() => parseMoney('$1', decimals), RangeError);
    assert.throws(() => formatMoney(1n, decimals), RangeError);
  }
});
