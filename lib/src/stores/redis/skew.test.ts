/**
 * Steps that look at one thing and write another, side by side. A script runs alone, so nothing can come between its
 * look and its write; what is left to show is that each step compares everything it has looked at.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newPlace, type Place } from '../../../test/redis.ts';
import { exampleHex, examplePurchase, exampleTake } from '../../claim/example.ts';
import type { ClaimStore } from '../../claim/index.ts';
import { count, keepMs, lost, sendNow, sent, settledFact, win } from '../conformance/bench.ts';
import { openRedisStore, type RedisStoreOptions } from '../redis.ts';

const rounds = 100;

/** Two connections to one store, both of which know the server's clock. */
async function pair(options: Partial<RedisStoreOptions> = {}): Promise<readonly [ClaimStore, ClaimStore]> {
  const place: Place = await newPlace();
  const open = (): Promise<ClaimStore> => openRedisStore({ ...place, ...options });
  const stores = [await open(), await open()] as const;
  for (const store of stores) await store.find('any');
  return stores;
}

async function closed(stores: readonly ClaimStore[]): Promise<void> {
  await Promise.all(stores.map((store) => store.close()));
}

test('C13: in a hundred races of two new payments for one identifier there is one holder each', async () => {
  const [one, other] = await pair();
  for (let round = 0; round < rounds; round += 1) {
    const name = { alias: exampleHex(0xa000 + round), fingerprint: exampleHex(round) };
    const outcomes = await Promise.all([
      one.take(exampleTake(examplePurchase(2 * round, name))),
      other.take(exampleTake(examplePurchase(2 * round + 1, name))),
    ]);
    const kinds = outcomes.map(({ kind }) => kind).toSorted();
    assert.deepEqual(kinds, ['alias_conflict', 'taken'], `round ${round}`);
  }
  await closed([one, other]);
});

test('S01: in races of eight new payments no payer is lent more than its limit', async () => {
  const [one, other] = await pair();
  const exposure = { unpaid: 9, open: 3 };
  for (let round = 0; round < 30; round += 1) {
    const takes = Array.from({ length: 8 }, (_, n) => {
      const differing = { payer: `payer ${round}`, fingerprint: exampleHex(n) };
      const purchase = examplePurchase(round * 8 + n, differing);
      return (n % 2 === 0 ? one : other).take(exampleTake(purchase, { exposure }));
    });
    const outcomes = await Promise.all(takes);
    assert.equal(count(outcomes, 'taken'), 3, `round ${round}`);
    assert.equal(count(outcomes, 'pay_first'), 5);
  }
  await closed([one, other]);
});

test('S3: a newer payment that races with the doubt about an older one is never taken beside it', async () => {
  const [one, other] = await pair();
  const said = new Set<string>();
  for (let round = 0; round < rounds; round += 1) {
    const request = { fingerprint: exampleHex(round), payer: `payer ${round}` };
    const older = examplePurchase(2 * round, request);
    const newer = examplePurchase(2 * round + 1, request);
    await sent(one, older);
    const doubt = { fact: 'unknown', n: 1, reason: 'timeout' } as const;
    const [taken] = await Promise.all([other.take(exampleTake(newer)), one.recordMoney(older.key, doubt)]);
    said.add(taken.kind);
    if (taken.kind === 'taken') {
      // It was first, as an honest twin. From here on the older one stands in its way.
      const kept = await other.take(exampleTake(examplePurchase(10_000 + round, request)));
      assert.equal(kept.kind, 'earlier_unknown', `round ${round}`);
    } else assert.equal(taken.kind, 'earlier_unknown', `round ${round}`);
  }
  assert.ok(said.size > 0);
  await closed([one, other]);
});

test('S3: an older payment is served to the newer one or delivered first, and neither word is lost', async () => {
  const [one, other] = await pair();
  for (let round = 0; round < 50; round += 1) {
    const request = { fingerprint: exampleHex(round), payer: `payer ${round}` };
    const older = examplePurchase(2 * round, request);
    await lost(one, older);
    await one.recordMoney(older.key, settledFact('chain'));
    const [taken] = await Promise.all([
      other.take(exampleTake(examplePurchase(2 * round + 1, request))),
      one.deliver(older.key, { kind: 'complete', keepMs }),
    ]);
    const { record } = await one.find(older.key);
    assert.ok(record?.deliveredAtMs !== undefined, `round ${round}`);
    if (taken.kind === 'superseded') assert.equal(record.servedTo, exampleHex(2 * round + 1));
    else assert.equal(taken.kind, 'taken');
  }
  await closed([one, other]);
});

test('C08: where two places are left, of forty newcomers through two connections two get in', async () => {
  const stores = await pair({ capacity: 2 });
  const takes = Array.from({ length: 40 }, (_, n) =>
    (n % 2 === 0 ? stores[0] : stores[1]).take(exampleTake(examplePurchase(n, { payer: `payer ${n}` }))),
  );
  const outcomes = await Promise.all(takes);
  assert.equal(count(outcomes, 'taken'), 2);
  assert.equal(count(outcomes, 'full'), 38);
  await closed(stores);
});

test('C10: an owner that was overtaken while it was away does not send, however sure its process is', async () => {
  const [one, other] = await pair();
  const purchase = examplePurchase(1);
  const { hold } = await win(one, purchase, { owner: 'a', times: { leaseMs: 1, graceMs: 0 } });
  for (let taken = false; !taken; ) {
    const again = await other.take(
      exampleTake(purchase, { owner: 'b', times: { leaseMs: 9_000, graceMs: 0 } }),
    );
    taken = again.kind === 'taken';
  }
  // The first process still remembers the record as its own.
  const said = await one.keepAndBeginSend(hold, sendNow);
  assert.equal(said.kind, 'lost');
  assert.equal(said.record?.lease?.owner, 'b');
  assert.equal(await one.readAnswer(hold.key), undefined, 'and kept no answer');
  await closed([one, other]);
});
