/** Conformance: a payment identifier stands for one authorization, in the same atomic step as take and send. */
import assert from 'node:assert/strict';
import { exampleHex, examplePurchase, exampleTake } from '../../claim/example.ts';
import type { Hold, Purchase, TakeOutcome, TakeRequest } from '../../claim/index.ts';
import {
  type Bench,
  beginNow,
  count,
  done,
  graceMs,
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
  upfront,
  win,
} from './bench.ts';

const alias = exampleHex(0xa11a5);

/** A purchase under the identifier; each is for a request of its own, so that no two are twins. */
function under(n: number, differing: Partial<Purchase> = {}): Purchase {
  return examplePurchase(n, { alias, fingerprint: exampleHex(0xf000 + n), ...differing });
}

const first = under(1);
const second = under(2);
const third = under(3);

/** The identifier stands for `holder`, and nothing is stored for the payment that is presented. */
async function conflicts(
  { store }: Pick<Bench, 'store'>,
  presented: TakeRequest,
  holder: Purchase,
): Promise<void> {
  const outcome = await store.take(presented);
  assert.equal(outcome.kind, 'alias_conflict');
  assert.equal(outcome.other.key, holder.key);
}

/** An answer that is kept and was never sent for: its send left no byte. */
async function kept(bench: Pick<Bench, 'store'>, purchase: Purchase): Promise<Hold> {
  const hold = await sent(bench.store, purchase);
  await bench.store.recordMoney(hold.key, { fact: 'unsent', n: 1, hold });
  return hold;
}

type Way = (bench: Bench, purchase: Purchase) => Promise<unknown>;

const holding: { readonly [state: string]: Way } = {
  running: ({ store }, purchase) => win(store, purchase),
  sending: ({ store }, purchase) => sent(store, purchase),
  unknown: ({ store }, purchase) => lost(store, purchase),
  held: async ({ store }, purchase) => {
    await sent(store, purchase);
    await store.recordMoney(purchase.key, { fact: 'held', transaction: '0xaa', by: 'chain' });
  },
  settled: ({ store }, purchase) => settled(store, purchase),
  delivered: async ({ store }, purchase) => {
    await settled(store, purchase);
    await store.deliver(purchase.key, { kind: 'complete', keepMs });
  },
};

const leaving: { readonly [state: string]: Way } = {
  failed: async ({ store }, purchase) => done(store.fail((await win(store, purchase)).hold)),
  exhausted: async ({ store }, purchase) =>
    done(store.fail((await win(store, { ...purchase, maxAttempts: 1 })).hold)),
  'given back': async ({ store }, purchase) => done(store.release((await win(store, purchase)).hold)),
  unsent: kept,
  retired: async ({ store }, purchase) => {
    await done(store.fail((await win(store, purchase)).hold));
    await store.recordMoney(purchase.key, { fact: 'retired' });
  },
  refused: async ({ store }, purchase) => {
    await sent(store, purchase);
    await store.recordMoney(purchase.key, refusedAt(1));
  },
  voided: async ({ store }, purchase) => {
    await sent(store, purchase);
    await store.recordMoney(purchase.key, { fact: 'voided', transaction: '0xbb', by: 'chain' });
  },
  reversed: async ({ store }, purchase) => {
    await settled(store, purchase);
    await store.recordMoney(purchase.key, { fact: 'reversed', transaction: '0xaa' });
  },
  refunded: async ({ store }, purchase) => {
    await settled(store, purchase);
    await store.recordMoney(purchase.key, { fact: 'refunded', reference: 'order 7' });
  },
};

