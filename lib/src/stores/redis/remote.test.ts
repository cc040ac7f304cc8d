import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask, keysOf, newPlace, type Place } from '../../../test/redis.ts';
import { exampleHex, exampleNowMs, examplePurchase, exampleTake } from '../../claim/example.ts';
import type { ClaimStore } from '../../claim/index.ts';
import { keepMs, leaseMs, lost, sendNow, sent, settledFact, upfront, win } from '../conformance/bench.ts';
import { oldestViewMs, type Remote } from '../optimistic/remote.ts';
import { optimisticStore } from '../optimistic.ts';
import { openRedisStore } from '../redis.ts';
import { createClient } from './client.ts';
import { createConnection } from './connection.ts';
import { pageSize, redisRemote } from './remote.ts';

type Trips = (step: () => Promise<unknown>) => Promise<number>;

/** A store whose commands are counted. */
async function counting(place: Place): Promise<{ readonly store: ClaimStore; readonly trips: Trips }> {
  const connection = createConnection({ url: place.url, timeoutMs: 3_000, inspect: async () => {} });
  await connection.connect();
  let commands = 0;
  const client = createClient({
    ...connection,
    send: (verb, args) => {
      commands += 1;
      return connection.send(verb, args);
    },
    sendForBytes: (verb, args) => {
      commands += 1;
      return connection.sendForBytes(verb, args);
    },
  });
  const limits = { capacity: 1_000, capacityBytes: 10_000_000, clock: () => exampleNowMs };
  const remote = redisRemote(client, { prefix: keysOf(place), readOnly: false, ...limits });
  const trips: Trips = async (step) => {
    const before = commands;
    await step();
    return commands - before;
  };
  return { store: optimisticStore(remote, { durable: true, monotonicMs: () => 0 }), trips };
}

test('a payment that nobody contests costs one command a step, and so does the loser of one', async () => {
  const place = await newPlace();
  // The server knows the scripts from here on.
  await win(await openRedisStore({ ...place, prefix: `${place.prefix}-before` }), examplePurchase(1));
  const { store, trips } = await counting(place);
  const { store: rival, trips: rivalTrips } = await counting(place);
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
  const { url } = place;
  const store = await openRedisStore(place);
  const { hold } = await win(store, examplePurchase(1));
  const name = `${keysOf(place)}r:${hold.key}`;
  await ask(url, ['COPY', name, `${keysOf(place)}backup`]);
  await store.keepAndBeginSend(hold, sendNow);
  await ask(url, ['COPY', `${keysOf(place)}backup`, name, 'REPLACE']);
  const beat = await store.heartbeat(hold, leaseMs);
  assert.equal(beat.record?.money.state, 'none');
  await ask(url, ['DEL', name]);
  assert.deepEqual(Object.keys(await store.heartbeat(hold, leaseMs)).toSorted(), ['kind', 'nowMs']);
  await store.close();
});

/** The remote end alone, whose clock stands still. */
async function openRemote(place: Place): Promise<Remote> {
  const connection = createConnection({ url: place.url, timeoutMs: 3_000, inspect: async () => {} });
  await connection.connect();
  const limits = { capacity: 9, capacityBytes: 9, clock: () => exampleNowMs };
  return redisRemote(createClient(connection), { prefix: keysOf(place), readOnly: false, ...limits });
}

test('C10: a step that decided for a moment ahead of the server, or for one long past, is not applied', async () => {
  const remote = await openRemote(await newPlace());
  const decidedAt = async (nowMs: number): Promise<boolean> => {
    const expected = { nowMs, records: new Map([['a', undefined]]) };
    const verdict = await remote.attempt({ asks: { keys: ['a'] }, expected, writes: [] });
    if (!verdict.applied) assert.equal(verdict.sight.nowMs, exampleNowMs);
    return verdict.applied;
  };
  const moments = [1, 0, -oldestViewMs, -oldestViewMs - 1].map((past) => exampleNowMs + past);
  assert.deepEqual(await Promise.all(moments.map(decidedAt)), [false, true, true, false]);
  await remote.close();
});

test('a step that saw an older payment, or a holder of its identifier, which is gone is not applied', async () => {
  const place = await newPlace();
  const store = await openRedisStore({ ...place, clock: () => exampleNowMs });
  const { record } = await win(store, examplePurchase(1));
  const remote = await openRemote(place);
  const seen = { nowMs: exampleNowMs, records: new Map([['a', undefined]]) };
  const gone = [{ record, version: 'gone' }];
  const older = { twins: record, limit: 2 };
  const aliased = { alias: exampleHex(1), limit: 2 };
  const verdicts = await Promise.all([
    remote.attempt({ asks: { keys: ['a'], older }, expected: { ...seen, older: gone }, writes: [] }),
    remote.attempt({ asks: { keys: ['a'], aliased }, expected: { ...seen, aliased: gone }, writes: [] }),
    remote.attempt({ asks: { keys: ['a'], older }, expected: { ...seen, older: [] }, writes: [] }),
  ]);
  assert.deepEqual(
    verdicts.map(({ applied }) => applied),
    [false, false, true],
  );
  await Promise.all([remote.close(), store.close()]);
});

