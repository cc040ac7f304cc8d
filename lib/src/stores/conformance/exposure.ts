/** Conformance: what one payer has run up is counted in the same atomic step as the take (S01 to S03). */
import assert from 'node:assert/strict';
import { exampleHex, examplePurchase, exampleTake } from '../../claim/example.ts';
import type { ClaimStore, ExposureLimits, Purchase, TakeOutcome } from '../../claim/index.ts';
import {
  beginNow,
  count,
  done,
  graceMs,
  leaseMs,
  lost,
  refusedAt,
  type StoreCase,
  sent,
  settled,
  upfront,
  win,
} from './bench.ts';

const limits: ExposureLimits = { unpaid: 3, open: 5 };

/** A purchase of a request of its own, so that no other rule has a say. */
function purchase(n: number, differing: Partial<Purchase> = {}): Purchase {
  return examplePurchase(n, { fingerprint: exampleHex(0xe000 + n), ...differing });
}

function take(store: ClaimStore, bought: Purchase): Promise<TakeOutcome> {
  return store.take(exampleTake(bought, { exposure: limits }));
}

/** Work that ran, and a payment that was refused after it. */
async function burn(store: ClaimStore, bought: Purchase): Promise<void> {
  await sent(store, bought);
  await store.recordMoney(bought.key, refusedAt(1));
}

export const exposureCases: readonly StoreCase[] = [
  {
    name: 'S01: a payer whose runs went unpaid as often as may be is lent no other, by any process',
    run: async ({ store, another }) => {
      const rival = await another();
      for (const n of [1, 2]) await burn(n === 1 ? store : rival, purchase(n));
      const { hold } = await win(store, purchase(3), { exposure: limits });
      assert.equal((await take(rival, purchase(4))).kind, 'pay_first', 'the third is under way');
      await done(store.fail(hold));
      assert.equal((await take(rival, purchase(4))).kind, 'taken', 'a failure of the work is no debt');
      await burn(store, purchase(5));
      assert.equal((await take(rival, purchase(6))).kind, 'pay_first');
      assert.equal((await store.find(purchase(6).key)).record, undefined, 'nothing is stored for it');
    },
  },
  {
    name: 'S01: twenty takes at once lend no more runs than may be open',
    run: async ({ store, another }) => {
      const rival = await another();
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, i) => take(i % 2 === 0 ? store : rival, purchase(1 + i))),
      );
      assert.equal(count(outcomes, 'taken'), limits.open);
      assert.equal(count(outcomes, 'pay_first'), 20 - limits.open);
    },
  },
  {
    name: 'a payer who pays first is served whatever it owes, and another payer owes nothing of it',
    run: async ({ store }) => {
      for (const n of [1, 2, 3]) await burn(store, purchase(n));
      assert.equal((await take(store, purchase(4))).kind, 'pay_first');
      const first = upfront(5, { fingerprint: exampleHex(0xe005) });
      assert.equal((await store.take(exampleTake(first, { exposure: limits, ...beginNow }))).kind, 'taken');
      const stranger = purchase(6, { payer: '0x3333333333333333333333333333333333333333' });
      assert.equal((await take(store, stranger)).kind, 'taken');
      assert.equal((await store.take(exampleTake(purchase(7)))).kind, 'taken', 'where the rule is off');
    },
  },
  {
    name: 'runs that settled are forgotten as debts, and those whose money is unknown stay open',
    run: async ({ store, clock }) => {
      for (const n of [1, 2, 3, 4, 5, 6]) await settled(store, purchase(n));
      assert.equal((await take(store, purchase(7))).kind, 'taken');
      for (const n of [11, 12, 13, 14]) await lost(store, purchase(n));
      assert.equal((await take(store, purchase(8))).kind, 'pay_first', 'one runs and four are unknown');
      await clock.pass(leaseMs + graceMs);
      assert.equal((await take(store, purchase(8))).kind, 'taken', 'a run that died is nobody’s loan');
    },
  },
  {
    name: 'S01: a stale owner of a payment that must pay first has lost its fence',
    run: async ({ store, clock }) => {
      const late = purchase(1);
      const { hold } = await win(store, late);
      await clock.pass(leaseMs + graceMs);
      for (const n of [2, 3, 4]) await burn(store, purchase(n));
      assert.equal((await take(store, late)).kind, 'pay_first');
      assert.equal((await store.heartbeat(hold, leaseMs)).kind, 'lost');
      assert.equal((await store.fail(hold)).kind, 'lost');
    },
  },
];
