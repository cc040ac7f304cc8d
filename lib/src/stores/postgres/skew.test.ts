/**
 * Steps that look at one thing and write another, side by side. In the first tests a connection holds one step just
 * before its commit, so that the other must wait for it; in the last ones they race.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Connection, connectTo, newPlace, type Place, somebodyWaits } from '../../../test/postgres.ts';
import { exampleHex, examplePurchase, exampleTake } from '../../claim/example.ts';
import type { ClaimStore } from '../../claim/index.ts';
import { keepMs, leaseMs, lost, sendNow, sent, settledFact, win } from '../conformance/bench.ts';
import { optimisticStore } from '../optimistic.ts';
import { openPostgresStore } from '../postgres.ts';
import type { Pool } from './pool.ts';
import { postgresRemote } from './remote.ts';

const alias = exampleHex(0xa11a5);

/** A store on one connection that is inside a transaction: what it writes is there, and nobody sees it yet. */
function uncommitted(connection: Connection, { schema }: Place, capacity: number): ClaimStore {
  const pool: Pool = {
    place: 'in a transaction',
    query: async ({ text }, parameters) =>
      (await connection.run(text, parameters)).map((row) =>
        Object.fromEntries(Object.entries(row).map(([name, value]) => [name, asText(value)])),
      ),
    session: () => Promise.reject(new Error('not here')),
    close: async () => {},
  };
  const options = { schema, capacity, capacityBytes: 1_000_000, lockMs: 2_000, readOnly: false };
  return optimisticStore(postgresRemote(pool, options), {
    durable: true,
    monotonicMs: () => performance.now(),
  });
}

function asText(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
}

/** What the second step says, asked while the first is applied and not committed. */
async function behind<T>(
  first: (store: ClaimStore) => Promise<unknown>,
  second: (store: ClaimStore) => Promise<T>,
  setting: { readonly before?: (store: ClaimStore) => Promise<unknown>; readonly capacity?: number } = {},
): Promise<T> {
  const { before, capacity = 10_000 } = setting;
  const place = await newPlace();
  const store = await openPostgresStore({ ...place, capacity });
  const connection = await connectTo(place.url);
  const watch = await connectTo(place.url);
  try {
    await before?.(store);
    await store.find('any');
    await connection.run('BEGIN');
    await first(uncommitted(connection, place, capacity));
    const answer = second(store);
    await Promise.race([answer, somebodyWaits(watch)]);
    await connection.run('COMMIT');
    return await answer;
  } finally {
    await Promise.all([connection.end(), watch.end(), store.close()]);
  }
}

test('C02: a second copy of a new payment waits for the first and is told of it', async () => {
  // Nothing but the payment itself is looked at, so that no other lock stands in for its own.
  const take = (store: ClaimStore) => store.take(exampleTake(examplePurchase(1), { earlierPayment: 'off' }));
  assert.equal((await behind(take, take)).kind, 'known');
});

test('C02: two steps over one payment never overwrite each other', async () => {
  const said = await behind(
    (store) => store.recordMoney(exampleHex(1), { fact: 'unknown', n: 1, reason: 'timeout' }),
    (store) => store.deliver(exampleHex(1), { kind: 'abandoned' }),
    { before: (store) => sent(store, examplePurchase(1)) },
  );
  assert.equal(said.record?.money.state, 'unknown');
  assert.equal(said.record?.abandoned, true);
});

test('C08: the last place of a store goes to the newcomer who was first, and the other is told that it is full', async () => {
  const take = (n: number) => (store: ClaimStore) =>
    store.take(exampleTake(examplePurchase(n, { fingerprint: exampleHex(n) }), { earlierPayment: 'off' }));
  assert.equal((await behind(take(1), take(2), { capacity: 1 })).kind, 'full');
});

test('C13: of two new payments under one identifier the second waits for the first and is a conflict', async () => {
  const said = await behind(
    (store) => win(store, examplePurchase(1, { alias })),
    (store) => store.take(exampleTake(examplePurchase(2, { alias }))),
  );
  assert.equal(said.kind, 'alias_conflict');
});

test('C13: an identifier that is being given back is free for who has waited for that', async () => {
  const said = await behind(
    (store) => store.fail({ key: exampleHex(1), owner: 'a', fence: 1 }),
    (store) => store.take(exampleTake(examplePurchase(2, { alias }))),
    { before: (store) => win(store, examplePurchase(1, { alias }), { owner: 'a' }) },
  );
  assert.equal(said.kind, 'taken');
});

