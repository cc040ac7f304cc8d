import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newPlace, sql } from '../../../test/postgres.ts';
import { exampleHex, exampleNowMs, examplePurchase, exampleTake } from '../../claim/example.ts';
import type { ClaimStore } from '../../claim/index.ts';
import { keepMs, leaseMs, sendNow, settledFact, win } from '../conformance/bench.ts';
import { StoreError, type StoreErrorCode } from '../error.ts';
import { optimisticStore } from '../optimistic.ts';
import { openPostgresStore } from '../postgres.ts';
import { createPool } from './pool.ts';
import { postgresRemote } from './remote.ts';

function failsWith(code: StoreErrorCode): (error: unknown) => boolean {
  return (error) => error instanceof StoreError && error.code === code;
}

/** A store whose statements are counted, on a schema that is there. */
function counting(place: { readonly url: string; readonly schema: string }): {
  readonly store: ClaimStore;
  readonly trips: (step: () => Promise<unknown>) => Promise<number>;
} {
  const pool = createPool({ url: place.url, poolSize: 2, timeoutMs: 3_000, prepare: true });
  let statements = 0;
  const watched: typeof pool = {
    ...pool,
    query: (statement, parameters) => {
      statements += 1;
      return pool.query(statement, parameters);
    },
  };
  const options = {
    schema: place.schema,
    capacity: 1_000,
    capacityBytes: 10_000_000,
    lockMs: 2_000,
    readOnly: false,
  };
  const remote = postgresRemote(watched, { ...options, clock: () => exampleNowMs });
  const trips = async (step: () => Promise<unknown>): Promise<number> => {
    const before = statements;
    await step();
    return statements - before;
  };
  return { store: optimisticStore(remote, { durable: true, monotonicMs: () => 0 }), trips };
}

test('a payment that nobody contests costs one statement a step, and so does the loser of one', async () => {
  const place = await newPlace();
  await (await openPostgresStore(place)).close();
  const { store, trips } = counting(place);
  const { store: rival, trips: rivalTrips } = counting(place);
  // Each process hears of the server's clock once.
  await store.find('any');
  await rival.find('any');
  const purchase = examplePurchase(1, { alias: exampleHex(0xa1) });
  const request = exampleTake(purchase, { exposure: { unpaid: 3, open: 3 } });
  const { key } = purchase;
  assert.equal(await trips(() => store.take(request)), 1);
  assert.equal(await rivalTrips(() => rival.take(request)), 1);
  const hold = { key, owner: request.owner, fence: 1 };
  assert.equal(await trips(() => store.heartbeat(hold, leaseMs)), 1);
  assert.equal(await trips(() => store.keepAndBeginSend(hold, sendNow)), 1);
  assert.equal(await trips(() => store.recordMoney(key, settledFact())), 1);
  assert.equal(await trips(() => store.deliver(key, { kind: 'complete', keepMs })), 1);
  assert.equal(await trips(() => store.find(key)), 1);
  assert.equal(await trips(() => store.readAnswer(key)), 1);
  await store.close();
  await rival.close();
});

test('C15: a server that has lost the newest writes is believed, and not what this process remembers of them', async () => {
  const place = await newPlace();
  const { url, schema } = place;
  const store = await openPostgresStore(place);
  const { hold } = await win(store, examplePurchase(1));
  await sql(url, `CREATE TABLE ${schema}.backup AS TABLE ${schema}.claims`);
  await store.keepAndBeginSend(hold, sendNow);
  await sql(url, `DELETE FROM ${schema}.claims`, `INSERT INTO ${schema}.claims TABLE ${schema}.backup`);
  const beat = await store.heartbeat(hold, leaseMs);
  assert.equal(beat.record?.money.state, 'none');
  await sql(url, `DELETE FROM ${schema}.claims`);
  assert.deepEqual(Object.keys(await store.heartbeat(hold, leaseMs)).toSorted(), ['kind', 'nowMs']);
  await store.close();
});

test('without a clock of its own the store goes by the server', async () => {
  const store = await openPostgresStore(await newPlace());
  const before = Date.now();
  const { nowMs } = await store.find('any');
  assert.ok(nowMs >= before && nowMs <= Date.now());
  const taken = await win(store, examplePurchase(1));
  assert.ok(taken.nowMs >= before && taken.nowMs <= Date.now());
  await store.close();
});

