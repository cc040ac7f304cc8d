import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectTo, newPlace, type Place, sql } from '../../../test/postgres.ts';
import { exampleHex, exampleNowMs, examplePurchase } from '../../claim/example.ts';
import type { ClaimStore } from '../../claim/index.ts';
import { graceMs, keepMs, leaseMs, sendNow, settledFact, win } from '../conformance/bench.ts';
import { StoreError } from '../error.ts';
import { openPostgresStore } from '../postgres.ts';

/** A store with payments in every state, most of which were written more than once. */
async function busyStore(place: Place, clock: { nowMs: number }): Promise<ClaimStore> {
  const store = await openPostgresStore({ ...place, clock: () => clock.nowMs });
  await Promise.all(
    Array.from({ length: 40 }, async (_, n) => {
      const purchase = examplePurchase(n, { payer: `payer ${n % 7}`, alias: exampleHex(n) });
      const exposure = { unpaid: 100, open: 100 };
      const { hold } = await win(store, purchase, { earlierPayment: 'off', exposure });
      if (n % 4 === 0) return store.release(hold);
      if (n % 4 === 1) return store.fail(hold);
      await store.keepAndBeginSend(hold, { ...sendNow, answer: new Uint8Array(n * 10) });
      await store.recordMoney(purchase.key, settledFact());
      return store.deliver(purchase.key, { kind: 'complete', keepMs });
    }),
  );
  return store;
}

async function counted({ url, schema }: Place): Promise<unknown> {
  return sql(
    url,
    `SELECT sum(records)::text AS records, sum(bytes)::text AS bytes, (SELECT count(*)::text FROM ${schema}.claims) AS rows,
      (SELECT coalesce(sum(octet_length(b.bytes)), 0)::text FROM ${schema}.blobs b) AS octets FROM ${schema}.tally`,
  );
}

async function assertCounted(place: Place, rows: number): Promise<void> {
  const [row] = (await sql(place.url, 'SELECT 1').then(() => counted(place))) as readonly Record<
    string,
    string
  >[];
  assert.equal(row?.records, row?.rows);
  assert.equal(row?.bytes, row?.octets);
  assert.equal(row?.rows, String(rows));
}

test('the counters for the capacity agree with the rows after writes side by side, a change of answer, and forgetting', async () => {
  const place = await newPlace();
  const clock = { nowMs: exampleNowMs };
  const store = await busyStore(place, clock);
  await assertCounted(place, 30);
  clock.nowMs += keepMs + 1;
  assert.equal(await store.prune(100), 0);
  await assertCounted(place, 30);
  assert.deepEqual(await sql(place.url, `SELECT 1 FROM ${place.schema}.blobs WHERE kind = 'answer'`), []);
  clock.nowMs += 10 * 3_600_000;
  assert.equal(await store.prune(7), 7);
  await assertCounted(place, 23);
  assert.equal(await store.prune(100), 23);
  await assertCounted(place, 0);
  await store.close();
});

test('no step of a payment walks over all the records, whatever the server believes of their number', async () => {
  const place = await newPlace();
  const { url, schema } = place;
  // A connection reports what it did at its end, at the latest; making the indexes has looked at everything.
  await (await openPostgresStore(place)).close();
  const store = await openPostgresStore({ ...place, poolSize: 1 });
  const others = examplePurchase(1);
  await sql(
    url,
    `INSERT INTO ${schema}.claims (key, version, twins, flow, money, work, lease_until_ms, created_ms, forget_at_ms, body)
      SELECT 'other ' || n, gen_random_uuid(), 'x', 'upfront', 'none', 'idle', 0, n, ${exampleNowMs * 2}, '{}'
        FROM generate_series(1, 3000) AS n`,
  );
  const scans = async (): Promise<unknown> =>
    sql(
      url,
      `SELECT seq_scan::text FROM pg_stat_user_tables WHERE schemaname = '${schema}' AND relname = 'claims'`,
    );
  const before = await scans();
  for (let n = 1; n <= 8; n += 1) {
    const purchase = { ...others, key: exampleHex(n), alias: exampleHex(n), fingerprint: exampleHex(n) };
    const { hold } = await win(store, purchase, {
      exposure: { unpaid: 50, open: 50 },
      times: { leaseMs, graceMs },
    });
    await store.keepAndBeginSend(hold, sendNow);
    await store.recordMoney(purchase.key, settledFact());
    await store.readAnswer(purchase.key);
    await store.find(purchase.key);
    await store.prune(10);
  }
  await store.close();
  assert.deepEqual(await scans(), before);
});

