/** Conformance: fence, lease, the two ways to finish a work, giving back, delivery. */
import assert from 'node:assert/strict';
import { examplePurchase, exampleTake } from '../../claim/example.ts';
import type { ClaimStore, Hold } from '../../claim/index.ts';
import {
  answer,
  type Bench,
  beginNow,
  count,
  done,
  graceMs,
  keepMs,
  leaseMs,
  paidAndRunning,
  payload,
  read,
  type StoreCase,
  sendNow,
  sent,
  settled,
  settledFact,
  upfront,
  win,
} from './bench.ts';

const purchase = examplePurchase(1);

/** Every step that needs the fence, by a holder who has lost it. */
async function allLost(store: ClaimStore, hold: Hold): Promise<void> {
  const before = await read(store, hold.key);
  const outcomes = await Promise.all([
    store.heartbeat(hold, leaseMs),
    store.keepAndBeginSend(hold, sendNow),
    store.startWork(hold, leaseMs),
    store.finish(hold, { answer, partial: false, leaseMs }),
    store.fail(hold),
    store.release(hold),
  ]);
  assert.equal(count(outcomes, 'lost'), outcomes.length);
  assert.deepEqual(await read(store, hold.key), before, 'a stale owner changed the record');
}

async function takenOver({ store, clock }: Bench): Promise<Hold> {
  const { hold } = await win(store, purchase, { owner: 'stalled' });
  await clock.pass(leaseMs + graceMs);
  await win(store, purchase, { owner: 'heir' });
  return hold;
}

