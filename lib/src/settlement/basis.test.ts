import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MoneyAxis } from '../claim/index.ts';
import { assuranceOf, basisOf } from './basis.ts';

const transaction = `0x${'5e'.repeat(32)}`;
const settled = { state: 'settled', transaction, amount: 1n } as const;

test('F01: a settlement that only a facilitator asserts says so, and one on the chain says how deep it was seen', () => {
  const cases: readonly (readonly [MoneyAxis, string | undefined])[] = [
    [{ ...settled, rank: 'facilitator' }, 'facilitator-asserted'],
    [{ ...settled, rank: 'chain' }, 'chain latest'],
    [{ ...settled, rank: 'chain', block: 9, finality: 3 }, 'chain 3'],
    [{ ...settled, rank: 'chain', block: 9, finality: 'finalized' }, 'chain finalized'],
    [{ state: 'refused', why: 'definite', reason: 'x', rank: 'facilitator' }, 'facilitator-asserted'],
    [{ state: 'refused', why: 'expired', reason: 'x', rank: 'chain' }, 'chain latest'],
    [{ state: 'held', transaction, rank: 'chain' }, 'chain latest'],
    [{ state: 'unknown', phase: 'pay', n: 1 }, undefined],
    [{ state: 'none' }, undefined],
    [{ state: 'reversed', transaction }, undefined],
  ];
  for (const [money, basis] of cases) assert.equal(basisOf(money), basis, money.state);
});

test('a record names what its settlement must rest on', () => {
  assert.equal(assuranceOf({}), 'facilitator-asserted');
  assert.equal(assuranceOf({ assurance: 'safe' }), 'chain safe');
});
