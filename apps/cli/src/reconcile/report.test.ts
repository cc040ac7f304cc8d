import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Recheck, ReconcileSummary, Resolution } from 'counterfoil/settlement';
import pc from 'picocolors';
import { base, hash } from '../payments/rig/record.ts';
import { exitOf, isTelling, jsonOf, sentenceOf, textOf } from './report.ts';

const none: ReconcileSummary = {
  looked: 0,
  settled: 0,
  refused: 0,
  stillUnknown: 0,
  unreadable: 0,
  rechecked: 0,
  final: 0,
  missing: 0,
  undone: 0,
  owed: 0,
  unreadableNetworks: [],
  failed: 0,
  complete: true,
};
const plain = pc.createColors(false);

test('what could not be read outweighs what is left to do, and that outweighs what is in order', () => {
  assert.equal(exitOf({ ...none, rechecked: 2, unreadableNetworks: ['eip155:1'] }), 3);
  assert.equal(exitOf({ ...none, looked: 3, settled: 2, refused: 1, rechecked: 4, final: 1 }), 0);
  for (const left of ['stillUnknown', 'owed', 'missing', 'undone'] as const)
    assert.equal(exitOf({ ...none, [left]: 1 }), 1, left);
  for (const blind of [{ unreadable: 1 }, { failed: 1 }, { complete: false }])
    assert.equal(exitOf({ ...none, stillUnknown: 1, ...blind }), 3, JSON.stringify(blind));
});

test('the sentence says what is left to do, and nothing about what there was none of', () => {
  assert.equal(sentenceOf(none), 'No payment of this store has unknown money.');
  const full = {
    ...none,
    looked: 4,
    settled: 1,
    refused: 1,
    stillUnknown: 1,
    unreadable: 1,
    rechecked: 9,
    final: 5,
    missing: 1,
    undone: 2,
    owed: 3,
    unreadableNetworks: ['eip155:1'],
    failed: 1,
    complete: false,
  };
  assert.equal(
    sentenceOf(full),
    [
      '4 looked up: 1 settled, 1 refused, 1 not proven yet, 1 could not be read.',
      '9 settlements looked at again: 5 final now, 1 missing, 2 undone.',
      '3 owed: see payments list --owed.',
      'Could not be read: eip155:1.',
      '1 steps failed in the store or on the way to it.',
      'The pass ended before everything was looked at.',
    ].join('\n'),
  );
});

const settled = { state: 'settled', transaction: hash, amount: 1n, rank: 'chain', finality: 3 } as const;
const found: Resolution = {
  record: { ...base, money: settled },
  fate: { kind: 'settled', transaction: hash, block: 12, finality: 3 },
  changed: true,
  nowMs: 0,
};
const missing: Recheck = {
  ...found,
  before: found.record,
  standing: 'missing',
  fate: { kind: 'unused', block: 9 },
};

test('each look is a row with what the chain says and on whose word the money counts', () => {
  const text = textOf({ summary: none, resolutions: [found], rechecks: [missing] }, plain);
  assert.match(text, /0x0123456789 .* settled in block 12 +settled +chain 3 +0xcd/);
  assert.match(text, /missing: unused at block 9 +settled/);
});

test('every fate has its words', () => {
  const fates: readonly (readonly [Resolution['fate'], RegExp])[] = [
    [{ kind: 'expired', block: 9 }, /ended unused, final block 9/],
    [{ kind: 'canceled', transaction: hash, block: 9 }, /canceled in block 9/],
    [{ kind: 'used_elsewhere', transaction: hash, block: 9 }, /used elsewhere, block 9/],
    [
      { kind: 'shallow', as: 'settled', transaction: hash, block: 9, confirmations: 2 },
      /settled in block 9, 2 deep, which is not enough/,
    ],
    [{ kind: 'unread', why: 'receipt' }, /not read: receipt/],
    [{ kind: 'no_chain' }, /not asked: no --rpc for it/],
  ];
  for (const [fate, words] of fates)
    assert.match(textOf({ summary: none, resolutions: [{ ...found, fate }], rechecks: [] }, plain), words);
});

test('for a program the sum and each look are whole', () => {
  const json = jsonOf({ summary: none, resolutions: [found], rechecks: [missing] }) as Record<
    string,
    unknown[]
  >;
  const [payment] = json.payments as Record<string, unknown>[];
  const [again] = json.settlements as Record<string, unknown>[];
  assert.deepEqual([payment?.money, payment?.basis, payment?.transaction], ['settled', 'chain 3', hash]);
  assert.deepEqual([again?.standing, payment?.standing], ['missing', undefined]);
});

test('only second looks that somebody should read are told one by one', () => {
  const told = (['final', 'there', 'missing', 'undone', 'early', 'unread', 'no_chain'] as const).filter(
    (standing) => isTelling({ ...missing, standing }),
  );
  assert.deepEqual(told, ['missing', 'undone']);
});
