/** Conformance: money facts and sends. */
import assert from 'node:assert/strict';
import { examplePurchase, exampleTake } from '../../claim/example.ts';
import {
  count,
  leaseMs,
  lost,
  payload,
  read,
  refusedAt,
  resendNow,
  type StoreCase,
  sent,
  settled,
  settledFact,
  win,
} from './bench.ts';

const purchase = examplePurchase(1);
const { key } = purchase;

export const moneyCases: readonly StoreCase[] = [
  {
    name: 'settled is recorded by anybody who has it, long after its sender lost the record',
    run: async ({ store, another, clock }) => {
      const rival = await another();
      await sent(store, purchase);
      await clock.pass(leaseMs * 100);
      const { changed, record } = await rival.recordMoney(key, settledFact());
      assert.equal(changed, true);
      assert.deepEqual(record?.money, {
        state: 'settled',
        transaction: '0xaa',
        amount: 10_000n,
        rank: 'facilitator',
      });
      assert.equal(
        await store.readPayload(key),
        undefined,
        'nothing is sent again, so nothing is kept for it',
      );
    },
  },
  {
    name: 'the chain outranks a facilitator, and of two facts of equal rank the first stays',
    run: async ({ store }) => {
      await sent(store, purchase);
      await store.recordMoney(key, refusedAt(1));
      assert.equal((await store.recordMoney(key, settledFact('facilitator'))).changed, false);
      assert.equal((await store.recordMoney(key, settledFact('chain', '0xbb'))).changed, true);
      const expired = { fact: 'refused', why: 'expired', reason: 'expired', by: 'chain' } as const;
      assert.equal((await store.recordMoney(key, expired)).changed, false);
      const record = await read(store, key);
      assert.equal(record.money.state === 'settled' && record.money.transaction, '0xbb');
      assert.deepEqual(
        record.sendLog.map(({ said, by }) => `${said} by ${by}`),
        [
          'begun by seller',
          'refused by facilitator',
          'settled by facilitator',
          'settled by chain',
          'refused by chain',
        ],
      );
    },
  },
  {
    name: 'S3: the late refusal of a first send does not end a payment whose second send is under way',
    run: async ({ store }) => {
      await lost(store, purchase);
      assert.equal((await store.beginSend(key, resendNow)).kind, 'begun');
      assert.equal((await store.recordMoney(key, refusedAt(1))).changed, false);
      assert.equal((await store.recordMoney(key, refusedAt(2))).changed, false);
      assert.equal((await read(store, key)).money.state, 'sending');
      assert.equal((await store.recordMoney(key, settledFact())).changed, true);
    },
  },
  {
    name: 'a refusal of the only send ends the payment; a proven one drops its answer too',
    run: async ({ store }) => {
      await lost(store, purchase);
      const { record } = await store.recordMoney(key, refusedAt(1));
      assert.equal(record?.money.state, 'refused');
      assert.notEqual(await store.readAnswer(key), undefined);
      const proven = { fact: 'refused', why: 'canceled', reason: 'canceled', by: 'chain' } as const;
      assert.equal((await store.recordMoney(key, proven)).changed, true);
      assert.equal(await store.readAnswer(key), undefined);
      assert.equal((await read(store, key)).answerBytes, undefined);
    },
  },
  {
    name: 'unknown never replaces a fact, and frees the record for whoever can find out',
    run: async ({ store }) => {
      await lost(store, purchase);
      const unknown = await read(store, key);
      assert.deepEqual(unknown.money, { state: 'unknown', phase: 'pay', n: 1 });
      assert.equal(unknown.lease, undefined);
      await store.recordMoney(key, settledFact());
      const late = { fact: 'unknown', n: 1, reason: 'timeout' } as const;
      assert.equal((await store.recordMoney(key, late)).changed, false);
      assert.equal((await read(store, key)).money.state, 'settled');
    },
  },
  {
    name: 'a send of which no byte left never happened, when its own sender says so in time',
    run: async ({ store, clock }) => {
      const hold = await sent(store, purchase);
      const stranger = { fact: 'unsent', n: 1, hold: { ...hold, owner: 'stranger' } } as const;
      assert.equal((await store.recordMoney(key, stranger)).changed, false);
      const { record } = await store.recordMoney(key, { fact: 'unsent', n: 1, hold });
      assert.deepEqual([record?.money.state, record?.sends, record?.work.state], ['none', 0, 'done']);
      assert.deepEqual(await store.readPayload(key), payload);
      const again = await sent(store, examplePurchase(2));
      await clock.pass(leaseMs);
      assert.equal(
        (await store.recordMoney(again.key, { fact: 'unsent', n: 1, hold: again })).changed,
        false,
      );
    },
  },
  {
    name: 'of twenty re-sends of an unknown payment at once exactly one begins',
    run: async ({ store, another }) => {
      const rival = await another();
      await lost(store, purchase);
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          (i % 2 === 0 ? store : rival).beginSend(key, { ...resendNow, owner: `sender ${i}` }),
        ),
      );
      assert.equal(count(outcomes, 'begun'), 1);
      assert.equal(count(outcomes, 'known'), 19);
      const record = await read(store, key);
      assert.deepEqual(record.money, { state: 'sending', phase: 'pay', n: 2 });
      assert.deepEqual([record.sends, record.fence], [2, 2]);
      assert.deepEqual(await store.readPayload(key), payload, 'the identical bytes');
    },
  },
  {
    name: 'identical re-sends are bounded, and nothing decided or absent is sent again',
    run: async ({ store, clock }) => {
      await sent(store, purchase);
      for (let n = 2; n <= 3; n += 1) {
        await clock.pass(leaseMs);
        assert.equal((await store.beginSend(key, resendNow)).kind, 'begun');
      }
      await clock.pass(leaseMs);
      assert.equal((await store.beginSend(key, resendNow)).kind, 'known');
      await settled(store, examplePurchase(2));
      assert.equal((await store.beginSend(examplePurchase(2).key, resendNow)).kind, 'known');
      assert.deepEqual(await store.beginSend(examplePurchase(3).key, resendNow), {
        kind: 'known',
        nowMs: clock.nowMs(),
      });
    },
  },
  {
    name: 'restart, authorization, done, sending (lease over): unknown to everybody, settled it is re-deliverable',
    run: async ({ store, clock }) => {
      await sent(store, purchase);
      await clock.pass(leaseMs);
      assert.deepEqual(
        (await store.due(10)).map((record) => record.key),
        [key],
      );
      assert.equal((await store.take(exampleTake(purchase))).kind, 'known');
      await store.recordMoney(key, settledFact('chain'));
      assert.notEqual(await store.readAnswer(key), undefined);
    },
  },
  {
    name: 'a payment whose authorization is proven dead before it was sent stops its owner',
    run: async ({ store }) => {
      const { hold } = await win(store, purchase);
      await store.recordMoney(key, { fact: 'refused', why: 'canceled', reason: 'canceled', by: 'chain' });
      assert.equal((await store.heartbeat(hold, leaseMs)).kind, 'lost');
    },
  },
  {
    name: 'a settlement that the chain undid drops its answer; one that was given back keeps its record',
    run: async ({ store }) => {
      await settled(store, purchase);
      await store.recordMoney(key, { fact: 'reversed', transaction: '0xaa' });
      assert.equal(await store.readAnswer(key), undefined);
      await settled(store, examplePurchase(2));
      await store.recordMoney(examplePurchase(2).key, { fact: 'refunded', reference: 'case 7' });
      assert.deepEqual((await read(store, examplePurchase(2).key)).money, {
        state: 'refunded',
        reference: 'case 7',
      });
      assert.equal((await store.recordMoney(key, settledFact('chain'))).changed, false);
    },
  },
  {
    name: 'a fact about a payment that nobody knows changes nothing',
    run: async ({ store, clock }) => {
      const outcome = await store.recordMoney(key, settledFact());
      assert.deepEqual(outcome, { changed: false, nowMs: clock.nowMs() });
      assert.equal((await store.find(key)).record, undefined);
    },
  },
];
