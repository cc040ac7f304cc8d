import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { startPostgres } from '../../../../tools/servers/postgres.ts';
import { newPlace, type Place, sql } from '../../../test/postgres.ts';
import { examplePurchase, exampleTake } from '../../claim/example.ts';
import { win } from '../conformance/bench.ts';
import { StoreError, type StoreErrorCode } from '../error.ts';
import { openPostgresStore, type PostgresStoreOptions } from '../postgres.ts';

function failsWith(code: StoreErrorCode, words = /./): (error: unknown) => boolean {
  return (error) => error instanceof StoreError && error.code === code && words.test(error.message);
}

/** The same database for somebody else, or with other settings. */
function altered(url: string, change: (url: URL) => void): string {
  const changed = new URL(url);
  change(changed);
  return changed.href;
}

async function assertRefused(
  options: PostgresStoreOptions,
  code: StoreErrorCode,
  words?: RegExp,
): Promise<void> {
  await assert.rejects(openPostgresStore(options), failsWith(code, words));
}

test('an option that the store does not know, a limit that is none, and a name that is no name are mistakes', async () => {
  const { url } = await newPlace();
  const misspelt = { url, capcity: 5 };
  await assert.rejects(openPostgresStore(misspelt), TypeError);
  for (const name of ['', 'a b', 'a"; DROP', 'pg_own', '1st', 'x'.repeat(64)]) {
    await assert.rejects(openPostgresStore({ url, schema: name }), TypeError, name);
  }
  for (const one of [
    '',
    'mysql://host/db',
    'postgres://user:hunter2@host:none/db',
    'postgres://user:hunter2%zz@host/db',
  ]) {
    await assert.rejects(openPostgresStore({ url: one }), (error) => {
      return error instanceof TypeError && !inspect(error).includes('hunter2');
    });
  }
  await assert.rejects(openPostgresStore({ url, poolSize: 0 }), TypeError);
  await assert.rejects(openPostgresStore({ url, timeoutMs: -1 }), TypeError);
  await assert.rejects(openPostgresStore(undefined as never), /openPostgresStore/);
  for (const [name, value] of [
    ['clock', 5],
    ['readOnly', 'no'],
    ['prepare', 0],
    ['allowUnsynced', null],
    ['timeoutMs', 60_001],
    ['poolSize', 1_001],
  ] as const) {
    const options = { url, [name]: value } as never;
    await assert.rejects(openPostgresStore(options), (fault) => {
      return fault instanceof TypeError && fault.message.includes(name);
    });
  }
});

test('a server that is down, or that never answers, and a database that is absent are told within bounds', async () => {
  const silent = createServer(() => {}).listen(0, '127.0.0.1');
  await new Promise((resolve) => silent.once('listening', resolve));
  const address = silent.address();
  assert.ok(typeof address === 'object' && address !== null);
  const { port } = address;
  const secret = `postgres://shop:hunter2@127.0.0.1:${port}/db`;
  await assertRefused({ url: secret, timeoutMs: 200 }, 'store_unreadable', /127\.0\.0\.1:\d+\/db/);
  silent.close();
  await assert.rejects(openPostgresStore({ url: secret }), (error) => {
    return (
      failsWith('store_unreadable', /REFUSED/)(error) && !inspect(error, { depth: 9 }).includes('hunter2')
    );
  });
  const { url } = await newPlace();
  await assertRefused(
    {
      url: altered(url, (to) => {
        to.pathname = '/absent';
      }),
    },
    'store_unreadable',
    /absent/,
  );
  await assertRefused(
    {
      url: altered(url, (to) => {
        to.username = 'nobody';
      }),
    },
    'store_unreadable',
    /nobody/,
  );
});

test('four processes that open a new schema together make it once, and each of them can use it', async () => {
  const place = await newPlace();
  const stores = await Promise.all([1, 2, 3, 4].map(() => openPostgresStore(place)));
  const kinds = await Promise.all(stores.map((store) => store.take(exampleTake(examplePurchase(1)))));
  assert.equal(kinds.filter(({ kind }) => kind === 'taken').length, 1);
  await Promise.all(stores.map((store) => store.close()));
  assert.deepEqual(await sql(place.url, `SELECT version FROM ${place.schema}.migrations`), [{ version: 1 }]);
});

test('a schema of a newer version is refused, to write and to read, and is not touched', async () => {
  const place = await newPlace();
  await (await openPostgresStore(place)).close();
  await sql(place.url, `INSERT INTO ${place.schema}.migrations VALUES (99)`);
  await assertRefused(place, 'store_newer', /99/);
  await assertRefused({ ...place, readOnly: true }, 'store_newer');
});

