import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { test } from 'node:test';
import { inspect as show } from 'node:util';
import { startRedis } from '../../../../tools/servers/redis.ts';
import { ask, keysOf, newPlace, replicaOnline } from '../../../test/redis.ts';
import { examplePurchase, exampleTake } from '../../claim/example.ts';
import { win } from '../conformance/bench.ts';
import { StoreError, type StoreErrorCode } from '../error.ts';
import { openRedisStore, type RedisStoreOptions } from '../redis.ts';
import { inspect, layout } from './opening.ts';

function failsWith(code: StoreErrorCode, words = /./): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof StoreError, String(error));
    assert.equal(error.code, code, error.message);
    assert.match(error.message, words);
    assert.doesNotMatch(show(error, { depth: 9 }), /hunter2/);
    return true;
  };
}

async function assertRefused(
  options: RedisStoreOptions,
  code: StoreErrorCode,
  words?: RegExp,
): Promise<void> {
  await assert.rejects(openRedisStore(options), failsWith(code, words));
}

test('an option that the store does not know, a limit that is none, and a name that is no name are mistakes', async () => {
  const { url } = await newPlace();
  const misspelt = { url, capcity: 5 };
  await assert.rejects(openRedisStore(misspelt), TypeError);
  for (const prefix of ['', 'a b', '{a}', 'x'.repeat(101)]) {
    await assert.rejects(openRedisStore({ url, prefix }), TypeError, prefix);
  }
  await assert.rejects(openRedisStore({ url, capacity: 0 }), TypeError);
  await assert.rejects(openRedisStore({ url, timeoutMs: -1 }), TypeError);
  await assert.rejects(openRedisStore(undefined as never), /openRedisStore/);
  for (const [name, value] of [
    ['clock', 5],
    ['readOnly', 'no'],
    ['capacity', null],
    ['persistence', null],
    ['timeoutMs', 60_001],
    ['replicas', null],
    ['replicas', 1],
  ] as const) {
    const options = { url, [name]: value } as never;
    await assert.rejects(openRedisStore(options), (fault) => {
      return fault instanceof TypeError && fault.message.includes(name);
    });
  }
  await assert.rejects(openRedisStore({ url, replicas: { count: 0, timeoutMs: 5 } }), TypeError);
  await assert.rejects(openRedisStore({ url, replicas: { count: 1, timeoutMs: 3_000 } }), TypeError);
});

test('the names that Valkey gives its addresses are those of Redis', async () => {
  const { url, ...place } = await newPlace();
  const store = await openRedisStore({ ...place, url: url.replace('redis:', 'valkey:') });
  assert.equal((await store.find('any')).record, undefined);
  await store.close();
});

test('a URL that is none, or that would set options of the client, is a mistake and is not repeated', async () => {
  const urls = [
    '',
    'http://shop:hunter2@host',
    'redis://shop:hunter2@host:none',
    'redis://shop:hunter2@host/shop',
    'redis://shop:hunter2%zz@host',
    'valkey://shop:hunter2@host/shop',
    'redis://shop:hunter2@host?autoResendUnfulfilledCommands=true',
    'redis://shop:hunter2@host/0#hunter2',
    '/run/redis.sock',
  ];
  for (const url of urls) {
    await assert.rejects(openRedisStore({ url }), (error) => {
      assert.ok(error instanceof TypeError, url);
      assert.doesNotMatch(show(error), /hunter2/);
      return true;
    });
  }
});

test('C10: a server that is down, or that never answers, is told within bounds and without the password', async () => {
  const silent = createServer((socket) => socket.resume()).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const url = `redis://shop:hunter2@127.0.0.1:${port}`;
  await assertRefused({ url, timeoutMs: 100 }, 'store_unreadable', /127\.0\.0\.1:\d+ failed: .*timed out/);
  silent.close();
  await once(silent, 'close');
  await assertRefused({ url }, 'store_unreadable', /ECONNREFUSED/);
});

test('a wrong password, a missing one, and a database that does not exist are refused', async () => {
  const server = await startRedis();
  await ask(server.url, ['CONFIG', 'SET', 'requirepass', 'right']);
  const url = `redis://:hunter2@127.0.0.1:${server.port}`;
  await assertRefused({ url }, 'store_unreadable', /WRONGPASS/);
  await assertRefused({ url: server.url }, 'store_unreadable', /NOAUTH/);
  const store = await openRedisStore({ url: `redis://:right@127.0.0.1:${server.port}/15` });
  await win(store, examplePurchase(1));
  await store.close();
  await assertRefused({ url: `redis://:right@127.0.0.1:${server.port}/16` }, 'store_unreadable', /DB index/);
  const other = await openRedisStore({ url: `redis://:right@127.0.0.1:${server.port}/14` });
  assert.deepEqual(await other.list({ limit: 5 }), [], 'each database is a store of its own');
  await other.close();
  await server.stop();
});

test('C15: a server that may forget payments to make room, or at a restart, is refused', async () => {
  const server = await startRedis({ aof: false });
  const { url } = server;
  await assertRefused({ url }, 'store_unsuitable', /appendonly/);
  const store = await openRedisStore({ url, persistence: 'any' });
  assert.equal(store.durable, false);
  await store.close();
  for (const policy of ['allkeys-lru', 'volatile-ttl']) {
    await ask(url, ['CONFIG', 'SET', 'maxmemory-policy', policy]);
    await assertRefused({ url, persistence: 'any' }, 'store_unsuitable', new RegExp(policy));
  }
  const reader = await openRedisStore({ url, readOnly: true });
  assert.deepEqual(await reader.list({ limit: 5 }), [], 'to look at it is no risk');
  await reader.close();
  await server.stop();
});