const races: readonly StoreCase[] = [
  {
    name: 'C13: of two hundred authorizations under one identifier at once exactly one is taken, over two ways to the store',
    run: async ({ store, another }) => {
      const rival = await another();
      const asked: Promise<TakeOutcome>[] = Array.from({ length: 200 }, (_, i) =>
        (i % 2 === 0 ? store : rival).take(exampleTake(under(i))),
      );
      const outcomes = await Promise.all(asked);
      const winner = outcomes.find((outcome) => outcome.kind === 'taken');
      assert.equal(count(outcomes, 'taken'), 1);
      assert.equal(count(outcomes, 'alias_conflict'), 199);
      for (const outcome of outcomes) {
        if (outcome.kind === 'alias_conflict') assert.equal(outcome.other.key, winner?.record.key);
      }
      assert.equal((await store.list({ limit: 10 })).length, 1, 'nothing is stored for the others');
    },
  },
  {
    name: 'C13: where money moves first, of fifty authorizations under one identifier at once exactly one is sent',
    run: async ({ store, another }) => {
      const rival = await another();
      const outcomes = await Promise.all(
        Array.from({ length: 50 }, (_, i) =>
          (i % 2 === 0 ? store : rival).take(exampleTake(under(i, { flow: 'upfront' }), beginNow)),
        ),
      );
      assert.equal(count(outcomes, 'taken'), 1);
      assert.equal((await store.list({ limit: 100, money: 'sending' })).length, 1);
    },
  },
  {
    name: 'C13: of kept answers and newcomers under one identifier at once exactly one goes on',
    run: async (bench) => {
      const { store } = bench;
      for (let n = 1; n <= 10; n += 1) await kept(bench, under(n));
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          i < 10 ? store.beginSend(under(i + 1).key, resendNow) : store.take(exampleTake(under(i + 1))),
        ),
      );
      assert.equal(count(outcomes, 'begun') + count(outcomes, 'taken'), 1);
      assert.equal(count(outcomes, 'alias_conflict'), 19);
    },
  },
];

const holders: readonly StoreCase[] = [
  ...Object.entries(holding).map(
    ([state, arrive]): StoreCase => ({
      name: `C13: while a payment is ${state}, no other is taken under its identifier and nothing is stored for it`,
      run: async (bench) => {
        await arrive(bench, first);
        await conflicts(bench, exampleTake(second, { earlierPayment: 'off' }), first);
        await conflicts(
          bench,
          exampleTake(upfront(2, { alias }), { ...beginNow, earlierPayment: 'off' }),
          first,
        );
        assert.equal((await bench.store.find(second.key)).record, undefined);
        assert.equal(await bench.store.readPayload(second.key), undefined);
        assert.notEqual((await bench.store.take(exampleTake(first))).kind, 'alias_conflict', 'its own');
      },
    }),
  ),
  ...Object.entries(leaving).map(
    ([state, arrive]): StoreCase => ({
      name: `C13: the identifier of a payment that is ${state} is free for another`,
      run: async (bench) => {
        await arrive(bench, first);
        await win(bench.store, second);
        await conflicts(bench, exampleTake(third), second);
      },
    }),
  ),
  {
    name: 'C13: a send whose sender died keeps its identifier, however long ago that was',
    run: async (bench) => {
      await sent(bench.store, first);
      await bench.clock.pass(365 * 86_400_000);
      await bench.store.prune(100);
      await conflicts(bench, exampleTake(second), first);
    },
  },
  {
    name: 'C13: what a payment has paid for is given, whatever became of its identifier meanwhile',
    run: async ({ store, clock }) => {
      await win(store, upfront(1, { alias }), beginNow);
      await store.recordMoney(first.key, refusedAt(1));
      await win(store, second);
      await store.recordMoney(first.key, settledFact('chain'));
      await clock.pass(leaseMs);
      const { record } = await win(store, upfront(1, { alias }), beginNow);
      assert.deepEqual([record.money.state, record.work.state], ['settled', 'running']);
    },
  },
  {
    name: 'C13: a payment that was called refused and then found on the chain is found behind a sibling with a dead owner',
    run: async (bench) => {
      const { store, clock } = bench;
      const patient = { ...first, maxAttempts: 5 };
      await done(store.fail((await win(store, patient)).hold));
      await clock.pass(1);
      await sent(store, second);
      await store.recordMoney(second.key, refusedAt(1));
      await win(store, patient);
      await store.recordMoney(second.key, settledFact('chain'));
      await conflicts(bench, exampleTake(third), first);
      await clock.pass(leaseMs + graceMs);
      await conflicts(bench, exampleTake(third), second);
      await conflicts(bench, exampleTake(patient), second);
    },
  },
  {
    name: 'C13: however many authorizations failed under an identifier, the one that holds it is found',
    run: async (bench) => {
      for (let n = 10; n < 40; n += 1) {
        await done(bench.store.fail((await win(bench.store, under(n))).hold));
      }
      await lost(bench.store, under(40));
      for (let n = 41; n < 60; n += 1) await conflicts(bench, exampleTake(under(n)), under(40));
      await conflicts(bench, exampleTake(under(10)), under(40));
    },
  },
  {
    name: 'payments without an identifier, or under different ones, do not meet',
    run: async ({ store }) => {
      await lost(store, first);
      await win(store, under(2, { alias: exampleHex(0xa11a6) }));
      await win(store, examplePurchase(3));
      await win(store, examplePurchase(4));
    },
  },
];

