/**
 * Several processes that claim the same payments of one store, and a server that is killed while it is claimed from:
 * what the tests of every store on a server share. A test file is also what its children run.
 */
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { exampleHex, examplePurchase, exampleTake } from '../src/claim/example.ts';
import type { ClaimStore } from '../src/claim/index.ts';

export const keys = 300;
const rivals = 4;
const storesHere = 8;
const atOnce = 25;
const childWord = 'rival';

type Outcome = { readonly n: number; readonly kind: string };

/** In a child: claims when it is told to, says what became of each payment, and ends; false in the parent. */
export async function playRival<Place>(open: (place: Place) => Promise<ClaimStore>): Promise<boolean> {
  if (process.argv[2] !== childWord) return false;
  const store = await open(JSON.parse(process.argv[3] ?? '{}') as Place);
  process.send?.('ready');
  await once(process, 'message');
  process.send?.(await claimAll(store));
  await store.close();
  process.disconnect();
  return true;
}

/** Eight stores here and four processes beside claim every payment; fails unless each has one winner and no other. */
export async function raceRivals<Place>(
  file: string,
  place: Place,
  open: (place: Place) => Promise<ClaimStore>,
): Promise<void> {
  const stores = await Promise.all(Array.from({ length: storesHere }, () => open(place)));
  const children = await Promise.all(Array.from({ length: rivals }, () => startRival(file, place)));
  for (const child of children) child.go();
  const here = Promise.all(stores.map(claimAll));
  const outcomes = [await here, await Promise.all(children.map((child) => child.outcomes))].flat(2);
  const winners = outcomes.filter(({ kind }) => kind === 'taken').map(({ n }) => n);
  assert.equal(winners.length, keys);
  assert.equal(new Set(winners).size, keys);
  assert.equal(outcomes.filter(({ kind }) => kind === 'known').length, keys * (storesHere + rivals - 1));
  await Promise.all(stores.map((store) => store.close()));
}

/** Claims every payment once, many at a time, and says what became of each. */
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

async function startRival(file: string, place: unknown): Promise<Child> {
  const child = fork(file, [childWord, JSON.stringify(place)], { execArgv: [] });
  await once(child, 'message');
  // Its end may be known before its last word is read; the channel closes after that.
  const silent = once(child, 'disconnect').then(() => assert.fail('A rival ended without a word.'));
  const said = once(child, 'message').then(([outcomes]) => outcomes);
  return { go: () => child.send('go'), outcomes: Promise.race([said, silent]) };
}

type Killed = { readonly kill: () => Promise<void>; readonly restart: () => Promise<void> };

/** Kills the server three times in the middle of a load; fails where a claim that was answered is gone afterwards. */
export async function killUnderLoad(server: Killed, open: () => Promise<ClaimStore>): Promise<void> {
  const won = new Set<number>();
  let n = 0;
  for (let round = 0; round < 3; round += 1) {
    const store = await open();
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
    const after = await open();
    for (const one of won)
      assert.equal((await after.find(exampleHex(one))).record?.attempts, 1, `payment ${one}`);
    await after.close();
  }
}

async function claim(store: ClaimStore, n: number, won: Set<number>): Promise<void> {
  const { kind } = await store.take(exampleTake(examplePurchase(n, { fingerprint: exampleHex(n) })));
  assert.equal(kind, 'taken');
  won.add(n);
}