test('C04: a server that would acknowledge before it has written is told to write first, for claims alone', async () => {
  const place = await newPlace();
  const { url, schema } = place;
  const store = await openPostgresStore(place);
  await store.close();
  const watched = [
    `CREATE TABLE ${schema}.seen (said text)`,
    `CREATE FUNCTION ${schema}.look() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN INSERT INTO ${schema}.seen VALUES (current_setting('synchronous_commit')); RETURN NULL; END $$`,
    // A deferred trigger runs at the very end of a transaction, when the setting counts.
    `CREATE CONSTRAINT TRIGGER look AFTER INSERT OR UPDATE OR DELETE ON ${schema}.claims
      DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION ${schema}.look()`,
  ];
  await sql(url, ...watched);
  const lax = `${url}?options=-c%20synchronous_commit%3Doff`;
  assert.deepEqual(await sql(lax, 'SHOW synchronous_commit'), [{ synchronous_commit: 'off' }]);
  const clock = { nowMs: exampleNowMs };
  const hasty = await openPostgresStore({ ...place, url: lax, clock: () => clock.nowMs });
  await win(hasty, examplePurchase(1));
  clock.nowMs += 30 * 3_600_000;
  assert.equal(await hasty.prune(10), 1);
  await hasty.close();
  assert.deepEqual(await sql(url, `SELECT said FROM ${schema}.seen`), [{ said: 'on' }, { said: 'on' }]);
});

test('under a stricter isolation level, which would show a step what was before it waited, nothing is written', async () => {
  const place = await newPlace();
  const store = await openPostgresStore(place);
  await store.close();
  const connection = await connectTo(place.url);
  await connection.run('BEGIN ISOLATION LEVEL REPEATABLE READ');
  await assert.rejects(
    connection.run(`SELECT ${place.schema}.attempt('{"keys":[],"writes":[]}', NULL, NULL, NULL)`),
    /read committed/,
  );
  await connection.run('ROLLBACK');
  await connection.run('BEGIN ISOLATION LEVEL SERIALIZABLE');
  await assert.rejects(connection.run(`SELECT ${place.schema}.expire(1, NULL)`), /read committed/);
  await connection.end();
});

test('C10: a full disk rejects the step, writes nothing of it, and the store goes on when there is room again', async () => {
  const place = await newPlace();
  const { url, schema } = place;
  const store = await openPostgresStore(place);
  // Stands in for the device: the same code, raised after the record was written and before its answer is.
  await sql(
    url,
    `CREATE FUNCTION ${schema}.full_disk() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$`,
    `CREATE TRIGGER full_disk BEFORE INSERT ON ${schema}.blobs FOR EACH ROW EXECUTE FUNCTION ${schema}.full_disk()`,
  );
  const { hold } = await win(store, examplePurchase(1));
  await assert.rejects(
    store.keepAndBeginSend(hold, sendNow),
    (error) => error instanceof StoreError && error.code === 'store_failed',
  );
  assert.equal((await store.find(hold.key)).record?.money.state, 'none');
  await sql(url, `DROP TRIGGER full_disk ON ${schema}.blobs`);
  assert.equal((await store.keepAndBeginSend(hold, sendNow)).kind, 'held');
  await assertCounted(place, 1);
  await store.close();
});
