/** Conformance: what is kept and how it comes back, what may be forgotten, listing. */
import assert from 'node:assert/strict';
import { exampleHex, examplePurchase, exampleTake } from '../../claim/example.ts';
import { type ClaimRecord, encodeRecord, type ListQuery, retainMs } from '../../claim/index.ts';
import {
  answer,
  type Bench,
  beginNow,
  done,
  graceMs,
  keepMs,
  leaseMs,
  lost,
  paidAndRunning,
  read,
  refusedAt,
  type StoreCase,
  sendNow,
  sent,
  settled,
  settledFact,
  upfront,
  win,
} from './bench.ts';

const purchase = examplePurchase(1);
const { key } = purchase;
const largest = 2n ** 256n - 1n;

async function pages({ store }: Bench, query: Omit<ListQuery, 'limit' | 'after'>): Promise<string[]> {
  const keys: string[] = [];
  for (let page = 0; page < 20; page += 1) {
    const after = keys.at(-1);
    const found = await store.list({ ...query, limit: 3, ...(after === undefined ? {} : { after }) });
    keys.push(...found.map((record) => record.key));
    if (found.length < 3) return keys;
  }
  return assert.fail('the pages have no end');
}

const numbers = (keys: readonly string[]): readonly number[] => keys.map((one) => Number.parseInt(one, 16));

