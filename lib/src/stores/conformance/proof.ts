/** Conformance: settlements that are not final yet, and what an operator has closed. */
import assert from 'node:assert/strict';
import { exampleHex, examplePurchase, exampleTake } from '../../claim/example.ts';
import type { ClaimRecord, Finality, MoneyFact } from '../../claim/index.ts';
import {
  beginNow,
  graceMs,
  leaseMs,
  lost,
  read,
  resendNow,
  type StoreCase,
  sent,
  settled,
  settledFact,
  upfront,
  win,
} from './bench.ts';

const day = 86_400_000;

function seen(finality: Finality, block = 7): MoneyFact {
  return { fact: 'settled', transaction: '0xaa', amount: 10_000n, by: 'chain', block, finality };
}

function keys(records: readonly ClaimRecord[]): readonly string[] {
  return records.map(({ key }) => key);
}

export const proofCases: readonly StoreCase[] = [
  {
    name: 'S05: a settlement is looked at again until it was seen at a final block, the longest due first',
    run: async ({ store, another, clock }) => {
      const rival = await another();
      const [first, second] = [examplePurchase(1), examplePurchase(2)];
      await settled(store, first);
      await settled(rival, second);
      assert.deepEqual(await rival.unproven(10), [], 'not at once: a newcomer waits behind whoever is due');
      await clock.pass(15_000);
      assert.deepEqual(keys(await rival.unproven(10)), [first.key, second.key]);
      await store.recordMoney(first.key, { fact: 'unproven' });
      assert.deepEqual(keys(await store.unproven(10)), [second.key]);
      await clock.pass(15_000);
      assert.deepEqual(keys(await store.unproven(1)), [second.key], 'it waits for longer');
      await store.recordMoney(second.key, seen(3));
      assert.deepEqual((await read(store, second.key)).money, {
        state: 'settled',
        transaction: '0xaa',
        amount: 10_000n,
        rank: 'chain',
        block: 7,
        finality: 3,
      });
      for (const { key } of [first, second]) await rival.recordMoney(key, seen('finalized'));
      assert.deepEqual(await store.unproven(10), []);
    },
  },
  {
    name: 'S05: a shallower look never takes the place of a deeper one',
    run: async ({ store }) => {
      const { key } = examplePurchase(1);
      await settled(store, examplePurchase(1));
      assert.equal((await store.recordMoney(key, seen('safe', 9))).changed, true);
      for (const finality of ['latest', 3, 'safe'] as const) {
        assert.equal((await store.recordMoney(key, seen(finality, 5))).changed, false);
      }
      const { money } = await read(store, key);
      assert.ok(money.state === 'settled' && money.block === 9 && money.finality === 'safe');
    },
  },
  {
    name: 'S07, F01: where the chain’s own word is asked for, nothing less settles',
    run: async ({ store }) => {
      const careful = examplePurchase(1, { assurance: 3 });
      await sent(store, careful);
      const asserted: MoneyFact = {
        fact: 'settled',
        transaction: '0xaa',
        amount: 10_000n,
        by: 'facilitator',
      };
      for (const fact of [asserted, seen('latest'), seen(2)]) {
        assert.equal((await store.recordMoney(careful.key, fact)).changed, false);
      }
      const { money, sendLog } = await read(store, careful.key);
      assert.equal(money.state, 'sending');
      assert.equal(sendLog.at(-1)?.said, 'settled', 'what was said is kept all the same');
      assert.equal((await store.recordMoney(careful.key, seen(3))).changed, true);
    },
  },
  {
    name: 'what an operator closed is due no more, stands in nobody’s way, and is forgotten in its time',
    run: async ({ store, another, clock }) => {
      const rival = await another();
      const owed = examplePurchase(1);
      await settled(store, owed);
      const closing = { kind: 'closed', reference: 'ticket 7' } as const;
      assert.equal((await rival.deliver(owed.key, closing)).changed, false, 'its owner may still answer');
      await clock.pass(leaseMs);
      assert.deepEqual(keys(await store.due(10)), [owed.key]);
      assert.equal((await store.take(exampleTake(examplePurchase(2)))).kind, 'superseded');
      assert.equal((await rival.deliver(owed.key, closing)).changed, true);
      assert.deepEqual(keys(await store.due(10)), []);
      assert.deepEqual(keys(await store.unproven(10)), []);
      assert.equal((await store.take(exampleTake(examplePurchase(3)))).kind, 'taken');
      assert.equal((await read(store, owed.key)).closed?.reference, 'ticket 7');
      assert.equal((await store.deliver(owed.key, { ...closing, reference: 'again' })).changed, false);
      await clock.pass(day);
      await store.prune(10);
      assert.equal((await store.find(owed.key)).record, undefined);
    },
  },
  {
    name: 'money that stays unknown can be closed by a person, and a payment that was never sent cannot',
    run: async ({ store }) => {
      await lost(store, examplePurchase(1));
      const closing = { kind: 'closed', reference: 'asked the bank' } as const;
      assert.equal((await store.deliver(exampleHex(1), closing)).changed, true);
      assert.deepEqual(await store.due(10), []);
      assert.equal((await store.take(exampleTake(examplePurchase(2)))).kind, 'taken');
      const { hold } = await win(store, examplePurchase(3));
      await store.fail(hold);
      assert.equal((await store.deliver(exampleHex(3), closing)).changed, false);
    },
  },
  {
    name: 'what a person closed is neither sent again nor worked for after all',
    run: async ({ store, another, clock }) => {
      const rival = await another();
      const closing = { kind: 'closed', reference: 'refunded by hand' } as const;
      await lost(store, examplePurchase(1));
      await rival.deliver(exampleHex(1), closing);
      assert.equal((await store.beginSend(exampleHex(1), resendNow)).kind, 'known');
      const paid = upfront(2, { fingerprint: exampleHex(0xe002) });
      await win(store, paid, beginNow);
      await store.recordMoney(paid.key, settledFact());
      await clock.pass(leaseMs + graceMs);
      await rival.deliver(paid.key, closing);
      assert.equal((await store.take(exampleTake(paid, beginNow))).kind, 'known');
    },
  },
];
