import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createServer, type Server } from '../../test/server.ts';
import { exampleHex, exampleNowMs, examplePurchase, exampleTake } from '../claim/example.ts';
import type { ClaimStore } from '../claim/index.ts';
import { done, keepMs, leaseMs, sendNow, sent, settledFact, win } from './conformance/bench.ts';
import { claimStoreConformance, type OpenStore } from './conformance.ts';
import { optimisticStore } from './optimistic.ts';

function storeOn(server: Server): ClaimStore {
  return optimisticStore(server.remote, { durable: true, monotonicMs: () => server.nowMs });
}

const open: OpenStore = async (limits) => {
  const server = createServer(exampleNowMs, limits);
  return {
    store: storeOn(server),
    setClock: (nowMs) => {
      server.nowMs = nowMs;
    },
    another: async () => storeOn(server),
    close: async () => {},
  };
};

claimStoreConformance({ name: 'over a server that only compares', open, durable: false });

/** Has heard of the server's clock, and nothing else. */
async function awake(server: Server): Promise<ClaimStore> {
  const store = storeOn(server);
  await store.find(exampleHex(0xffff));
  server.calls.clear();
  return store;
}

test('a payment that nobody contests costs one round trip a step, and a loser costs one', async () => {
  const server = createServer(exampleNowMs);
  const store = await awake(server);
  const rival = await awake(server);
  const trips = async (step: () => Promise<unknown>): Promise<number | undefined> => {
    server.calls.clear();
    await step();
    return server.calls.get('attempt');
  };
  const { hold } = await win(store, examplePurchase(1));
  assert.equal(server.calls.get('attempt'), 1);
  const { key } = hold;
  assert.equal(await trips(() => rival.take(exampleTake(examplePurchase(1)))), 1);
  assert.equal(await trips(() => done(store.heartbeat(hold, leaseMs))), 1);
  assert.equal(await trips(() => done(store.keepAndBeginSend(hold, sendNow))), 1);
  assert.equal(await trips(() => store.recordMoney(key, settledFact())), 1);
  assert.equal(await trips(() => store.deliver(key, { kind: 'complete', keepMs })), 1);
  assert.equal(
    await trips(() => store.take(exampleTake(examplePurchase(2), { earlierPayment: 'serve' }))),
    1,
  );
});

test('what another process wrote in between is never overwritten: the step runs again over it', async () => {
  const server = createServer(exampleNowMs);
  const store = await awake(server);
  const rival = await awake(server);
  const { hold } = await win(store, examplePurchase(1));
  await done(store.keepAndBeginSend(hold, sendNow));
  await rival.find(hold.key);
  await rival.recordMoney(hold.key, settledFact('chain'));
  const told = await store.recordMoney(hold.key, { fact: 'unknown', n: 1, reason: 'timeout' });
  assert.equal(told.changed, false);
  assert.equal(told.record?.money.state, 'settled');
  assert.deepEqual(
    told.record?.sendLog.map(({ said }) => said),
    ['begun', 'settled', 'unknown'],
    'both facts are kept',
  );
});

test('an older payment that turns unknown at the last moment stops the newer one', async () => {
  const server = createServer(exampleNowMs);
  const store = await awake(server);
  const rival = await awake(server);
  const { key } = await sent(rival, examplePurchase(1));
  let meanwhile: Promise<unknown> | undefined;
  server.interfere = () => {
    meanwhile = rival.recordMoney(key, { fact: 'unknown', n: 1, reason: 'timeout' });
  };
  const outcome = await store.take(exampleTake(examplePurchase(2)));
  await meanwhile;
  assert.equal(outcome.kind, 'earlier_unknown');
  assert.equal((await store.find(examplePurchase(2).key)).record, undefined);
});

test('a clock that was believed wrong is corrected by the server, and no step is decided for another time', async () => {
  const server = createServer(exampleNowMs);
  const store = optimisticStore(server.remote, { durable: true, monotonicMs: () => 0 });
  const { record } = await win(store, examplePurchase(1));
  assert.equal(record.lease?.untilMs, exampleNowMs + leaseMs);
  server.nowMs += 3_600_000;
  const { record: later } = await win(store, examplePurchase(2, { fingerprint: exampleHex(2) }));
  assert.equal(later.createdAtMs, server.nowMs);
  server.nowMs -= 7_200_000;
  const { record: earlier } = await win(store, examplePurchase(3, { fingerprint: exampleHex(3) }));
  assert.equal(earlier.createdAtMs, server.nowMs, 'a clock that was set back counts as well');
});

test('a server that contradicts itself for ever is given up, with a code', async () => {
  const server = createServer(exampleNowMs);
  const { remote } = server;
  const sight = { nowMs: exampleNowMs - 1, records: new Map() };
  const store = optimisticStore(
    { ...remote, attempt: async () => ({ applied: false, sight }) },
    { durable: true, monotonicMs: () => 0 },
  );
  await assert.rejects(store.take(exampleTake(examplePurchase(1))), { code: 'store_busy' });
});
