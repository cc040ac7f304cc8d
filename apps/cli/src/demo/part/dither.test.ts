import assert from 'node:assert/strict';
import { test } from 'node:test';
import { holds } from '../part.ts';
import { type Dither, finding } from './dither.ts';

const refused = { status: 402 };
const good: Dither = {
  amounts: [20_003n, 20_006n],
  stockClient: '200',
  crossUse: [refused, refused, refused, refused],
  codes: ['requirement_mismatch', 'amount_mismatch'],
  handlerRuns: 0,
  transfers: 1,
};

test('S2: dithered siblings hold when the stock client buys one and no payment for it fits the other', () => {
  const found = finding(good);
  assert.equal(holds(found), true);
  assert.deepEqual(found.figures, { stockClient: 200, crossUse: 402 });
});

test('siblings that ask for the same, refuse the stock client, or take a payment of the other, do not hold', () => {
  const wrong: Partial<Dither>[] = [
    { amounts: [20_003n, 20_003n] },
    { stockClient: '402' },
    { stockClient: 'fetch failed' },
    { crossUse: [refused, refused, refused, { status: 200 }] },
    { crossUse: [refused] },
    { crossUse: [] },
    { handlerRuns: 1 },
    { transfers: 0 },
    { transfers: 2 },
  ];
  for (const change of wrong)
    assert.equal(holds(finding({ ...good, ...change })), false, Object.keys(change).join());
});

test('the figure of the cross use is the payment that got through, where one did', () => {
  const through = finding({ ...good, crossUse: [refused, { status: 200 }, refused, refused] });
  assert.deepEqual(through.figures, { stockClient: 200, crossUse: 200 });
  assert.deepEqual(finding({ ...good, stockClient: 'cut' }).figures, { stockClient: null, crossUse: 402 });
});

test('the official seller has nothing to show beside it', () => {
  assert.deepEqual(new Set(finding(good).checks.map(({ stock }) => stock)), new Set(['n/a']));
});
