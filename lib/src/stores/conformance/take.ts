/** Conformance: one winner, take-over, attempts, another request for an unpaid payment, capacity. */
import assert from 'node:assert/strict';
import { exampleHex, examplePurchase, exampleTake } from '../../claim/example.ts';
import type { TakeOutcome } from '../../claim/index.ts';
import {
  beginNow,
  count,
  done,
  graceMs,
  keepMs,
  leaseMs,
  paidAndRunning,
  read,
  type StoreCase,
  sendNow,
  settled,
  upfront,
  win,
} from './bench.ts';

const purchase = examplePurchase(1);

export const takeCases: readonly StoreCase[] = [
  {
    name: 'C01, C02: of two hundred takes of one payment at once exactly one wins, over two ways to the store',
    run: async ({ store, another }) => {
      const rival = await another();
      const asked = Array.from({ length: 200 }, (_, i) =>
        (i % 2 === 0 ? store : rival).take(exampleTake(purchase, { owner: `owner ${i}` })),
      );
      const outcomes = await Promise.all(asked);
      assert.equal(count(outcomes, 'taken'), 1);
      assert.equal(count(outcomes, 'known'), 199);
      const winner = outcomes.find((outcome) => outcome.kind === 'taken');
      const record = await read(store, purchase.key);
      assert.equal(record.lease?.owner, winner?.kind === 'taken' ? winner.hold.owner : '');
      assert.equal(record.attempts, 1);
    },
  },
  {
    name: 'C01: where money moves first, of fifty takes at once exactly one begins a send',
    run: async ({ store }) => {
      const asked = Array.from({ length: 50 }, (_, i) =>
        store.take(exampleTake(upfront(1), { owner: `owner ${i}`, ...beginNow })),
      );
      assert.equal(count(await Promise.all(asked), 'taken'), 1);
      assert.equal((await read(store, purchase.key)).sends, 1);
      assert.deepEqual(await store.readPayload(purchase.key), beginNow.begin.payload);
    },
  },
  {
    name: 'C02: after a dead owner, of fifty takes at once exactly one takes over, after lease and grace',
    run: async ({ store, another, clock }) => {
      const rival = await another();
      await win(store, purchase);
      await clock.pass(leaseMs + graceMs - 1);
      assert.equal((await store.take(exampleTake(purchase))).kind, 'known');
      await clock.pass(1);
      const outcomes = await Promise.all(
        Array.from({ length: 50 }, (_, i) =>
          (i % 2 === 0 ? store : rival).take(exampleTake(purchase, { owner: `heir ${i}` })),
        ),
      );
      assert.equal(count(outcomes, 'taken'), 1);
      assert.equal((await read(store, purchase.key)).fence, 2);
    },
  },
  {
    name: 'C06: the same nonce of another payer, asset or chain is another payment',
    run: async ({ store }) => {
      const keys = [purchase.key, exampleHex(0xa), exampleHex(0xb), exampleHex(0xc)];
      for (const key of keys) await win(store, { ...purchase, key });
    },
  },
  {
    name: 'C06: one payment presented for two requests at once runs one of them',
    run: async ({ store }) => {
      const other = { ...purchase, fingerprint: exampleHex(0xbad), route: 'GET /other' };
      const outcomes = await Promise.all([purchase, other].map((one) => store.take(exampleTake(one))));
      assert.equal(count(outcomes, 'taken'), 1);
    },
  },
  {
    name: 'C11: a payment runs as often as it may and is then exhausted, over crashes and failures',
    run: async ({ store, clock }) => {
      const first = await win(store, { ...purchase, maxAttempts: 3 });
      await done(store.fail(first.hold));
      await win(store, purchase);
      await clock.pass(leaseMs + graceMs);
      await win(store, purchase);
      await clock.pass(leaseMs + graceMs);
      for (let i = 0; i < 5; i += 1) {
        const outcome = await store.take(exampleTake(purchase));
        assert.equal(outcome.kind, 'known');
        assert.equal(outcome.record.work.state, 'exhausted');
      }
      assert.equal((await read(store, purchase.key)).attempts, 3);
    },
  },
  {
    name: 'C11: another request may take the place of one that failed unpaid, and inherits its attempts',
    run: async ({ store }) => {
      const { hold } = await win(store, purchase);
      await done(store.fail(hold));
      const other = { ...purchase, fingerprint: exampleHex(0xbad), maxAttempts: 9 };
      const refused = await store.take(exampleTake(other, { mayReplaceRequest: false }));
      assert.equal(refused.kind, 'known');
      const { record } = await win(store, other);
      assert.deepEqual([record.fingerprint, record.attempts, record.maxAttempts], [other.fingerprint, 2, 2]);
    },
  },
  {
    name: 'S2: a payment that moved is taken again for its own request and signature only',
    run: async ({ store }) => {
      const hold = await paidAndRunning(store, upfront(1));
      await done(store.fail(hold));
      const others = [{ fingerprint: exampleHex(0xbad) }, { signatureHash: exampleHex(0xbad) }];
      for (const other of others) {
        assert.equal((await store.take(exampleTake(upfront(1, other), beginNow))).kind, 'known');
      }
      const { record } = await win(store, upfront(1), beginNow);
      assert.deepEqual([record.work.state, record.money.state, record.sends], ['running', 'settled', 1]);
    },
  },
  {
    name: 'C07: one hundred claims that are given back leave no record and no attempt behind',
    run: async ({ store }) => {
      for (let i = 0; i < 100; i += 1) {
        const { hold } = await win(store, purchase, { owner: `owner ${i}` });
        await done(store.release(hold));
      }
      assert.equal((await store.find(purchase.key)).record, undefined);
      assert.equal((await win(store, purchase)).record.attempts, 1);
    },
  },
  {
    name: 'a take past its last moment, by the store’s clock, stores nothing, and takes the fence from a stale owner',
    run: async ({ store, clock }) => {
      const late = { ...exampleTake(purchase), notAfterMs: clock.nowMs() + leaseMs };
      const { hold } = await win(store, purchase, { notAfterMs: clock.nowMs() });
      await clock.pass(leaseMs + graceMs + 1);
      assert.equal((await store.take({ ...late, owner: 'another' })).kind, 'late');
      assert.equal((await store.keepAndBeginSend(hold, sendNow)).kind, 'lost');
      const newcomer = exampleTake(examplePurchase(2), { notAfterMs: clock.nowMs() - 1 });
      assert.equal((await store.take(newcomer)).kind, 'late');
      assert.equal((await store.find(newcomer.purchase.key)).record, undefined);
    },
  },
  {
    name: 'C08: a store at its capacity refuses newcomers, evicts nobody and serves whom it knows',
    limits: { capacity: 5 },
    run: async ({ store }) => {
      const holds = [];
      for (let n = 1; n <= 5; n += 1) holds.push((await win(store, examplePurchase(n))).hold);
      const flood = Array.from({ length: 40 }, (_, i) => store.take(exampleTake(examplePurchase(100 + i))));
      assert.equal(count(await Promise.all(flood), 'full'), 40);
      for (const hold of holds) await done(store.keepAndBeginSend(hold, sendNow));
      assert.equal((await store.list({ limit: 10 })).length, 5);
    },
  },
  {
    name: 'C08: of newcomers at once only as many get in as there is room',
    limits: { capacity: 7 },
    run: async ({ store, another }) => {
      const rival = await another();
      const asked: Promise<TakeOutcome>[] = Array.from({ length: 40 }, (_, i) =>
        (i % 2 === 0 ? store : rival).take(exampleTake(examplePurchase(i), { earlierPayment: 'off' })),
      );
      const outcomes = await Promise.all(asked);
      assert.equal(count(outcomes, 'taken'), 7);
      assert.equal(count(outcomes, 'full'), 33);
    },
  },
  {
    name: 'C08: room is made by giving back, and by forgetting what retention allows',
    limits: { capacity: 2 },
    run: async ({ store, clock }) => {
      const first = await win(store, examplePurchase(1));
      await settled(store, examplePurchase(2));
      assert.equal(
        (await store.take(exampleTake(examplePurchase(3), { earlierPayment: 'off' }))).kind,
        'full',
      );
      await done(store.release(first.hold));
      await win(store, examplePurchase(3), { earlierPayment: 'off' });
      await store.deliver(examplePurchase(2).key, { kind: 'complete', keepMs });
      await clock.pass(365 * 86_400_000);
      await win(store, examplePurchase(4));
      await win(store, examplePurchase(5));
    },
  },
  {
    name: 'C08: kept answers are bounded by their octets, and free their room when they go',
    limits: { capacityBytes: 100 },
    run: async ({ store, clock }) => {
      const { hold } = await win(store, purchase);
      await done(store.keepAndBeginSend(hold, { ...sendNow, answer: new Uint8Array(200) }));
      assert.equal((await store.take(exampleTake(examplePurchase(2)))).kind, 'full');
      await store.recordMoney(purchase.key, { fact: 'settled', transaction: '0x1', amount: 1n, by: 'chain' });
      await store.deliver(purchase.key, { kind: 'complete', keepMs });
      await clock.pass(keepMs + 1);
      await store.prune(10);
      await win(store, examplePurchase(2));
    },
  },
];
