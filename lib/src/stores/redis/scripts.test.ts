import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Redis } from 'ioredis';
import { startRedis } from '../../../../tools/servers/redis.ts';
import { ask, keysOf, newPlace, type Place } from '../../../test/redis.ts';
import { exampleHex, exampleNowMs, examplePurchase, exampleTake } from '../../claim/example.ts';
import type { ClaimStore } from '../../claim/index.ts';
import {
  keepMs,
  leaseMs,
  lost,
  refusedAt,
  sendNow,
  sent,
  settled,
  settledFact,
  win,
} from '../conformance/bench.ts';
import { StoreError } from '../error.ts';
import { openRedisStore } from '../redis.ts';

function code(expected: string): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof StoreError, String(error));
    assert.equal(error.code, expected, error.message);
    return true;
  };
}

async function names(place: Place): Promise<readonly string[]> {
  const found = await ask(place.url, ['KEYS', `${keysOf(place)}*`]);
  assert.ok(Array.isArray(found));
  return found.map((name: unknown) => String(name).slice(keysOf(place).length)).toSorted();
}

/** Everything under a prefix, whatever its kind. */
async function everything(place: Place): Promise<unknown> {
  const found = await names(place);
  const dumps = found.map((name) => ask(place.url, ['DUMP', `${keysOf(place)}${name}`]));
  return Object.fromEntries((await Promise.all(dumps)).map((dump, at) => [found[at], dump]));
}

/** Payments in every state that an index knows. */
async function fill(store: ClaimStore): Promise<void> {
  const exposure = { unpaid: 50, open: 50 };
  const twin = (n: number): ReturnType<typeof examplePurchase> =>
    examplePurchase(n, { fingerprint: exampleHex(n), alias: exampleHex(n + 1_000) });
  await win(store, twin(1), { exposure });
  await lost(store, twin(2));
  await sent(store, twin(3));
  await store.recordMoney(exampleHex(3), refusedAt(1));
  await sent(store, twin(4));
  await store.recordMoney(exampleHex(4), settledFact());
  await store.deliver(exampleHex(4), { kind: 'complete', keepMs });
  await sent(store, twin(5));
  await store.recordMoney(exampleHex(5), settledFact());
}

test('what is forgotten leaves nothing behind: no index entry, no octets, no count', async () => {
  const place = await newPlace();
  let nowMs = exampleNowMs;
  const store = await openRedisStore({ ...place, clock: () => nowMs });
  await fill(store);
  const full = await names(place);
  for (const kind of ['due', 'forget', 'keys', 'proof', 'size', 'stale']) {
    assert.ok(full.includes(kind), kind);
  }
  assert.ok(full.some((name) => name.startsWith('unpaid:')) && full.some((name) => name.startsWith('open:')));
  for (const n of [2, 5]) await store.deliver(exampleHex(n), { kind: 'abandoned' });
  nowMs += 10 * 3_600_000;
  for (const n of [2, 5]) await store.deliver(exampleHex(n), { kind: 'closed', reference: 'ticket' });
  assert.equal(await store.prune(100), 5);
  const given = await win(store, examplePurchase(6, { alias: exampleHex(6) }));
  assert.equal((await store.release(given.hold)).kind, 'held');
  assert.deepEqual(await names(place), ['id', 'layout', 'size']);
  assert.deepEqual(await ask(place.url, ['HMGET', `${keysOf(place)}size`, 'records', 'octets']), ['0', '0']);
  await store.close();
});

test('nothing in the store has an expiry of its own', async () => {
  const place = await newPlace();
  const store = await openRedisStore(place);
  await win(store, examplePurchase(1));
  await store.keepAndBeginSend({ key: exampleHex(1), owner: 'owner of 0001', fence: 1 }, sendNow);
  for (const name of await names(place)) {
    assert.equal(await ask(place.url, ['PTTL', `${keysOf(place)}${name}`]), -1, name);
  }
  await store.close();
});

test('data of somebody else under a name of ours fails each step that meets it whole, before anything is written', async () => {
  for (const name of ['keys', 'money:none', 'forget', 'size', `r:${exampleHex(1)}`]) {
    const place = await newPlace();
    const store = await openRedisStore(place);
    await ask(place.url, ['SET', `${keysOf(place)}${name}`, 'x']);
    const before = await everything(place);
    await assert.rejects(store.take(exampleTake(examplePurchase(1))), code('store_corrupt'), name);
    assert.deepEqual(await everything(place), before, name);
    await store.close();
  }
});

test('an index that breaks under a payment leaves the payment as it was', async () => {
  const place = await newPlace();
  const store = await openRedisStore(place);
  const { hold } = await win(store, examplePurchase(1));
  await ask(place.url, ['SET', `${keysOf(place)}due`, 'x'], ['SET', `${keysOf(place)}a:${hold.key}`, 'old']);
  const before = await everything(place);
  await assert.rejects(store.keepAndBeginSend(hold, sendNow), code('store_corrupt'));
  assert.deepEqual(await everything(place), before);
  await ask(place.url, ['DEL', `${keysOf(place)}due`]);
  assert.equal((await store.keepAndBeginSend(hold, sendNow)).kind, 'held');
  await store.close();
});