test('S3: a newer payment waits for an older one that is turning unknown, and is not taken', async () => {
  const said = await behind(
    (store) => store.recordMoney(exampleHex(1), { fact: 'unknown', n: 1, reason: 'timeout' }),
    (store) => store.take(exampleTake(examplePurchase(2))),
    { before: (store) => sent(store, examplePurchase(1)) },
  );
  assert.equal(said.kind, 'earlier_unknown');
});

test('C10: an owner that comes back while another is taking its place does not send', async () => {
  const said = await behind(
    (store) => win(store, examplePurchase(1), { owner: 'b', times: { leaseMs, graceMs: 0 } }),
    (store) => store.keepAndBeginSend({ key: exampleHex(1), owner: 'a', fence: 1 }, sendNow),
    { before: (store) => win(store, examplePurchase(1), { owner: 'a', times: { leaseMs: 1, graceMs: 0 } }) },
  );
  assert.equal(said.kind, 'lost');
  assert.equal(said.record?.lease?.owner, 'b');
});

test('S01: a loan that is being made counts for the next one of the same payer', async () => {
  const exposure = { unpaid: 1, open: 1 };
  const said = await behind(
    (store) => win(store, examplePurchase(1), { exposure }),
    (store) => store.take(exampleTake(examplePurchase(2), { exposure })),
  );
  assert.equal(said.kind, 'pay_first');
});

test('payments that share nothing do not wait for each other', async () => {
  const strangers = examplePurchase(2, { payer: 'somebody else', fingerprint: exampleHex(2) });
  const place = await newPlace();
  const store = await openPostgresStore(place);
  const connection = await connectTo(place.url);
  await connection.run('BEGIN');
  const exposure = { unpaid: 2, open: 2 };
  await win(uncommitted(connection, place, 10_000), examplePurchase(1, { alias }), { exposure });
  const other = exampleTake({ ...strangers, alias: exampleHex(2) }, { exposure });
  assert.equal((await store.take(other)).kind, 'taken', 'while the first is not committed yet');
  await connection.run('ROLLBACK');
  await Promise.all([connection.end(), store.close()]);
});

/** Two pools on one schema, both of which know the server's clock. */
async function pair(): Promise<readonly [ClaimStore, ClaimStore]> {
  const place = await newPlace();
  const stores = [await openPostgresStore(place), await openPostgresStore(place)] as const;
  for (const store of stores) await store.find('any');
  return stores;
}

const rounds = 100;

test('C13: in a hundred races of two new payments for one identifier there is one holder each', async () => {
  const [one, other] = await pair();
  for (let round = 0; round < rounds; round += 1) {
    const name = { alias: exampleHex(0xa000 + round), fingerprint: exampleHex(round) };
    const outcomes = await Promise.all([
      one.take(exampleTake(examplePurchase(2 * round, name))),
      other.take(exampleTake(examplePurchase(2 * round + 1, name))),
    ]);
    assert.deepEqual(
      outcomes.map(({ kind }) => kind).toSorted(),
      ['alias_conflict', 'taken'],
      `round ${round}`,
    );
  }
  await Promise.all([one.close(), other.close()]);
});

test('S01: in races of eight new payments no payer is lent more than its limit', async () => {
  const [one, other] = await pair();
  const exposure = { unpaid: 9, open: 3 };
  for (let round = 0; round < 30; round += 1) {
    const takes = Array.from({ length: 8 }, (_, n) => {
      const purchase = examplePurchase(round * 8 + n, {
        payer: `payer ${round}`,
        fingerprint: exampleHex(n),
      });
      return (n % 2 === 0 ? one : other).take(exampleTake(purchase, { exposure }));
    });
    const kinds = (await Promise.all(takes)).map(({ kind }) => kind);
    assert.equal(kinds.filter((kind) => kind === 'taken').length, 3, `round ${round}`);
    assert.equal(kinds.filter((kind) => kind === 'pay_first').length, 5);
  }
  await Promise.all([one.close(), other.close()]);
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
  await Promise.all([one.close(), other.close()]);
});

test('C08: where two places are left, of forty newcomers through two pools two get in', async () => {
  const place = await newPlace();
  const options = { ...place, capacity: 2 };
  const stores = [await openPostgresStore(options), await openPostgresStore(options)] as const;
  const outcomes = await Promise.all(
    Array.from({ length: 40 }, (_, n) =>
      (n % 2 === 0 ? stores[0] : stores[1]).take(exampleTake(examplePurchase(n, { payer: `payer ${n}` }))),
    ),
  );
  assert.equal(outcomes.filter(({ kind }) => kind === 'taken').length, 2);
  assert.equal(outcomes.filter(({ kind }) => kind === 'full').length, 38);
  await Promise.all(stores.map((store) => store.close()));
});
