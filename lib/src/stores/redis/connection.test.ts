import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { startRedis } from '../../../../tools/servers/redis.ts';
import { ask, keysOf, lineTo, newPlace, replicaOnline } from '../../../test/redis.ts';
import { exampleHex, examplePurchase, exampleTake } from '../../claim/example.ts';
import type { ClaimStore } from '../../claim/index.ts';
import { leaseMs, sendNow, win } from '../conformance/bench.ts';
import { StoreError, type StoreErrorCode } from '../error.ts';
import { openRedisStore } from '../redis.ts';

function failsWith(code: StoreErrorCode, words = /./): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof StoreError, String(error));
    assert.equal(error.code, code, error.message);
    assert.match(error.message, words);
    return true;
  };
}

/** A take that the server knows the script of, so that the next is one command. */
async function warmUp(store: ClaimStore): Promise<void> {
  await win(store, examplePurchase(99, { fingerprint: exampleHex(99) }));
}

/** Resolves when the store answers again; how soon is the client's affair. */
async function answers(store: ClaimStore): Promise<void> {
  for (;;) {
    try {
      await store.find('any');
      return;
    } catch {
      await delay(5);
    }
  }
}

/** Rejects when the store says this; before, it may not know what became of its connection. */
async function refusal(store: ClaimStore, code: StoreErrorCode): Promise<void> {
  for (;;) {
    const said = await store.find('any').catch((error: unknown) => error);
    if (said instanceof StoreError && said.code === code) throw said;
    await delay(5);
  }
}

test('C10: a line that breaks after the server has written rejects, is never asked again, and the record tells', async () => {
  const place = await newPlace();
  const line = await lineTo(place.url);
  const store = await openRedisStore({ ...place, url: line.url });
  await warmUp(store);
  line.answers = 'break';
  await assert.rejects(store.take(exampleTake(examplePurchase(1))), failsWith('store_failed', /broke/));
  line.answers = 'pass';
  line.sent = '';
  await answers(store);
  const { record } = await store.find(examplePurchase(1).key);
  assert.equal(record?.attempts, 1);
  assert.equal(record?.fence, 1);
  assert.doesNotMatch(line.sent, /owner of/, 'no step left a second time');
  await store.close();
  line.close();
});

test('C10: answers that never come are not waited for without end, nor is the dead line kept, nor the end of the store', async () => {
  const place = await newPlace();
  const line = await lineTo(place.url);
  const store = await openRedisStore({ ...place, url: line.url, timeoutMs: 150 });
  await store.find('any');
  line.answers = 'vanish';
  await assert.rejects(store.take(exampleTake(examplePurchase(1))), failsWith('store_failed', /timed out/));
  const before = line.connections;
  while (line.connections === before) await store.find('any').catch(() => delay(5));
  line.answers = 'pass';
  await answers(store);
  assert.equal((await store.find(examplePurchase(1).key)).record?.attempts, 1);
  line.answers = 'vanish';
  const waiting = assert.rejects(store.find('any'));
  await store.close();
  await waiting;
  line.close();
});

test('C10: a server that stands still fails the steps that wait for it, and the store goes on with it', async () => {
  const place = await newPlace();
  const store = await openRedisStore({ ...place, timeoutMs: 150 });
  const { hold } = await win(store, examplePurchase(1));
  await ask(place.url, ['CLIENT', 'PAUSE', '200', 'WRITE']);
  await assert.rejects(store.heartbeat(hold, leaseMs), failsWith('store_failed'));
  await ask(place.url, ['CLIENT', 'UNPAUSE']);
  assert.equal((await store.heartbeat(hold, leaseMs)).kind, 'held');
  await store.close();
});

test('C10: a server that goes away fails each step at once, ends no process, and is used again when it is back', async () => {
  const server = await startRedis();
  const store = await openRedisStore({ url: server.url });
  await win(store, examplePurchase(1));
  await server.kill();
  await assert.rejects(store.find('any'), StoreError);
  await assert.rejects(
    store.take(exampleTake(examplePurchase(2))),
    failsWith('store_unreadable', /not connected/),
  );
  await server.restart();
  await answers(store);
  assert.equal((await store.find(exampleHex(1))).record?.attempts, 1);
  assert.equal((await store.find(exampleHex(2))).record, undefined, 'and nothing was kept back for it');
  await store.close();
  await server.stop();
});