test('C08: a server whose memory is used up refuses a step whole, still forgets, and goes on', async () => {
  const server = await startRedis();
  const place = { url: server.url, prefix: 'shop' };
  let nowMs = exampleNowMs;
  const options = { ...place, clock: () => nowMs };
  const store = await openRedisStore(options);
  const { hold } = await win(store, examplePurchase(1));
  await win(store, examplePurchase(2, { fingerprint: exampleHex(2) }));
  await ask(place.url, ['CONFIG', 'SET', 'maxmemory', '1mb']);
  const before = await everything(place);
  await assert.rejects(store.keepAndBeginSend(hold, sendNow), code('store_overloaded'));
  await assert.rejects(store.take(exampleTake(examplePurchase(3))), code('store_overloaded'));
  assert.deepEqual(await everything(place), before, 'nothing was half written');
  assert.equal((await store.find(hold.key)).record?.attempts, 1, 'looking is free');
  // A seller that starts now is let in, or nothing could be forgotten.
  const again = await openRedisStore(options);
  await again.close();
  nowMs += 10 * 3_600_000;
  assert.equal(await store.prune(10), 2, 'and forgetting makes room');
  await ask(place.url, ['CONFIG', 'SET', 'maxmemory', '0']);
  nowMs = exampleNowMs;
  await win(store, examplePurchase(4));
  await store.close();
  await server.stop();
});

test('C08: what became of money that is out is written down though the memory is used up', async () => {
  const server = await startRedis();
  const place = { url: server.url, prefix: 'shop' };
  let nowMs = exampleNowMs;
  const store = await openRedisStore({ ...place, clock: () => nowMs });
  const hold = await sent(store, examplePurchase(1));
  await sent(store, examplePurchase(2));
  await ask(place.url, ['CONFIG', 'SET', 'maxmemory', '1mb']);
  assert.equal((await store.recordMoney(hold.key, settledFact())).changed, true);
  assert.equal((await store.deliver(hold.key, { kind: 'complete', keepMs })).changed, true);
  assert.equal((await store.recordMoney(exampleHex(2), refusedAt(1))).changed, true);
  nowMs += 2 * keepMs;
  assert.equal(await store.prune(10), 0);
  assert.equal(await store.readAnswer(hold.key), undefined, 'an answer whose time is over makes room');
  await assert.rejects(store.take(exampleTake(examplePurchase(3))), code('store_overloaded'));
  await store.close();
  await server.stop();
});

test('a server that runs somebody else’s script, or lacks the replicas it asks for, refuses a step whole', async () => {
  const server = await startRedis({ args: ['--busy-reply-threshold', '1'] });
  const place = { url: server.url, prefix: 'shop' };
  const store = await openRedisStore(place);
  const before = await everything(place);
  await ask(place.url, ['CONFIG', 'SET', 'min-replicas-to-write', '1']);
  await assert.rejects(store.take(exampleTake(examplePurchase(1))), code('store_read_only'));
  assert.deepEqual(await everything(place), before);
  await ask(place.url, ['CONFIG', 'SET', 'min-replicas-to-write', '0']);
  const [stranger, operator] = [new Redis(server.url), new Redis(server.url)];
  await Promise.all([stranger.ping(), operator.ping()]);
  const endless = assert.rejects(stranger.eval('while true do end', 0), /killed/i);
  await assert.rejects(async () => {
    for (;;) await store.find('any');
  }, code('store_busy'));
  await assert.rejects(store.take(exampleTake(examplePurchase(1))), code('store_busy'));
  await operator.call('SCRIPT', 'KILL');
  await endless;
  for (const one of [stranger, operator]) one.disconnect();
  await win(store, examplePurchase(1));
  await store.close();
  await server.stop();
});

test('a user who may not run scripts is told so, and no step is half taken', async () => {
  const server = await startRedis();
  await ask(server.url, ['ACL', 'SETUSER', 'shop', 'on', '>hunter2', '~*', '+@all', '-eval', '-evalsha']);
  const store = await openRedisStore({ url: `redis://shop:hunter2@127.0.0.1:${server.port}` });
  await assert.rejects(store.take(exampleTake(examplePurchase(1))), (error) => {
    assert.doesNotMatch(String(error), /hunter2/);
    return code('store_unreadable')(error);
  });
  await store.close();
  await server.stop();
});

test('forgetting that meets somebody else’s data leaves all as it was, and an entry without a record goes', async () => {
  const place = await newPlace();
  let nowMs = exampleNowMs;
  const store = await openRedisStore({ ...place, clock: () => nowMs });
  await fill(store);
  await ask(place.url, ['ZADD', `${keysOf(place)}forget`, '1', 'nobody']);
  nowMs += 10 * 3_600_000;
  for (const name of ['money:settled', 'size', `a:${exampleHex(4)}`]) {
    const whole = `${keysOf(place)}${name}`;
    await ask(place.url, ['RENAME', whole, 'aside'], ['LPUSH', whole, 'x']);
    const before = await everything(place);
    await assert.rejects(store.prune(100), code('store_corrupt'), name);
    assert.deepEqual(await everything(place), before, name);
    await ask(place.url, ['RENAME', 'aside', whole]);
  }
  assert.equal(await store.prune(100), 4, 'three records and the stray entry');
  assert.equal(await store.prune(100), 0, 'nothing comes back');
  await store.close();
});