export const workCases: readonly StoreCase[] = [
  {
    name: 'C10: an owner that stalled past its lease cannot send, finish, fail or give back what another took over',
    run: async (bench) => {
      const stale = await takenOver(bench);
      await allLost(bench.store, stale);
      assert.equal(await bench.store.readAnswer(purchase.key), undefined);
    },
  },
  {
    name: 'C10: nobody gives back, beats or fails for somebody else, not even with the right fence',
    run: async ({ store }) => {
      const { hold } = await win(store, purchase);
      await allLost(store, { ...hold, owner: 'thief' });
      await allLost(store, { ...hold, fence: hold.fence + 1 });
      await allLost(store, { ...hold, fence: hold.fence - 1 });
    },
  },
  {
    name: 'C10: leases are milliseconds of the store; a heartbeat extends a live one and never revives a dead one',
    run: async ({ store, clock }) => {
      const { hold } = await win(store, purchase);
      for (let i = 0; i < 5; i += 1) {
        await clock.pass(leaseMs - 1);
        assert.equal((await done(store.heartbeat(hold, leaseMs))).lease?.untilMs, clock.nowMs() + leaseMs);
      }
      await clock.pass(leaseMs);
      assert.equal((await store.heartbeat(hold, leaseMs)).kind, 'lost');
    },
  },
  {
    name: 'every answer carries the time of the store',
    run: async ({ store, clock }) => {
      const { nowMs, hold } = await win(store, purchase);
      assert.equal(nowMs, clock.nowMs());
      await clock.pass(7);
      assert.equal((await store.find(purchase.key)).nowMs, clock.nowMs());
      assert.equal((await store.find(examplePurchase(2).key)).nowMs, clock.nowMs());
      assert.equal((await store.heartbeat(hold, leaseMs)).nowMs, clock.nowMs());
      assert.equal((await store.recordMoney(purchase.key, settledFact())).nowMs, clock.nowMs());
    },
  },
  {
    name: 'I7: answer, payload and send are one step that another process sees whole, and only once',
    run: async ({ store, another }) => {
      const rival = await another();
      const { hold } = await win(store, purchase);
      const outcomes = await Promise.all(
        Array.from({ length: 10 }, () => store.keepAndBeginSend(hold, sendNow)),
      );
      assert.equal(count(outcomes, 'held'), 1);
      const record = await read(rival, purchase.key);
      assert.deepEqual([record.work.state, record.money.state, record.sends], ['done', 'sending', 1]);
      assert.equal(record.answerBytes, answer.length);
      assert.deepEqual(await rival.readAnswer(purchase.key), answer);
      assert.deepEqual(await rival.readPayload(purchase.key), payload);
    },
  },
  {
    name: 'upfront: work starts once, only after the money moved, and counts its attempt then',
    run: async ({ store }) => {
      const { hold } = await win(store, upfront(1), beginNow);
      assert.equal((await store.startWork(hold, leaseMs)).kind, 'lost');
      await store.recordMoney(purchase.key, settledFact());
      const outcomes = await Promise.all(Array.from({ length: 10 }, () => store.startWork(hold, leaseMs)));
      assert.equal(count(outcomes, 'held'), 1);
      const finished = await done(store.finish(hold, { answer, partial: true, leaseMs }));
      assert.deepEqual(finished.work, { state: 'done', partial: true });
      assert.equal(finished.attempts, 1);
      assert.deepEqual(await store.readAnswer(purchase.key), answer);
      assert.equal((await store.finish(hold, { answer: payload, partial: false, leaseMs })).kind, 'lost');
    },
  },
  {
    name: 'nothing that was sent or paid is ever given back',
    run: async ({ store }) => {
      const hold = await sent(store, purchase);
      assert.equal((await store.release(hold)).kind, 'lost');
      const paid = await paidAndRunning(store, upfront(2));
      assert.equal((await store.release(paid)).kind, 'lost');
      assert.equal((await read(store, upfront(2).key)).work.state, 'running');
    },
  },
  {
    name: 'giving back a second attempt keeps the first one on record',
    run: async ({ store }) => {
      const { hold } = await win(store, purchase);
      await done(store.fail(hold));
      const again = await win(store, purchase);
      await done(store.release(again.hold));
      const record = await read(store, purchase.key);
      assert.deepEqual([record.work.state, record.attempts], ['failed', 1]);
    },
  },
  {
    name: 'the first complete write is the delivery, and frees the record',
    run: async ({ store, clock }) => {
      await settled(store, purchase);
      const first = await store.deliver(purchase.key, { kind: 'complete', keepMs });
      assert.equal(first.changed, true);
      assert.equal(first.record?.keepUntilMs, clock.nowMs() + keepMs);
      await clock.pass(1_000);
      const second = await store.deliver(purchase.key, { kind: 'complete', keepMs });
      assert.equal(second.changed, false);
      assert.deepEqual(await read(store, purchase.key), first.record);
      assert.equal(first.record?.lease, undefined);
    },
  },
  {
    name: 'I2: nothing is delivered before its money moved',
    run: async ({ store }) => {
      await sent(store, purchase);
      assert.equal((await store.deliver(purchase.key, { kind: 'complete', keepMs })).changed, false);
      assert.equal(
        (await store.deliver(examplePurchase(9).key, { kind: 'complete', keepMs })).changed,
        false,
      );
    },
  },
  {
    name: 'a client that leaves stops neither the work nor the send',
    run: async ({ store }) => {
      const { hold } = await win(store, purchase);
      await store.deliver(purchase.key, { kind: 'abandoned' });
      await done(store.keepAndBeginSend(hold, sendNow));
      await store.deliver(purchase.key, { kind: 'abandoned' });
      await done(store.heartbeat(hold, leaseMs));
      assert.equal((await read(store, purchase.key)).abandoned, true);
    },
  },
  {
    name: 'restart, authorization, running, lease over, none: the next attempt runs when presented again',
    run: async ({ store, clock }) => {
      await win(store, purchase);
      await clock.pass(leaseMs + graceMs);
      assert.equal((await win(store, purchase)).record.attempts, 2);
    },
  },
  {
    name: 'restart, authorization, done, none: kept, and only beginSend sends it',
    run: async ({ store, clock }) => {
      const hold = await sent(store, purchase);
      await store.recordMoney(purchase.key, { fact: 'unsent', n: 1, hold });
      await clock.pass(leaseMs * 10);
      const found = await store.take(exampleTake(purchase));
      assert.equal(found.kind, 'known');
      assert.deepEqual([found.record.work.state, found.record.money.state], ['done', 'none']);
      assert.deepEqual(await store.readAnswer(purchase.key), answer);
    },
  },
  {
    name: 'restart, upfront, idle, sending (lease over): no work starts until the money is known, then it runs',
    run: async ({ store, clock }) => {
      await win(store, upfront(1), beginNow);
      await clock.pass(leaseMs * 10);
      assert.equal((await store.take(exampleTake(upfront(1), beginNow))).kind, 'known');
      await store.recordMoney(purchase.key, settledFact('chain'));
      const { record } = await win(store, upfront(1), beginNow);
      assert.deepEqual([record.work.state, record.sends, record.attempts], ['running', 1, 1]);
    },
  },
  {
    name: 'restart, upfront, running (lease over), settled: owed work runs again, then is exhausted and owed',
    run: async ({ store, clock }) => {
      await paidAndRunning(store, upfront(1));
      await clock.pass(leaseMs + graceMs);
      assert.equal((await win(store, upfront(1), beginNow)).record.attempts, 2);
      await clock.pass(leaseMs + graceMs);
      const found = await store.take(exampleTake(upfront(1), beginNow));
      assert.equal(found.kind, 'known');
      assert.deepEqual([found.record.work.state, found.record.money.state], ['exhausted', 'settled']);
      assert.equal((await store.due(10)).length, 1);
    },
  },
  {
    name: 'restart, upfront, done(partial), settled: the answer is kept as it is and never run again',
    run: async ({ store, clock }) => {
      const hold = await paidAndRunning(store, upfront(1));
      await done(store.finish(hold, { answer, partial: true, leaseMs }));
      await clock.pass(leaseMs * 10);
      const found = await store.take(exampleTake(upfront(1), beginNow));
      assert.equal(found.kind, 'known');
      assert.deepEqual(found.record.work, { state: 'done', partial: true });
    },
  },
  {
    name: 'restart, escrow, idle, held: runs when presented again; failed, held: stays held to be returned',
    run: async ({ store, clock }) => {
      const escrow = examplePurchase(1, { flow: 'escrow' });
      const deposit = { begin: { payload, phase: 'deposit' } } as const;
      await win(store, escrow, deposit);
      await store.recordMoney(escrow.key, { fact: 'held', transaction: '0xd', by: 'facilitator' });
      await clock.pass(leaseMs * 10);
      const { hold, record } = await win(store, escrow, deposit);
      assert.deepEqual([record.work.state, record.money.state], ['running', 'held']);
      await done(store.fail(hold));
      assert.equal((await read(store, escrow.key)).money.state, 'held');
      await store.recordMoney(escrow.key, { fact: 'voided', transaction: '0xe', by: 'chain' });
      assert.equal((await store.take(exampleTake(escrow, deposit))).kind, 'known');
    },
  },
];
