import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decoded, legible, legibleNow } from './legible.ts';

type Rows = readonly (number | undefined)[];

function rowsOf(...rows: Rows): { readonly counts: number[]; readonly read: (count: number) => Rows } {
  const counts: number[] = [];
  const read = (count: number): Rows => {
    counts.push(count);
    return rows.slice(0, count);
  };
  return { counts, read };
}

test('a list without damage is read once, and damage costs it no place', async () => {
  const whole = rowsOf(1, 2, 3);
  assert.deepEqual(legibleNow(2, whole.read), [1, 2]);
  assert.deepEqual(whole.counts, [2]);
  const hurt = rowsOf(undefined, 1, undefined, undefined, 2, 3);
  assert.deepEqual(legibleNow(2, hurt.read), [1, 2]);
  assert.deepEqual(hurt.counts, [2, 4, 8]);
  assert.deepEqual(await legible(2, async (count) => hurt.read(count)), [1, 2]);
  assert.deepEqual(legibleNow(9, hurt.read), [1, 2, 3]);
});

test('a list of nothing but damage ends', () => {
  const { counts, read } = rowsOf(...new Array<undefined>(5_000).fill(undefined));
  assert.deepEqual(legibleNow(10, read), []);
  assert.equal(counts.at(-1), 1_010);
});

test('a text that is no record, or half of one, is left out', () => {
  const half = { key: 'k', amount: '1', requirement: { amount: '1' }, money: { state: 'settled' }, work: {} };
  for (const text of ['', '{', '{}', 'null', JSON.stringify(half)]) assert.equal(decoded(text), undefined);
});