test('C10: without a clock of its own the store goes by the server', async () => {
  const store = await openRedisStore(await newPlace());
  const before = Date.now();
  const { nowMs } = await store.find('any');
  assert.ok(nowMs >= before && nowMs <= Date.now());
  const taken = await win(store, examplePurchase(1));
  assert.ok(taken.nowMs >= before && taken.nowMs <= Date.now());
  await store.close();
});

test('a listing goes over any number of pages, and what it leaves out does not end it', async () => {
  const place = await newPlace();
  let nowMs = exampleNowMs;
  const store = await openRedisStore({ ...place, clock: () => nowMs });
  const count = 2 * pageSize + 3;
  for (let n = 1; n <= count; n += 1) {
    const differing = { fingerprint: exampleHex(n) };
    await win(store, n % 100 === 0 ? upfront(n, differing) : examplePurchase(n, differing));
  }
  assert.equal((await store.list({ limit: 1_000 })).length, count);
  const rare = await store.list({ limit: 3, flow: 'upfront' });
  assert.deepEqual(
    rare.map(({ key }) => key),
    [100, 200, 300].map(exampleHex),
  );
  const rest = await store.list({ limit: 3, flow: 'upfront', after: exampleHex(300) });
  assert.deepEqual(
    rest.map(({ key }) => key),
    [exampleHex(400)],
  );
  assert.deepEqual(await store.list({ limit: 3, work: 'done' }), []);
  await sent(store, examplePurchase(900));
  await lost(store, examplePurchase(901));
  assert.deepEqual(
    (await store.list({ limit: 9, money: 'sending' })).map(({ key }) => key),
    [exampleHex(900)],
  );
  nowMs += leaseMs;
  assert.deepEqual(await store.list({ limit: 9, money: 'sending' }), []);
  assert.deepEqual(
    (await store.list({ limit: 9, money: 'unknown' })).map(({ key }) => key),
    [exampleHex(900), exampleHex(901)],
  );
  nowMs += 10 * 3_600_000;
  assert.equal(await store.prune(pageSize + 1), pageSize + 1, 'and forgetting goes on over a page, too');
  assert.equal(await store.prune(1_000), count - pageSize - 1);
  await store.close();
});

test('a record that somebody has damaged rejects, and spoils no other', async () => {
  const place = await newPlace();
  const store = await openRedisStore(place);
  await win(store, examplePurchase(1), { earlierPayment: 'off' });
  await ask(place.url, ['HSET', `${keysOf(place)}r:${exampleHex(1)}`, 'v', 'x', 'b', '{}']);
  await assert.rejects(store.find(exampleHex(1)), { code: 'store_corrupt' });
  assert.deepEqual(await store.list({ limit: 5 }), []);
  await assert.rejects(store.take(exampleTake(examplePurchase(1))), { code: 'store_corrupt' });
  await win(store, examplePurchase(2), { earlierPayment: 'off' });
  await store.close();
});

test('a record that somebody has damaged is left out of every list, and what comes after it is not', async () => {
  const place = await newPlace();
  const store = await openRedisStore({ ...place, clock: () => exampleNowMs });
  for (const n of [1, 2, 3, 4, 5]) {
    const { hold } = await win(store, examplePurchase(n), { earlierPayment: 'off' });
    await store.keepAndBeginSend(hold, sendNow);
    await store.recordMoney(hold.key, settledFact());
  }
  const name = (n: number): string => `${keysOf(place)}r:${exampleHex(n)}`;
  await ask(place.url, ['HSET', name(1), 'b', '{}'], ['HSET', name(2), 'b', '{', 'i', '{'], ['DEL', name(5)]);
  for (const index of ['due', 'proof']) {
    for (const n of [1, 2, 3, 4, 5]) {
      const member = `${String(exampleNowMs).padStart(16, '0')}:${exampleHex(n)}`;
      await ask(place.url, ['ZADD', `${keysOf(place)}${index}`, '0', member]);
    }
  }
  const keys = [exampleHex(3), exampleHex(4)];
  for (const found of await Promise.all([
    store.due(2),
    store.unproven(2),
    store.list({ limit: 2 }),
    store.list({ limit: 2, money: 'settled' }),
  ])) {
    assert.deepEqual(found.map(({ key }) => key).toSorted(), keys);
  }
  for (const n of [1, 2, 3]) await ask(place.url, ['ZADD', `${keysOf(place)}forget`, '1', exampleHex(n)]);
  assert.equal(await store.prune(9), 2);
  assert.equal(await ask(place.url, ['EXISTS', name(2)]), 1, 'its columns say nothing');
  assert.equal(await ask(place.url, ['EXISTS', name(1), name(3)]), 0);
  await store.close();
});

test('two stores under two prefixes of one server do not meet', async () => {
  const one = await openRedisStore(await newPlace());
  const other = await openRedisStore(await newPlace());
  await win(one, examplePurchase(1));
  await win(other, examplePurchase(1));
  await Promise.all([one.close(), other.close()]);
});