export const keepCases: readonly StoreCase[] = [
  {
    name: 'a record comes back as it was, with any amount up to 2^256 - 1, any text and any terms',
    run: async ({ store, another }) => {
      const rival = await another();
      const strange = {
        ...purchase,
        amount: largest,
        route: 'POST /übersetzung/\u{1F600}/\u0000\ud800',
        resourceUrl: 'https://xn--bcher-kva.example/?q=%00',
        requirement: {
          ...purchase.requirement,
          amount: largest,
          extra: { $n: '1', name: "O'Reilly\u2028", list: [null, true, 0.5] },
        },
      };
      const { record, hold } = await win(store, strange);
      await done(store.keepAndBeginSend(hold, sendNow));
      await store.recordMoney(key, { fact: 'settled', transaction: '0x1', amount: largest, by: 'chain' });
      const found = await read(rival, key);
      assert.equal(found.money.state === 'settled' && found.money.amount, largest);
      for (const name of ['amount', 'route', 'resourceUrl', 'requirement'] as const) {
        assert.deepEqual(found[name], strange[name]);
      }
      assert.equal(encodeRecord({ ...found, ...strange }), encodeRecord(found));
      assert.equal(record.amount, largest);
    },
  },
  {
    name: 'an answer of one mebibyte comes back octet for octet, and an empty one as empty',
    run: async ({ store, another }) => {
      const rival = await another();
      const large = Uint8Array.from({ length: 1_048_576 }, (_, i) => (i * 31 + (i >> 8)) & 0xff);
      const { hold } = await win(store, purchase);
      await done(store.keepAndBeginSend(hold, { ...sendNow, answer: large, payload: new Uint8Array(0) }));
      const kept = await rival.readAnswer(key);
      assert.ok(kept !== undefined && Buffer.compare(kept, large) === 0);
      assert.deepEqual(await rival.readPayload(key), new Uint8Array(0));
      assert.equal((await read(store, key)).answerBytes, large.length);
    },
  },
  {
    name: 'what is given back is a copy: changing it, or what was handed in, changes nothing that is kept',
    run: async ({ store }) => {
      const mine = Uint8Array.from(answer);
      const { hold } = await win(store, purchase);
      await done(store.keepAndBeginSend(hold, { ...sendNow, answer: mine }));
      mine.fill(0);
      (await store.readAnswer(key))?.fill(0);
      assert.deepEqual(await store.readAnswer(key), answer);
    },
  },
  {
    name: 'answers and payloads of payments that nobody knows are absent',
    run: async ({ store }) => {
      assert.equal(await store.readAnswer(key), undefined);
      assert.equal(await store.readPayload(key), undefined);
      await win(store, purchase);
      assert.equal(await store.readAnswer(key), undefined);
    },
  },
  {
    name: 'C09: a settled payment is known until its authorization, the skew and the reorganisation window are past',
    run: async ({ store, clock }) => {
      await settled(store, purchase);
      await store.deliver(key, { kind: 'complete', keepMs });
      await clock.pass(purchase.validBeforeMs + retainMs - clock.nowMs());
      assert.equal(await store.prune(100), 0);
      assert.equal((await store.take(exampleTake(purchase))).kind, 'known');
      await clock.pass(1);
      assert.equal(await store.prune(100), 1);
      assert.equal((await store.find(key)).record, undefined);
    },
  },
  {
    name: 'the answer goes when it was promised for long enough, and its record stays',
    run: async ({ store, clock }) => {
      await settled(store, purchase);
      await store.deliver(key, { kind: 'complete', keepMs });
      await clock.pass(keepMs);
      await store.prune(100);
      assert.deepEqual(await store.readAnswer(key), answer);
      await clock.pass(1);
      assert.equal(await store.prune(100), 0);
      assert.equal(await store.readAnswer(key), undefined);
      const record = await read(store, key);
      assert.deepEqual([record.money.state, record.answerBytes], ['settled', undefined]);
    },
  },
  {
    name: 'unknown money, undelivered answers and owed work are never forgotten by time',
    run: async ({ store, clock }) => {
      await lost(store, examplePurchase(1));
      await sent(store, examplePurchase(2));
      await settled(store, examplePurchase(3));
      await paidAndRunning(store, upfront(4, { fingerprint: exampleHex(4) }));
      await clock.pass(50 * 365 * 86_400_000);
      assert.equal(await store.prune(100), 0);
      assert.equal((await store.due(100)).length, 4);
      assert.deepEqual(await store.readAnswer(examplePurchase(3).key), answer);
    },
  },
  {
    name: 'what never moved, and what was refused, is forgotten with all that lies beside it, a page at a time',
    run: async ({ store, clock }) => {
      for (let n = 1; n <= 5; n += 1) await win(store, examplePurchase(n));
      for (let n = 6; n <= 7; n += 1) {
        await sent(store, examplePurchase(n));
        await store.recordMoney(examplePurchase(n).key, refusedAt(1));
      }
      await clock.pass(365 * 86_400_000);
      assert.equal(await store.prune(3), 3);
      assert.equal(await store.prune(100), 4);
      assert.deepEqual(await store.list({ limit: 10 }), []);
      assert.equal(await store.readAnswer(examplePurchase(6).key), undefined);
    },
  },
  {
    name: 'what is due is listed oldest first, without anybody having written that its owner died',
    run: async ({ store, clock }) => {
      await settled(store, examplePurchase(3));
      await clock.pass(10);
      await paidAndRunning(store, upfront(2, { fingerprint: exampleHex(2) }));
      await clock.pass(10);
      await lost(store, examplePurchase(1));
      await settled(store, examplePurchase(4));
      await store.deliver(examplePurchase(4).key, { kind: 'complete', keepMs });
      const due = async (limit: number): Promise<readonly number[]> =>
        numbers((await store.due(limit)).map((record) => record.key));
      assert.deepEqual(await due(10), [1], 'the others are in somebody’s hands');
      await clock.pass(leaseMs + graceMs);
      assert.deepEqual(await due(10), [3, 2, 1]);
      assert.deepEqual(await due(2), [3, 2]);
      await store.recordMoney(examplePurchase(1).key, settledFact('chain'));
      await store.deliver(examplePurchase(3).key, { kind: 'complete', keepMs });
      assert.deepEqual(await due(10), [2, 1]);
    },
  },
  {
    name: 'listing pages through the keys in order, by money, work and flow',
    run: async (bench) => {
      const { store, clock } = bench;
      for (let n = 1; n <= 7; n += 1) await win(store, examplePurchase(n, { fingerprint: exampleHex(n) }));
      for (let n = 8; n <= 10; n += 1) await sent(store, examplePurchase(n));
      await win(store, upfront(11, { fingerprint: exampleHex(11) }), beginNow);
      await lost(store, examplePurchase(12));
      await settled(store, examplePurchase(13));
      const found = async (query: Omit<ListQuery, 'limit' | 'after'>): Promise<readonly number[]> =>
        numbers(await pages(bench, query));
      assert.deepEqual(await found({}), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]);
      assert.deepEqual(await found({ money: 'none' }), [1, 2, 3, 4, 5, 6, 7]);
      assert.deepEqual(await found({ money: 'sending' }), [8, 9, 10, 11]);
      assert.deepEqual(await found({ money: 'unknown' }), [12]);
      assert.deepEqual(await found({ money: 'settled', work: 'done' }), [13]);
      assert.deepEqual(await found({ work: 'running' }), [1, 2, 3, 4, 5, 6, 7]);
      assert.deepEqual(await found({ flow: 'upfront' }), [11]);
      await clock.pass(leaseMs);
      assert.deepEqual(await found({ money: 'unknown' }), [8, 9, 10, 11, 12], 'a dead send is unknown');
      assert.deepEqual(await found({ money: 'sending' }), []);
    },
  },
  {
    name: 'questions beyond the limits are a mistake of the caller and change nothing',
    run: async ({ store }) => {
      await assert.rejects(store.list({ limit: 0 }), RangeError);
      await assert.rejects(store.list({ limit: 1_001 }), RangeError);
      await assert.rejects(store.due(0.5), RangeError);
      await assert.rejects(store.prune(-1), RangeError);
      await assert.rejects(store.find(''), TypeError);
      await assert.rejects(store.find('k'.repeat(257)), TypeError);
      const lease = { leaseMs: 30, graceMs: 5 };
      for (const times of [
        { ...lease, leaseMs: 0 },
        { ...lease, leaseMs: 0.03 },
        { ...lease, leaseMs: 30_000_000_000 },
        { ...lease, graceMs: -1 },
      ]) {
        await assert.rejects(store.take(exampleTake(purchase, { times })), RangeError);
      }
      assert.equal((await store.find(key)).record, undefined);
    },
  },
  {
    name: 'a closed store answers nothing, also not what was asked before it closed and is not answered yet',
    run: async ({ store }) => {
      const early = store.take(exampleTake(purchase));
      await store.close();
      assert.equal((await early).kind, 'taken', 'what was accepted is finished');
      await assert.rejects(store.find(key));
      await store.close();
    },
  },
];

/** For stores that outlive their process: what was answered is there for the next one, as it was. */
export const durableCases: readonly StoreCase[] = [
  {
    name: 'C04: what was answered is there after the store was closed and opened again',
    run: async ({ store, another }) => {
      const rival = await another();
      await settled(store, purchase);
      await lost(store, examplePurchase(2));
      const before: readonly ClaimRecord[] = await store.list({ limit: 10 });
      await store.close();
      assert.deepEqual(await rival.list({ limit: 10 }), before);
      assert.deepEqual(await rival.readAnswer(key), answer);
      assert.equal((await rival.take(exampleTake(purchase))).kind, 'known');
    },
  },
];
