import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { connectTo, newPlace, somebodyWaits, sql } from '../../../test/postgres.ts';
import { examplePurchase, exampleTake } from '../../claim/example.ts';
import { leaseMs, win } from '../conformance/bench.ts';
import { StoreError, type StoreErrorCode } from '../error.ts';
import { openPostgresStore } from '../postgres.ts';
import { createPool } from './pool.ts';

function failsWith(code: StoreErrorCode): (error: unknown) => boolean {
  return (error) => error instanceof StoreError && error.code === code;
}

type Line = {
  readonly url: string;
  /** What happens to the next octets of the server. */
  answers: 'pass' | 'vanish' | 'break';
  readonly close: () => void;
};

/** A line to the server that can lose its answers, or break. */
async function lineTo(url: string): Promise<Line> {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  const line = {
    answers: 'pass' as Line['answers'],
    url: '',
    close: () => {
      proxy.close();
      for (const socket of sockets) socket.destroy();
    },
  };
  const proxy = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => {});
    }
    near.on('data', (bytes) => far.write(bytes)).on('close', () => far.destroy());
    far
      .on('data', (bytes) => {
        if (line.answers === 'pass') near.write(bytes);
        if (line.answers === 'break') near.destroy();
      })
      .on('close', () => near.destroy());
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const { port } = proxy.address() as AddressInfo;
  line.url = url.replace(/:\d+\//, `:${port}/`);
  return line;
}

test('C10: a line that breaks after the server has written rejects, is never asked again, and the record tells', async () => {
  const place = await newPlace();
  const line = await lineTo(place.url);
  const store = await openPostgresStore({ ...place, url: line.url });
  await store.find('any');
  line.answers = 'break';
  await assert.rejects(store.take(exampleTake(examplePurchase(1))), failsWith('store_failed'));
  line.answers = 'pass';
  const { record } = await store.find(examplePurchase(1).key);
  assert.equal(record?.attempts, 1);
  await store.close();
  line.close();
});

test('C10: answers that never come are not waited for without end, nor is the end of the store', async () => {
  const place = await newPlace();
  const line = await lineTo(place.url);
  const store = await openPostgresStore({ ...place, url: line.url, timeoutMs: 300 });
  await store.find('any');
  line.answers = 'vanish';
  await assert.rejects(store.take(exampleTake(examplePurchase(1))), failsWith('store_failed'));
  await assert.rejects(store.find('any'), failsWith('store_unreadable'));
  const waiting = assert.rejects(store.find('any'));
  await store.close();
  await waiting;
  line.close();
});

test('C10: a lock that is not given up in time is an error, and nothing was written', async () => {
  const place = await newPlace();
  const store = await openPostgresStore({ ...place, timeoutMs: 600 });
  const { hold, record } = await win(store, examplePurchase(1));
  const other = await connectTo(place.url);
  await other.run('BEGIN');
  await other.run(`SELECT 1 FROM ${place.schema}.claims FOR UPDATE`);
  await assert.rejects(store.heartbeat(hold, leaseMs), failsWith('store_busy'));
  await other.run('ROLLBACK');
  await other.end();
  assert.equal((await store.find(hold.key)).record?.updatedAtMs, record.updatedAtMs);
  assert.equal((await store.heartbeat(hold, leaseMs)).kind, 'held', 'and it goes on');
  await store.close();
});

test('calls that find no free connection in time are turned away, and those under way are answered', async () => {
  const { url } = await newPlace();
  const pool = createPool({ url, poolSize: 1, timeoutMs: 300, prepare: false });
  const connection = await connectTo(url);
  await connection.run('SELECT pg_advisory_lock(7)');
  const held = pool.session((ask) => ask('SELECT pg_advisory_lock(7)'));
  await somebodyWaits(connection);
  await assert.rejects(pool.query({ text: 'SELECT 1' }, []), failsWith('store_overloaded'));
  await connection.run('SELECT pg_advisory_unlock(7)');
  await held;
  assert.equal((await pool.query({ text: 'SELECT 1 AS one' }, []))[0]?.one, '1');
  await connection.end();
  await pool.close();
});

test('a server that ends its connections, idle or busy, ends neither the process nor the store', async () => {
  const place = await newPlace();
  const store = await openPostgresStore({ ...place, poolSize: 2 });
  const { hold } = await win(store, examplePurchase(1));
  const other = await connectTo(place.url);
  const endAll =
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database() AND usename IS NOT NULL';
  await other.run(endAll);
  // The first call may meet a connection of which the news has not arrived yet.
  await store.find('any').catch(() => {});
  await store.find('any').catch(() => {});
  assert.equal((await store.find(hold.key)).record?.attempts, 1);
  await other.run('BEGIN');
  await other.run(`SELECT 1 FROM ${place.schema}.claims FOR UPDATE`);
  const busy = assert.rejects(store.heartbeat(hold, leaseMs), failsWith('store_failed'));
  await somebodyWaits(other);
  await other.run(endAll);
  await busy;
  await other.run('ROLLBACK');
  await other.end();
  assert.equal((await store.heartbeat(hold, leaseMs)).kind, 'held');
  await store.close();
});

test('C15: a connection to a server that takes no writes any more, or whose rows are refused, is not used again', async () => {
  const { url } = await newPlace();
  const pool = createPool({ url, poolSize: 1, timeoutMs: 3_000, prepare: false });
  const pid = async (): Promise<unknown> =>
    (await pool.query({ text: 'SELECT pg_backend_pid() AS pid' }, []))[0]?.pid;
  const first = await pid();
  assert.equal(await pid(), first);
  const demoted = "DO $$ BEGIN RAISE EXCEPTION 'read-only' USING ERRCODE = '25006'; END $$";
  await assert.rejects(pool.query({ text: demoted }, []), failsWith('store_read_only'));
  const second = await pid();
  assert.notEqual(second, first);
  const check = (): void => {
    throw new StoreError('store_read_only', 'a standby');
  };
  await assert.rejects(pool.query({ text: 'SELECT 1', check }, []), failsWith('store_read_only'));
  assert.notEqual(await pid(), second);
  await pool.close();
});

test('a step that the server rolled back for another is asked again, and a bounded number of times', async () => {
  const place = await newPlace();
  const { url, schema } = place;
  const store = await openPostgresStore(place);
  await sql(
    url,
    `CREATE SEQUENCE ${schema}.turns`,
    `CREATE FUNCTION ${schema}.collide() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF nextval('${schema}.turns') % 6 <> 3 THEN RAISE EXCEPTION 'deadlock' USING ERRCODE = '40P01'; END IF;
      RETURN NEW; END $$`,
    `CREATE TRIGGER collide BEFORE INSERT ON ${schema}.claims FOR EACH ROW EXECUTE FUNCTION ${schema}.collide()`,
  );
  await store.find('any');
  assert.equal((await win(store, examplePurchase(1))).kind, 'taken', 'the third time');
  await assert.rejects(
    store.take(exampleTake(examplePurchase(2, { fingerprint: 'f'.repeat(64) }))),
    failsWith('store_busy'),
  );
  await store.close();
});

test('a closed store takes no calls, answers those under way, and can be closed twice', async () => {
  const store = await openPostgresStore(await newPlace());
  const asked = [1, 2, 3].map((n) => win(store, examplePurchase(n, { fingerprint: `${n}`.repeat(64) })));
  const closing = store.close();
  await assert.rejects(store.find('any'), failsWith('store_closed'));
  for (const one of await Promise.all(asked)) assert.equal(one.kind, 'taken');
  await Promise.all([closing, store.close()]);
});