test('a store opened for reading makes nothing, sees its seller’s payments, and writes nothing', async () => {
  const place = await newPlace();
  await assertRefused({ ...place, readOnly: true }, 'store_unreadable');
  assert.deepEqual(await sql(place.url, `SELECT 1 FROM pg_namespace WHERE nspname = '${place.schema}'`), []);
  const seller = await openPostgresStore(place);
  const reader = await openPostgresStore({ ...place, readOnly: true });
  await win(seller, examplePurchase(1));
  assert.equal((await reader.list({ limit: 10 })).length, 1);
  assert.equal((await reader.find(examplePurchase(1).key)).record?.work.state, 'running');
  await assert.rejects(reader.take(exampleTake(examplePurchase(2))), failsWith('store_read_only'));
  await assert.rejects(reader.prune(10), failsWith('store_read_only'));
  await Promise.all([reader.close(), seller.close()]);
});

test('a server that takes no writes is refused to a seller, and is good enough to look at', async () => {
  const place = await newPlace();
  const seller = await openPostgresStore(place);
  const standby = { ...place, url: `${place.url}?options=-c%20default_transaction_read_only%3Don` };
  await assertRefused(standby, 'store_read_only', /standby/);
  const reader = await openPostgresStore({ ...standby, readOnly: true });
  assert.deepEqual(await reader.list({ limit: 10 }), []);
  await Promise.all([reader.close(), seller.close()]);
});

test('a database whose transactions are stricter by default is refused, with the setting’s name', async () => {
  const place = await newPlace();
  const url = `${place.url}?options=-c%20default_transaction_isolation%3Dserializable`;
  await assertRefused({ ...place, url }, 'store_unsuitable', /default_transaction_isolation/);
});

test('a database that cannot hold every letter is refused', async () => {
  const { url, schema } = await newPlace();
  await sql(url, "CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'");
  await assertRefused(
    {
      url: altered(url, (to) => {
        to.pathname = '/latin';
      }),
      schema,
    },
    'store_unsuitable',
    /UTF8/,
  );
});

test('C04: a server that may forget what it acknowledged is refused, or the store says that it is not durable', async () => {
  const server = await startPostgres({ settings: { fsync: 'off' } });
  const { url } = server;
  await assertRefused({ url }, 'store_unsuitable', /fsync/);
  const store = await openPostgresStore({ url, allowUnsynced: true });
  assert.equal(store.durable, false);
  await store.close();
  await server.stop();
  const sound = await openPostgresStore({ ...(await newPlace()), allowUnsynced: true });
  assert.equal(sound.durable, true);
  await sound.close();
});

/** The rights that the documentation names, for a new role; returns the URL to come in by. */
async function roleWith({ url }: Place, role: string, grants: readonly string[]): Promise<string> {
  await sql(url, `CREATE ROLE ${role} LOGIN`, ...grants.map((grant) => `GRANT ${grant} TO ${role}`));
  return altered(url, (to) => {
    to.username = role;
  });
}

test('a role that may not change the schema can sell with the rights that are named, and is told of one that is missing', async () => {
  const place = await newPlace();
  await (await openPostgresStore(place)).close();
  const { schema } = place;
  const usage = `USAGE ON SCHEMA ${schema}`;
  const written = `SELECT, INSERT, UPDATE, DELETE ON ${schema}.claims, ${schema}.blobs`;
  const seller = await roleWith(place, 'seller', [
    usage,
    written,
    `SELECT, UPDATE ON ${schema}.tally`,
    `SELECT ON ${schema}.migrations`,
  ]);
  const store = await openPostgresStore({ url: seller, schema });
  await win(store, examplePurchase(1));
  assert.equal(await store.prune(5), 0);
  await store.close();
  const half = await roleWith(place, 'half', [usage, written, `SELECT ON ${schema}.migrations`]);
  await assertRefused({ url: half, schema }, 'store_unreadable', /SELECT, UPDATE on ".*"\.tally/);
  const reader = await roleWith(place, 'reader', [
    usage,
    `SELECT ON ${schema}.claims, ${schema}.blobs, ${schema}.migrations`,
  ]);
  const looks = await openPostgresStore({ url: reader, schema, readOnly: true });
  assert.equal((await looks.list({ limit: 5 })).length, 1);
  await looks.close();
  const stranger = await roleWith(place, 'stranger', []);
  await assertRefused({ url: stranger, schema }, 'store_unreadable', /permission/);
});

test('a schema that holds tables of something else is refused by that name, and left as it is', async () => {
  for (const table of ['claims (id integer)', 'tally (id integer)', 'migrations (name text)']) {
    const place = await newPlace();
    await sql(place.url, `CREATE SCHEMA ${place.schema}`);
    await sql(place.url, `CREATE TABLE ${place.schema}.${table}`);
    await assertRefused(place, 'store_foreign', /something else/);
    const left = await sql(
      place.url,
      `SELECT count(*)::integer AS n FROM pg_tables WHERE schemaname = '${place.schema}'`,
    );
    assert.equal(Number(left[0]?.n), 1);
  }
});
