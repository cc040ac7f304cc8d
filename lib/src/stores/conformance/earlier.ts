/** Conformance: the earlier-payment rule, in the same atomic step as the take. */
import assert from 'node:assert/strict';
import { exampleHex, examplePurchase, exampleTake } from '../../claim/example.ts';
import type { Purchase } from '../../claim/index.ts';
import {
  answer,
  count,
  done,
  keepMs,
  leaseMs,
  lost,
  read,
  refusedAt,
  resendNow,
  type StoreCase,
  sendNow,
  sent,
  settled,
  settledFact,
  win,
} from './bench.ts';

const older = examplePurchase(1);
const newer = examplePurchase(2);

export const earlierCases: readonly StoreCase[] = [
  {
    name: 'S3: while an earlier payment for the request is unknown, a newer one is neither stored nor run',
    run: async ({ store, another }) => {
      const rival = await another();
      await lost(store, older);
      const outcome = await rival.take(exampleTake(newer));
      assert.equal(outcome.kind, 'earlier_unknown');
      assert.equal(outcome.older.key, older.key);
      assert.equal((await store.find(newer.key)).record, undefined);
    },
  },
  {
    name: 'S3: an earlier send whose sender died counts as unknown when its lease is over',
    run: async ({ store, clock }) => {
      await sent(store, older);
      await clock.pass(leaseMs);
      assert.equal((await store.take(exampleTake(newer))).kind, 'earlier_unknown');
    },
  },
  {
    name: 'S3: an earlier payment that settled without an answer serves the newer one, which is never sent',
    run: async ({ store, clock }) => {
      await settled(store, older);
      await clock.pass(leaseMs);
      const outcome = await store.take(exampleTake(newer));
      assert.equal(outcome.kind, 'superseded');
      assert.equal(outcome.older.key, older.key);
      assert.equal((await read(store, newer.key)).money.state, 'none');
      assert.equal((await read(store, older.key)).servedTo, newer.key);
      assert.deepEqual(await store.readAnswer(older.key), answer);
      assert.equal((await store.beginSend(newer.key, resendNow)).kind, 'known');
      assert.equal((await store.take(exampleTake(newer))).kind, 'superseded', 'for ever');
    },
  },
  {
    name: 'S3: newer payments are answered from the earlier one until one answer was written out whole',
    run: async ({ store, another, clock }) => {
      const rival = await another();
      await settled(store, older);
      await clock.pass(leaseMs);
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          (i % 2 === 0 ? store : rival).take(exampleTake(examplePurchase(2 + i))),
        ),
      );
      assert.equal(
        count(outcomes, 'superseded'),
        20,
        'each of them may be the one whose client is still there',
      );
      assert.equal((await store.list({ limit: 100, work: 'running' })).length, 0);
      await store.deliver(older.key, { kind: 'complete', keepMs });
      await win(store, examplePurchase(100));
      assert.equal((await store.take(exampleTake(newer))).kind, 'superseded', 'for ever');
    },
  },
  {
    name: 'S3: an identical re-send of an unknown payment is no twin that merely settles',
    run: async ({ store }) => {
      await lost(store, older);
      assert.equal((await store.beginSend(older.key, resendNow)).kind, 'begun');
      assert.equal((await store.take(exampleTake(newer))).kind, 'earlier_unknown');
      await store.recordMoney(older.key, settledFact());
      assert.equal((await store.take(exampleTake(newer))).kind, 'superseded');
    },
  },
  {
    name: 'twenty honest twins at once are twenty payments',
    run: async ({ store }) => {
      const twins = Array.from({ length: 20 }, (_, i) => examplePurchase(i));
      const outcomes = await Promise.all(twins.map((twin) => store.take(exampleTake(twin))));
      assert.equal(count(outcomes, 'taken'), 20);
      for (const outcome of outcomes) {
        assert.ok(outcome.kind === 'taken');
        await done(store.keepAndBeginSend(outcome.hold, sendNow));
        await store.recordMoney(outcome.hold.key, settledFact());
        await win(store, examplePurchase(100 + outcomes.indexOf(outcome)));
      }
    },
  },
  {
    name: 'an earlier payment of a client that is known to be gone serves the newer one at once',
    run: async ({ store }) => {
      await settled(store, older);
      await store.deliver(older.key, { kind: 'abandoned' });
      assert.equal((await store.take(exampleTake(newer))).kind, 'superseded');
    },
  },
  {
    name: 'a delivered, a refused and a returned earlier payment do not stand in the way',
    run: async ({ store, clock }) => {
      await settled(store, older);
      await store.deliver(older.key, { kind: 'complete', keepMs });
      await sent(store, examplePurchase(3));
      await store.recordMoney(examplePurchase(3).key, refusedAt(1));
      await settled(store, examplePurchase(4));
      await store.recordMoney(examplePurchase(4).key, { fact: 'reversed', transaction: '0xaa' });
      await clock.pass(leaseMs);
      await win(store, newer);
    },
  },
  {
    name: 'only the same payer, payee, network and request make payments twins',
    run: async ({ store }) => {
      await lost(store, older);
      const strangers: readonly Partial<Purchase>[] = [
        { payer: '0x9999999999999999999999999999999999999999' },
        { payTo: '0x9999999999999999999999999999999999999999' },
        { network: 'eip155:1' },
        { fingerprint: exampleHex(0xbad) },
      ];
      for (const [i, differing] of strangers.entries()) await win(store, examplePurchase(10 + i, differing));
      assert.equal((await store.take(exampleTake(newer))).kind, 'earlier_unknown');
    },
  },
  {
    name: 'a route that switched the rule off takes the newer payment',
    run: async ({ store }) => {
      await lost(store, older);
      await win(store, newer, { earlierPayment: 'off' });
    },
  },
  {
    name: 'the look happens again before a second attempt, and before the first send of a kept answer',
    run: async ({ store }) => {
      const failed = await win(store, newer);
      await store.fail(failed.hold);
      const hold = await sent(store, examplePurchase(3));
      await store.recordMoney(hold.key, { fact: 'unsent', n: 1, hold });
      await lost(store, older);
      assert.equal((await store.take(exampleTake(newer))).kind, 'earlier_unknown');
      assert.equal((await store.beginSend(hold.key, resendNow)).kind, 'earlier_unknown');
      await store.recordMoney(older.key, settledFact('chain'));
      assert.equal((await store.beginSend(hold.key, resendNow)).kind, 'superseded');
      assert.equal(await store.readAnswer(hold.key), undefined);
      await store.deliver(older.key, { kind: 'complete', keepMs });
      await win(store, newer);
    },
  },
  {
    name: 'however many earlier payments of a buyer with a bad line are owed, none of them is paid again',
    run: async ({ store, clock }) => {
      for (let n = 0; n < 20; n += 1) await settled(store, examplePurchase(10 + n));
      await lost(store, older);
      await clock.pass(leaseMs);
      for (let n = 0; n < 21; n += 1) {
        const outcome = await store.take(exampleTake(examplePurchase(100 + n)));
        assert.notEqual(outcome.kind, 'taken');
        if (outcome.kind !== 'superseded') break;
        await store.deliver(outcome.older.key, { kind: 'complete', keepMs });
      }
      assert.equal((await store.take(exampleTake(newer))).kind, 'earlier_unknown');
    },
  },
  {
    name: 'many twins that are being served never hide one that is unknown',
    run: async ({ store }) => {
      for (let n = 0; n < 40; n += 1) await settled(store, examplePurchase(10 + n));
      await lost(store, older);
      assert.equal((await store.take(exampleTake(newer))).kind, 'earlier_unknown');
    },
  },
];