test('statements that are not prepared do the same, for a pooler that knows none', async () => {
  const place = await newPlace();
  const store = await openPostgresStore({ ...place, prepare: false });
  const { hold } = await win(store, examplePurchase(1));
  await store.keepAndBeginSend(hold, sendNow);
  assert.equal((await store.list({ limit: 5, money: 'sending' })).length, 1);
  assert.deepEqual(await store.readAnswer(hold.key), sendNow.answer);
  await store.close();
});

test('a row that somebody has damaged rejects, and spoils no other', async () => {
  const place = await newPlace();
  const store = await openPostgresStore(place);
  await win(store, examplePurchase(1), { earlierPayment: 'off' });
  await sql(place.url, `UPDATE ${place.schema}.claims SET body = '{}', version = gen_random_uuid()`);
  await assert.rejects(store.find(exampleHex(1)), failsWith('store_corrupt'));
  assert.deepEqual(await store.list({ limit: 5 }), []);
  await assert.rejects(store.take(exampleTake(examplePurchase(1))), failsWith('store_corrupt'));
  assert.equal((await win(store, examplePurchase(2), { earlierPayment: 'off' })).kind, 'taken');
  await store.close();
});

test('C15: a seller’s store believes no standby, which may lack the newest steps; one for looking does', async () => {
  const place = await newPlace();
  await (await openPostgresStore(place)).close();
  const shadow = `${place.schema}_shadow`;
  await sql(
    place.url,
    `CREATE SCHEMA ${shadow}`,
    `CREATE TABLE ${shadow}.standby AS SELECT true AS yes`,
    `CREATE FUNCTION ${shadow}.pg_is_in_recovery() RETURNS boolean LANGUAGE sql AS 'SELECT yes FROM ${shadow}.standby'`,
  );
  const url = `${place.url}?options=${encodeURIComponent(`-c search_path=${shadow},pg_catalog`)}`;
  const seller = await openPostgresStore({ ...place, url });
  const reader = await openPostgresStore({ ...place, url, readOnly: true });
  await assert.rejects(seller.find(exampleHex(1)), failsWith('store_read_only'));
  assert.equal((await reader.find(exampleHex(1))).record, undefined);
  await sql(place.url, `UPDATE ${shadow}.standby SET yes = false`);
  assert.equal((await seller.find(exampleHex(1))).record, undefined);
  await Promise.all([seller.close(), reader.close()]);
});

test('a row that somebody has damaged is left out of every list, and what comes after it is not', async () => {
  const place = await newPlace();
  const store = await openPostgresStore(place);
  for (const n of [1, 2, 3, 4]) {
    const { hold } = await win(store, examplePurchase(n), { earlierPayment: 'off' });
    await store.keepAndBeginSend(hold, sendNow);
    await store.recordMoney(hold.key, settledFact());
  }
  const claims = `${place.schema}.claims`;
  await sql(
    place.url,
    `UPDATE ${claims} SET body = '{}' WHERE key IN ('${exampleHex(1)}', '${exampleHex(2)}')`,
    `UPDATE ${claims} SET due_from_ms = 0, proof_from_ms = 0, answer_forget_at_ms = 0`,
  );
  const keys = [exampleHex(3), exampleHex(4)];
  for (const found of await Promise.all([
    store.due(2),
    store.unproven(2),
    store.list({ limit: 2 }),
    store.list({ limit: 2, money: 'settled' }),
  ])) {
    assert.deepEqual(found.map(({ key }) => key).toSorted(), keys);
  }
  assert.equal(await store.prune(2), 0);
  await store.close();
});

test('a key that PostgreSQL cannot hold is refused by it, and the store goes on', async () => {
  const store = await openPostgresStore(await newPlace());
  await assert.rejects(store.find('a\0b'), failsWith('store_failed'));
  await assert.rejects(
    store.take(exampleTake(examplePurchase(1, { key: 'a\0b' }))),
    failsWith('store_failed'),
  );
  assert.equal((await win(store, examplePurchase(1))).kind, 'taken');
  await store.close();
});

test('names of any length and any letter are kept and found again', async () => {
  const store = await openPostgresStore(await newPlace());
  const payer = `${'ж"\\'.repeat(4_000)}\0\ud800`;
  const purchase = examplePurchase(1, { payer, resourceUrl: 'https://shop.example/\u{1f324}' });
  await win(store, purchase, { exposure: { unpaid: 1, open: 1 } });
  const { record } = await store.find(purchase.key);
  assert.equal(record?.payer, payer);
  assert.equal(record?.resourceUrl, purchase.resourceUrl);
  const other = exampleTake({ ...purchase, key: exampleHex(2) }, { exposure: { unpaid: 1, open: 1 } });
  assert.equal((await store.take(other)).kind, 'pay_first');
  await store.close();
});