const owners: readonly StoreCase[] = [
  {
    name: 'C13: after a dead owner its identifier is given away once lease and grace are over, and that owner sends nothing',
    run: async (bench) => {
      const { store, another, clock } = bench;
      const rival = await another();
      const { hold } = await win(store, first);
      await clock.pass(leaseMs + graceMs - 1);
      await conflicts(bench, exampleTake(second), first);
      await clock.pass(1);
      const heir = await win(rival, second);
      assert.equal((await store.keepAndBeginSend(hold, sendNow)).kind, 'lost', 'one charge, not two');
      assert.equal(await store.readPayload(first.key), undefined);
      const record = await read(store, first.key);
      assert.deepEqual([record.money.state, record.work.state, record.attempts], ['none', 'failed', 1]);
      await done(store.keepAndBeginSend(heir.hold, sendNow));
      await conflicts(bench, exampleTake(first), second);
    },
  },
  {
    name: 'C13: a payment whose newer sibling took the identifier waits for it, and goes on where that one is refused',
    run: async (bench) => {
      const { store } = bench;
      await done(store.fail((await win(store, first)).hold));
      await sent(store, second);
      await conflicts(bench, exampleTake(first), second);
      const record = await read(store, first.key);
      assert.deepEqual([record.work.state, record.attempts], ['failed', 1], 'it is as it was');
      await store.recordMoney(second.key, refusedAt(1));
      assert.equal((await win(store, first)).record.attempts, 2);
      await conflicts(bench, exampleTake(third), first);
    },
  },
  {
    name: 'C13: an authorization that comes back under the identifier of another loses its stale owner and is not taken',
    run: async (bench) => {
      const { store, clock } = bench;
      const { hold } = await win(store, under(1, { alias: exampleHex(0xa11a6) }));
      await clock.pass(leaseMs + graceMs);
      await win(store, second);
      await conflicts(bench, exampleTake(first), second);
      assert.equal((await store.keepAndBeginSend(hold, sendNow)).kind, 'lost');
      const record = await read(store, first.key);
      assert.deepEqual([record.alias, record.money.state], [exampleHex(0xa11a6), 'none']);
    },
  },
  {
    name: 'C13: an answer that is kept is not sent for while its identifier stands for another payment',
    run: async (bench) => {
      const { store, clock } = bench;
      await kept(bench, first);
      const { hold } = await win(store, second);
      const outcome = await store.beginSend(first.key, { ...resendNow, earlierPayment: 'off' });
      assert.equal(outcome.kind, 'alias_conflict');
      assert.equal(outcome.other.key, second.key);
      assert.equal((await read(store, first.key)).sends, 0);
      await clock.pass(leaseMs);
      assert.equal((await store.beginSend(first.key, resendNow)).kind, 'begun');
      assert.equal((await store.keepAndBeginSend(hold, sendNow)).kind, 'lost', 'one charge, not two');
      await conflicts(bench, exampleTake(second), first);
    },
  },
  {
    name: 'C13: an identical re-send of an unknown payment asks for no identifier',
    run: async ({ store }) => {
      await lost(store, first);
      assert.equal((await store.beginSend(first.key, resendNow)).kind, 'begun');
    },
  },
  {
    name: 'the identifier stays with its payment over attempts, and the one that is presented now replaces it',
    run: async (bench) => {
      const { store } = bench;
      const bare = examplePurchase(1, { fingerprint: first.fingerprint });
      await done(store.fail((await win(store, { ...first, maxAttempts: 5 })).hold));
      const again = await win(store, bare);
      assert.equal(again.record.alias, alias);
      await conflicts(bench, exampleTake(second), first);
      await done(store.fail(again.hold));
      const other = exampleHex(0xa11a6);
      assert.equal((await win(store, { ...bare, alias: other })).record.alias, other);
      await win(store, second);
      await conflicts(bench, exampleTake(under(3, { alias: other })), first);
    },
  },
];