test('C15: after a failover the store leaves the old primary and goes on with the new one', async () => {
  const first = await startRedis({ args: ['--repl-diskless-sync-delay', '0'] });
  const line = await lineTo(first.url);
  const store = await openRedisStore({ url: line.url, persistence: 'any' });
  const { hold } = await win(store, examplePurchase(1));
  const second = await startRedis({ aof: false, args: ['--replicaof', '127.0.0.1', String(first.port)] });
  await replicaOnline(first.url);
  await ask(second.url, ['REPLICAOF', 'NO', 'ONE']);
  await ask(first.url, ['REPLICAOF', '127.0.0.1', String(second.port)]);
  // The name of the store leads to the new one from here on; the old connection is still there.
  line.target = second.url;
  await assert.rejects(store.heartbeat(hold, leaseMs), failsWith('store_read_only'));
  await answers(store);
  assert.equal((await store.heartbeat(hold, leaseMs)).kind, 'held');
  await store.close();
  line.close();
  await first.stop();
  await second.stop();
});

test('C15: a server that comes back empty is not taken for the store, and one that comes back whole is', async () => {
  const server = await startRedis();
  const store = await openRedisStore({ url: server.url });
  const { hold } = await win(store, examplePurchase(1));
  await ask(server.url, ['CLIENT', 'KILL', 'TYPE', 'normal']);
  await answers(store);
  assert.equal((await store.heartbeat(hold, leaseMs)).kind, 'held');
  const id = String(await ask(server.url, ['GET', '{counterfoil}:id']));
  await ask(server.url, ['FLUSHALL'], ['CLIENT', 'KILL', 'TYPE', 'normal']);
  const lost = failsWith('store_foreign', /lost this store/);
  await assert.rejects(refusal(store, 'store_foreign'), lost);
  await assert.rejects(store.take(exampleTake(examplePurchase(1))), lost);
  assert.deepEqual(await ask(server.url, ['KEYS', '*']), [], 'and nothing was made there');
  await ask(server.url, ['SET', '{counterfoil}:id', 'another']);
  await assert.rejects(store.take(exampleTake(examplePurchase(1))), lost);
  const again = await openRedisStore({ url: server.url });
  assert.equal(
    (await again.take(exampleTake(examplePurchase(1)))).kind,
    'taken',
    'who starts again means it',
  );
  await again.close();
  await ask(server.url, ['SET', '{counterfoil}:id', id]);
  await answers(store);
  assert.equal((await store.find(hold.key)).record?.attempts, 1);
  await store.close();
  await server.stop();
});

test('C15: a server that takes over with eviction on, or without a file, is not used, though a connection stands', async () => {
  const first = await startRedis();
  const line = await lineTo(first.url);
  const store = await openRedisStore({ url: line.url });
  await win(store, examplePurchase(1));
  const second = await startRedis({ args: ['--maxmemory-policy', 'allkeys-lru'] });
  line.target = second.url;
  line.cut();
  const refused = failsWith('store_unsuitable', /allkeys-lru/);
  await assert.rejects(refusal(store, 'store_unsuitable'), refused);
  await assert.rejects(store.take(exampleTake(examplePurchase(2))), refused);
  assert.deepEqual(await ask(second.url, ['KEYS', '*']), [], 'nothing was written there');
  const id = String(await ask(first.url, ['GET', '{counterfoil}:id']));
  await ask(second.url, ['SET', '{counterfoil}:id', id]);
  await ask(second.url, ['CONFIG', 'SET', 'maxmemory-policy', 'noeviction']);
  await answers(store);
  assert.equal((await store.find(exampleHex(1))).record, undefined, 'it is believed as it is');
  await store.close();
  line.close();
  await first.stop();
  await second.stop();
});

test('a program that forgets to close its store ends all the same, and has lost nothing', async () => {
  const place = await newPlace();
  const program = `
    import { examplePurchase, exampleTake } from '${new URL('../../claim/example.ts', import.meta.url)}';
    import { openRedisStore } from '${new URL('../redis.ts', import.meta.url)}';
    const store = await openRedisStore(${JSON.stringify(place)});
    await store.take(exampleTake(examplePurchase(1)));`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: 'pipe' });
  const said: Buffer[] = [];
  child.stderr.on('data', (bytes: Buffer) => said.push(bytes));
  assert.deepEqual(await once(child, 'close'), [0, null]);
  assert.equal(Buffer.concat(said).toString(), '', 'and says nothing');
  const store = await openRedisStore(place);
  assert.equal((await store.find(exampleHex(1))).record?.attempts, 1);
  await store.close();
});

test('a step under way when the store is closed is finished, and the connection is gone', async () => {
  const place = await newPlace();
  const line = await lineTo(place.url);
  const store = await openRedisStore({ ...place, url: line.url });
  const { hold } = await win(store, examplePurchase(1));
  const step = store.keepAndBeginSend(hold, sendNow);
  await store.close();
  assert.equal((await step).kind, 'held');
  await assert.rejects(store.find('any'), failsWith('store_closed'));
  line.close();
  const keys = await ask(place.url, ['EXISTS', `${keysOf(place)}a:${hold.key}`]);
  assert.equal(keys, 1);
});