test('C15: a replica is refused to a seller, and is good enough to look at', async () => {
  const primary = await startRedis({ args: ['--repl-diskless-sync-delay', '0'] });
  const place = { url: primary.url, prefix: 'shop' };
  const seller = await openRedisStore(place);
  await win(seller, examplePurchase(1));
  const replica = await startRedis({ aof: false, args: ['--replicaof', '127.0.0.1', String(primary.port)] });
  await replicaOnline(primary.url);
  await assertRefused({ ...place, url: replica.url }, 'store_read_only', /replica/);
  const reader = await openRedisStore({ ...place, url: replica.url, readOnly: true });
  assert.equal((await reader.list({ limit: 5 })).length, 1);
  await assert.rejects(reader.take(exampleTake(examplePurchase(2))), failsWith('store_read_only'));
  await assert.rejects(reader.prune(5), failsWith('store_read_only'));
  await Promise.all([reader.close(), seller.close()]);
  await replica.stop();
  await primary.stop();
});

test('data of a newer version is refused, to write and to read, and data of somebody else is not touched', async () => {
  const place = await newPlace();
  const name = `${keysOf(place)}layout`;
  await ask(place.url, ['SET', name, String(layout + 1)]);
  await assertRefused(place, 'store_newer', /version 2/);
  await assertRefused({ ...place, readOnly: true }, 'store_newer');
  assert.equal(await ask(place.url, ['GET', name]), String(layout + 1));
  await ask(place.url, ['SET', name, 'columns: 3']);
  await assertRefused(place, 'store_foreign');
  await ask(place.url, ['DEL', name], ['LPUSH', name, '1']);
  await assertRefused(place, 'store_foreign');
});

test('a store opened for reading makes nothing', async () => {
  const place = await newPlace();
  await assertRefused({ ...place, readOnly: true }, 'store_unreadable', /none under this prefix/);
  assert.deepEqual(await ask(place.url, ['KEYS', `${keysOf(place)}*`]), []);
});

test('C15: of all processes that share a store each knows it by one name, and one of an older version gets it now', async () => {
  const place = await newPlace();
  const name = `${keysOf(place)}id`;
  const stores = await Promise.all([1, 2].map(() => openRedisStore(place)));
  const id = await ask(place.url, ['GET', name]);
  assert.match(String(id), /^[0-9a-f-]{36}$/);
  await (await openRedisStore(place)).close();
  assert.equal(await ask(place.url, ['GET', name]), id);
  await ask(place.url, ['DEL', name]);
  const reader = await openRedisStore({ ...place, readOnly: true });
  assert.equal(await ask(place.url, ['EXISTS', name]), 0, 'whoever only looks gives none');
  await (await openRedisStore(place)).close();
  assert.equal(await ask(place.url, ['EXISTS', name]), 1);
  await Promise.all([reader, ...stores].map((store) => store.close()));
});

test('four processes that open a new store together can all use it', async () => {
  const place = await newPlace();
  const stores = await Promise.all([1, 2, 3, 4].map(() => openRedisStore(place)));
  const kinds = await Promise.all(stores.map((store) => store.take(exampleTake(examplePurchase(1)))));
  assert.equal(kinds.filter(({ kind }) => kind === 'taken').length, 1);
  await Promise.all(stores.map((store) => store.close()));
});

/** A server that says of itself what the test wants. */
function said(facts: string): (command: string) => Promise<unknown> {
  return async (command) => {
    if (command === 'INFO') return facts;
    return command === 'TYPE' ? 'string' : '1';
  };
}

test('a server that is too old, that still loads, or that does not say what it promises is refused', async () => {
  const options = { prefix: '{a}:', readOnly: false, persistence: 'aof' } as const;
  const sound = 'role:master\r\nmaxmemory_policy:noeviction\r\naof_enabled:1\r\nredis_version:';
  assert.deepEqual(await inspect(said(`${sound}6.2.0\r\n`), 'here', options), { durable: true, id: '1' });
  assert.deepEqual(await inspect(said(`${sound}10.0.1\r\n`), 'here', options), { durable: true, id: '1' });
  const bad: readonly (readonly [string, StoreErrorCode])[] = [
    [`${sound}6.0.20`, 'store_unsuitable'],
    [`${sound}5.9.0`, 'store_unsuitable'],
    [`${sound}`, 'store_unsuitable'],
    [`${sound}7.0.0\r\nloading:1`, 'store_busy'],
    ['redis_version:7.0.0\r\nrole:master\r\naof_enabled:1', 'store_unsuitable'],
    ['redis_version:7.0.0\r\nrole:master\r\nmaxmemory_policy:noeviction', 'store_unsuitable'],
    ['redis_version:7.0.0\r\nmaxmemory_policy:noeviction\r\naof_enabled:1', 'store_read_only'],
  ];
  for (const [facts, code] of bad) {
    await assert.rejects(inspect(said(facts), 'here', options), failsWith(code), facts);
  }
  await assert.rejects(
    inspect(async () => 5, 'here', options),
    failsWith('store_unsuitable'),
  );
});
