import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRig } from '../../test/rig.ts';
import { createSeller } from './seller.ts';

const { options } = createRig();
const reader = {
  blockNumber: async () => undefined,
  head: async () => undefined,
  hasCode: async () => undefined,
  fate: async () => ({ kind: 'unread', why: 'never asked' }) as const,
};
const mistakes: readonly (readonly [RegExp, object])[] = [
  [/chains/, { chains: null }],
  [/chains/, { chains: [reader] }],
  [/chains: "base"/, { chains: { base: reader } }],
  [/chains: "eip155-8453"/, { chains: { 'eip155-8453': reader } }],
  [/chains\["eip155:8453"\].*no hasCode/, { chains: { 'eip155:8453': { ...reader, hasCode: undefined } } }],
  [/chains\["eip155:8453"\].*no fate/, { chains: { 'eip155:8453': 'https://rpc.example' } }],
  [/observe/, { observe: 'log' }],
  [/observe/, { observe: null }],
  [/instance/, { instance: '' }],
  [/instance/, { instance: 7 }],
  [/assets/, { assets: 5 }],
  [/origin/, { origin: null }],
  [/origin/, { origin: [5] }],
  [/storeKey is all zeros/, { storeKey: new Uint8Array(32) }],
  [/storeKey/, { storeKey: '00' }],
  [/reconcile/, { reconcile: 'never' }],
  [/lease/, { lease: 'off' }],
  [/assurance/, { assurance: { chain: 0 } }],
  ...['lease', 'reconcile', 'limits', 'breaker', 'unpaidRuns'].flatMap((name) =>
    [null, [], 5].map((value) => [new RegExp(`^${name}`), { [name]: value }] as const),
  ),
];

test('a mistake in the options of a seller is told as it is made, and by its name', () => {
  for (const [name, change] of mistakes) {
    assert.throws(
      () => createSeller({ ...options, ...change } as never),
      (fault) => fault instanceof TypeError && name.test(fault.message),
      `${name}`,
    );
  }
  assert.throws(() => createSeller(undefined as never), /createSeller needs an object/);
});

test('a reader of a network that is sold on no more is taken, for the payments of before', () => {
  createSeller({ ...options, chains: { ...options.chains, 'eip155:10': reader } });
});
