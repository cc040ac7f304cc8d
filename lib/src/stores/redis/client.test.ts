import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startRedis } from '../../../../tools/servers/redis.ts';
import { ask, newPlace, replicaOnline } from '../../../test/redis.ts';
import { exampleHex, examplePurchase, exampleTake } from '../../claim/example.ts';
import { leaseMs, win } from '../conformance/bench.ts';
import { StoreError } from '../error.ts';
import { openRedisStore } from '../redis.ts';
import { createClient } from './client.ts';
import type { Connection } from './connection.ts';

/** A connection that notes what is sent, and answers as the test says. */
function recording(answer: (verb: string) => unknown): { connection: Connection; verbs: string[] } {
  const verbs: string[] = [];
  const connection: Connection = {
    place: 'here',
    connect: async () => {},
    usable: async () => {},
    send: async (verb) => {
      verbs.push(verb);
      const said = answer(verb);
      if (said instanceof Error) throw said;
      return said;
    },
    sendForBytes: async () => null,
    keepAlive: () => {},
    close: () => {},
  };
  return { connection, verbs };
}

test('a script goes by its digest, and once by its text where the server has lost it', async () => {
  const known = recording(() => 1);
  assert.equal(await createClient(known.connection).run('attempt', '{a}:', []), 1);
  assert.deepEqual(known.verbs, ['EVALSHA']);
  const lost = recording((verb) => (verb === 'EVALSHA' ? new Error('NOSCRIPT No matching script.') : 1));
  assert.equal(await createClient(lost.connection).run('attempt', '{a}:', []), 1);
  assert.deepEqual(lost.verbs, ['EVALSHA', 'EVAL']);
});

test('replicas confirm the step that was run, also where its script had to be sent again, and nothing else', async () => {
  const replicas = { count: 2, timeoutMs: 50 };
  const waits: string[] = [];
  const { connection, verbs } = recording((verb) => {
    if (verb === 'EVALSHA') return new Error('NOSCRIPT No matching script.');
    if (verb === 'WAIT') waits.push(verb);
    // What had been written before the step was confirmed by all; the step itself by one.
    return verb === 'WAIT' ? (waits.length === 1 ? 2 : 1) : 1;
  });
  await assert.rejects(createClient(connection, replicas).run('attempt', '{a}:', []), {
    code: 'store_failed',
    message: /1 of 2 replicas/,
  });
  assert.deepEqual(verbs, ['EVALSHA', 'WAIT', 'EVAL', 'WAIT']);
  const reads = recording(() => []);
  await createClient(reads.connection, replicas).run('find', '{a}:', []);
  assert.deepEqual(reads.verbs, ['EVALSHA']);
});

test('a step that was run and could not be confirmed never says that nothing was written', async () => {
  const { connection } = recording((verb) =>
    verb === 'WAIT' ? new Error("NOPERM User shop has no permissions to run the 'wait' command") : 1,
  );
  const client = createClient(connection, { count: 1, timeoutMs: 50 });
  await assert.rejects(client.run('attempt', '{a}:', []), { code: 'store_failed', message: /not confirmed/ });
});

test('more steps than a server keeps up with are turned away, and those under way are answered', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const slow = recording(() => 1);
  const client = createClient({ ...slow.connection, usable: () => promise });
  const waiting = Array.from({ length: 10_000 }, () => client.run('find', '{a}:', []));
  await assert.rejects(client.run('find', '{a}:', []), { code: 'store_overloaded' });
  resolve();
  assert.equal((await Promise.all(waiting)).length, 10_000);
  assert.equal(await client.run('find', '{a}:', []), 1);
});

test('a store whose server forgot its scripts goes on, and claims no payment twice', async () => {
  const place = await newPlace();
  const store = await openRedisStore(place);
  const { hold } = await win(store, examplePurchase(1));
  await ask(place.url, ['SCRIPT', 'FLUSH']);
  assert.equal((await store.heartbeat(hold, leaseMs)).kind, 'held');
  await ask(place.url, ['SCRIPT', 'FLUSH']);
  assert.equal((await store.take(exampleTake(examplePurchase(1)))).kind, 'known');
  await store.close();
});

test('C15: a step that not enough replicas have is no success, though it may stand; one that they have is', async () => {
  const primary = await startRedis({ args: ['--repl-diskless-sync-delay', '0'] });
  const store = await openRedisStore({ url: primary.url, replicas: { count: 1, timeoutMs: 60 } });
  await assert.rejects(store.take(exampleTake(examplePurchase(1))), (error) => {
    return error instanceof StoreError && error.code === 'store_failed' && /0 of 1/.test(error.message);
  });
  assert.equal((await store.find(exampleHex(1))).record?.attempts, 1, 'its owner never comes back');
  await store.close();
  const replica = await startRedis({ aof: false, args: ['--replicaof', '127.0.0.1', String(primary.port)] });
  await replicaOnline(primary.url);
  const again = await openRedisStore({ url: primary.url, replicas: { count: 1, timeoutMs: 2_000 } });
  await win(again, examplePurchase(2, { fingerprint: exampleHex(2) }));
  const reader = await openRedisStore({ url: replica.url, readOnly: true });
  assert.equal((await reader.find(exampleHex(2))).record?.attempts, 1, 'what was acknowledged is there');
  await Promise.all([again.close(), reader.close()]);
  await replica.stop();
  await primary.stop();
});