test('C04: a counter that somebody has spoilt stops every step before it is begun', async () => {
  const place = await newPlace();
  const store = await openRedisStore(place);
  const { hold } = await win(store, examplePurchase(1));
  await ask(place.url, ['HSET', `${keysOf(place)}size`, 'octets', 'many']);
  const before = await everything(place);
  await assert.rejects(store.release(hold), code('store_corrupt'));
  await assert.rejects(store.keepAndBeginSend(hold, sendNow), code('store_corrupt'));
  await assert.rejects(store.take(exampleTake(examplePurchase(2))), code('store_corrupt'));
  assert.deepEqual(await everything(place), before);
  await store.close();
});

test('what is due comes by age, whether it is unknown or its owner went silent, and what is under way is not read', async () => {
  const place = await newPlace();
  let nowMs = exampleNowMs;
  const store = await openRedisStore({ ...place, clock: () => nowMs });
  const own = (n: number): ReturnType<typeof examplePurchase> =>
    examplePurchase(n, { fingerprint: exampleHex(n) });
  for (let n = 1; n <= 30; n += 1) {
    nowMs += 1;
    if (n % 3 === 0) await lost(store, own(n));
    else await sent(store, own(n));
  }
  const keys = async (limit: number): Promise<readonly string[]> =>
    (await store.due(limit)).map(({ key }) => key);
  const unknown = [3, 6, 9, 12, 15, 18, 21, 24, 27, 30].map(exampleHex);
  await ask(place.url, ['CONFIG', 'RESETSTAT']);
  assert.deepEqual(await keys(100), unknown);
  assert.match(String(await ask(place.url, ['INFO', 'commandstats'])), /cmdstat_hget:calls=10,/);
  assert.deepEqual(await keys(4), unknown.slice(0, 4));
  nowMs += leaseMs;
  assert.deepEqual(
    await keys(100),
    Array.from({ length: 30 }, (_, at) => exampleHex(at + 1)),
  );
  assert.deepEqual(await keys(5), [1, 2, 3, 4, 5].map(exampleHex));
  await store.close();
});

test('a node of a cluster carries the whole store in one slot', async () => {
  const server = await startRedis({ args: ['--cluster-enabled', 'yes'] });
  await ask(server.url, ['CLUSTER', 'ADDSLOTSRANGE', '0', '16383']);
  while (!/cluster_state:ok/.test(String(await ask(server.url, ['CLUSTER', 'INFO']))));
  const store = await openRedisStore({ url: server.url });
  await fill(store);
  assert.equal((await store.list({ limit: 10 })).length, 5);
  assert.equal((await store.list({ limit: 10, money: 'unknown' })).length, 1);
  assert.equal((await store.due(10)).length, 1);
  assert.deepEqual(await store.readPayload(exampleHex(2)), sendNow.payload);
  await store.close();
  await server.stop();
});

test('a node of a cluster that does not hold the slot of the store is refused, with the node that does', async () => {
  const server = await startRedis({ args: ['--cluster-enabled', 'yes'] });
  await assert.rejects(openRedisStore({ url: server.url }), (error) => {
    return error instanceof StoreError && /^store_(busy|unreadable)$/.test(error.code);
  });
  await server.stop();
});

test('keys of any letter are kept apart and found again', async () => {
  let nowMs = exampleNowMs;
  const store = await openRedisStore({ ...(await newPlace()), clock: () => nowMs });
  const keys = ['a\0b', 'a', 'a:b', '}a{', '%s%d', 'ж"\\', '\u{1f324}', '🌤'.repeat(64)];
  for (const [n, key] of keys.entries()) {
    await settled(store, examplePurchase(n, { key, fingerprint: exampleHex(n) }));
    await store.deliver(key, { kind: 'abandoned' });
  }
  nowMs += 60_000;
  const found = [await store.due(100), await store.unproven(100), await store.list({ limit: 100 })];
  const told = found.map((records) => records.map(({ key }) => key).toSorted());
  assert.deepEqual(told, [keys.toSorted(), keys.toSorted(), keys.toSorted()]);
  for (const key of keys) assert.equal((await store.find(key)).record?.key, key);
  assert.equal((await store.heartbeat({ key: 'a\0b', owner: 'x', fence: 1 }, leaseMs)).kind, 'lost');
  await store.close();
});

test('a key that is no text for the server never reaches it, and the store goes on', async () => {
  const store = await openRedisStore(await newPlace());
  await assert.rejects(store.take(exampleTake(examplePurchase(1, { key: '\ud800' }))), TypeError);
  await win(store, examplePurchase(1));
  await store.close();
});
