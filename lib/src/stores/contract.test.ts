import assert from 'node:assert/strict';
import { test } from 'node:test';
import { examplePurchase, exampleTake } from '../claim/example.ts';
import type { ClaimStore } from '../claim/index.ts';
import {
  blobLimit,
  checkCount,
  checkOptions,
  exposureCountLimit,
  keyLimit,
  leaseLimitMs,
  pageLimit,
  referenceLimit,
  storeOver,
} from './contract.ts';
import type { Operation } from './operations.ts';

const asked: Operation[] = [];
const store: ClaimStore = storeOver(
  async (operation) => {
    asked.push(operation);
    throw new Error('unreachable store');
  },
  { name: 'none', durable: false, close: async () => undefined },
);
const hold = { key: 'k', owner: 'o', fence: 1 };
const send = { answer: new Uint8Array(1), payload: new Uint8Array(1), phase: 'pay', leaseMs: 1 } as const;

test('C10: what the caller got wrong never reaches the store', async () => {
  const tooLong = leaseLimitMs + 1;
  const questions: readonly (() => Promise<unknown>)[] = [
    () => store.find(''),
    // A server would file it under another key than it is looked for.
    () => store.find('\ud800'),
    () => store.readAnswer('k'.repeat(keyLimit + 1)),
    () => store.heartbeat(hold, 0),
    () => store.heartbeat(hold, 0.03),
    () => store.startWork(hold, Number.NaN),
    () => store.startWork(hold, tooLong),
    () => store.keepAndBeginSend(hold, { ...send, leaseMs: tooLong }),
    () => store.finish(hold, { answer: new Uint8Array(blobLimit + 1), partial: false, leaseMs: 1 }),
    () => store.deliver('k', { kind: 'complete', keepMs: -1 }),
    () => store.deliver('k', { kind: 'closed', reference: '' }),
    () => store.deliver('k', { kind: 'closed', reference: 'x'.repeat(referenceLimit + 1) }),
    () => store.unproven(0),
    () => store.take({ ...exampleTake(examplePurchase(1)), exposure: { unpaid: 0, open: 1 } }),
    () =>
      store.take({
        ...exampleTake(examplePurchase(1)),
        exposure: { unpaid: 1, open: exposureCountLimit + 1 },
      }),
    () => store.list({ limit: pageLimit + 1 }),
    () => store.take(exampleTake({ ...examplePurchase(1), key: '' })),
    () => store.take(exampleTake({ ...examplePurchase(1), alias: 'pay_1' })),
  ];
  for (const question of questions) {
    await assert.rejects(question(), (error) => error instanceof RangeError || error instanceof TypeError);
  }
  assert.deepEqual(asked, []);
});

test('C10: a store that cannot be reached rejects, and nothing is made up in its place', async () => {
  await assert.rejects(store.take(exampleTake(examplePurchase(1))), /unreachable store/);
  await assert.rejects(store.keepAndBeginSend(hold, send), /unreachable store/);
  await assert.rejects(store.find('k'), /unreachable store/);
});

test('an option that nobody reads is a mistake, and so is a limit that is none', () => {
  assert.throws(() => checkOptions('openStore', { pth: 'x' }, ['path']), /openStore has no option "pth"/);
  checkOptions('openStore', { path: 'x' }, ['path']);
  assert.equal(checkCount('capacity', 1), 1);
  for (const value of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 60]) {
    assert.throws(() => checkCount('capacity', value), TypeError);
  }
});