const precedence: readonly StoreCase[] = [
  {
    name: 'S3, C13: a buyer is answered from its earlier payment before it is told of a conflict, unless the route says no',
    run: async (bench) => {
      const { store, clock } = bench;
      const twin = { ...second, fingerprint: first.fingerprint };
      await lost(store, first);
      assert.equal((await store.take(exampleTake(twin))).kind, 'earlier_unknown');
      await conflicts(bench, exampleTake(twin, { earlierPayment: 'off' }), first);
      await store.recordMoney(first.key, settledFact());
      await clock.pass(leaseMs);
      await conflicts(bench, exampleTake(twin, { earlierPayment: 'off' }), first);
      assert.equal((await store.take(exampleTake(twin))).kind, 'superseded');
    },
  },
  {
    name: 'C13: a payment that is answered from an earlier one leaves its identifier to the next',
    run: async ({ store, clock }) => {
      await settled(store, examplePurchase(1));
      await clock.pass(leaseMs);
      assert.equal((await store.take(exampleTake(examplePurchase(2, { alias })))).kind, 'superseded');
      await win(store, third);
    },
  },
  {
    name: 'C13: who is told of a conflict is not asked for another payment, as one that is late would be',
    run: async (bench) => {
      await win(bench.store, first);
      await conflicts(bench, exampleTake(second, { notAfterMs: bench.clock.nowMs() - 1 }), first);
    },
  },
  {
    name: 'C08, C13: a conflict is a conflict in a full store too',
    limits: { capacity: 1 },
    run: async (bench) => {
      await win(bench.store, first);
      await conflicts(bench, exampleTake(second), first);
      assert.equal((await bench.store.take(exampleTake(examplePurchase(3)))).kind, 'full');
    },
  },
  {
    name: 'C08, C13: a full store that forgets a stale payment for a newcomer under its identifier stays within its capacity',
    limits: { capacity: 1 },
    run: async ({ store, clock }) => {
      await win(store, first);
      await clock.pass(365 * 86_400_000);
      await win(store, second);
      assert.equal((await store.list({ limit: 10 })).length, 1);
    },
  },
  {
    name: 'an identifier that is no hash is a mistake of the caller and reaches no store',
    run: async ({ store }) => {
      for (const wrong of ['pay_7d5d747be160e280504c099d984bcfe0', '', alias.toUpperCase(), `${alias}0`]) {
        await assert.rejects(store.take(exampleTake(under(1, { alias: wrong }))), TypeError);
      }
      assert.equal((await store.find(first.key)).record, undefined);
    },
  },
];

export const aliasCases: readonly StoreCase[] = [...races, ...holders, ...owners, ...precedence];
