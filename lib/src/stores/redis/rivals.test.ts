/**
 * Several processes on one store, and a server that is killed. This file is also what the children run: with the word
 * `rival` as first argument it claims keys and tells its parent which of them it won.
 */
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { startRedis } from '../../../../tools/servers/redis.ts';
import { ask, keysOf, newPlace, type Place } from '../../../test/redis.ts';
import { exampleHex, examplePurchase, exampleTake } from '../../claim/example.ts';
import type { ClaimStore } from '../../claim/index.ts';
import { openRedisStore } from '../redis.ts';

const keys = 300;
const rivals = 4;
const storesHere = 8;
const atOnce = 25;
const childWord = 'rival';

type Outcome = { readonly n: number; readonly kind: string };

if (process.argv[2] === childWord) await rival(JSON.parse(process.argv[3] ?? '{}'));
else registerTests();

async function rival(place: Place): Promise<void> {
  const store = await openRedisStore({ ...place, timeoutMs: 30_000 });
  process.send?.('ready');
  await once(process, 'message');
  process.send?.(await claimAll(store));
  await store.close();
  process.disconnect();
}

/** Claims every key once, many at a time, and says what became of each. */
async function claimAll(store: ClaimStore): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  for (let at = 0; at < keys; at += atOnce) {
    const some = Array.from({ length: atOnce }, async (_, i) => {
      const purchase = examplePurchase(at + i, { fingerprint: exampleHex(at + i) });
      outcomes.push({ n: at + i, kind: (await store.take(exampleTake(purchase))).kind });
    });
    await Promise.all(some);
  }
  return outcomes;
}

type Child = { readonly go: () => void; readonly outcomes: Promise<readonly Outcome[]> };

async function start(place: Place): Promise<Child> {
  const child = fork(import.meta.filename, [childWord, JSON.stringify(place)], { execArgv: [] });
  await once(child, 'message');
  // Its end may be known before its last word is read; the channel closes after that.
  const silent = once(child, 'disconnect').then(() => assert.fail('A rival ended without a word.'));
  const said = once(child, 'message').then(([outcomes]) => outcomes);
  return { go: () => child.send('go'), outcomes: Promise.race([said, silent]) };
}

function registerTests(): void {
  test('C02, C15: eight stores here and four processes beside claim three hundred payments, and each has one winner', async () => {
    const place = await newPlace();
    const open = (): Promise<ClaimStore> => openRedisStore({ ...place, timeoutMs: 30_000 });
    const stores = await Promise.all(Array.from({ length: storesHere }, open));
    const children = await Promise.all(Array.from({ length: rivals }, () => start(place)));
    for (const child of children) child.go();
    const here = Promise.all(stores.map(claimAll));
    const outcomes = [await here, await Promise.all(children.map((child) => child.outcomes))].flat(2);
    const winners = outcomes.filter(({ kind }) => kind === 'taken').map(({ n }) => n);
    assert.equal(winners.length, keys);
    assert.equal(new Set(winners).size, keys);
    assert.equal(outcomes.filter(({ kind }) => kind === 'known').length, keys * (storesHere + rivals - 1));
    assert.equal(await ask(place.url, ['HGET', `${keysOf(place)}size`, 'records']), String(keys));
    await Promise.all(stores.map((store) => store.close()));
  });

  test('C04, C15: kill -9 of the server in the middle of a load loses no claim that was answered', async () => {
    const server = await startRedis({ appendfsync: 'always' });
    const won = new Set<number>();
    let n = 0;
    for (let round = 0; round < 3; round += 1) {
      const store = await openRedisStore({ url: server.url });
      const enough = Promise.withResolvers<void>();
      const load = Array.from({ length: 16 }, async () => {
        for (;;) {
          n += 1;
          await claim(store, n, won);
          if (won.size >= (round + 1) * 150) enough.resolve();
        }
      });
      const ended = Promise.allSettled(load);
      await enough.promise;
      await server.kill();
      await ended;
      await server.restart();
      await store.close();
      const after = await openRedisStore({ url: server.url });
      for (const one of won) {
        assert.equal((await after.find(exampleHex(one))).record?.attempts, 1, `payment ${one}`);
      }
      await after.close();
    }
    await server.stop();
  });
}

async function claim(store: ClaimStore, n: number, won: Set<number>): Promise<void> {
  const { kind } = await store.take(exampleTake(examplePurchase(n, { fingerprint: exampleHex(n) })));
  assert.equal(kind, 'taken');
  won.add(n);
}
