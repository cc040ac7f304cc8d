import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { exampleNowMs, examplePurchase, exampleTake } from '../claim/example.ts';
import { claimStoreConformance, type OpenStore } from './conformance.ts';
import { StoreError, type StoreErrorCode } from './error.ts';
import { openSqliteStore, type SqliteStoreOptions } from './sqlite.ts';

const folder = mkdtempSync(join(tmpdir(), 'counterfoil-sqlite-'));
after(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
function newPath(): string {
  files += 1;
  return join(folder, `claims ${files}.sqlite`);
}

const open: OpenStore = async (limits) => {
  const path = newPath();
  const clock = new SharedArrayBuffer(8);
  const options: SqliteStoreOptions = { path, clock, ...limits };
  const store = await openSqliteStore(options);
  return {
    store,
    setClock: (nowMs) => {
      Atomics.store(new BigInt64Array(clock), 0, BigInt(nowMs));
    },
    another: () => openSqliteStore(options),
    close: async () => {
      await store.close();
      for (const end of ['', '-wal', '-shm']) rmSync(`${path}${end}`, { force: true });
    },
  };
};

claimStoreConformance({ name: 'sqlite', durable: true, open });

function failsWith(code: StoreErrorCode): (error: unknown) => boolean {
  return (error) => error instanceof StoreError && error.code === code;
}

test('a new store file, and its log, can be read by its owner only', async () => {
  const path = newPath();
  const store = await openSqliteStore({ path });
  await store.take(exampleTake(examplePurchase(1)));
  for (const end of ['', '-wal']) assert.equal(statSync(`${path}${end}`).mode & 0o777, 0o600, end);
  await store.close();
});

test('without a clock of its own the store goes by the wall clock', async () => {
  const store = await openSqliteStore({ path: newPath() });
  const before = Date.now();
  const { nowMs } = await store.find('any');
  assert.ok(nowMs >= before && nowMs <= Date.now());
  await store.close();
});

test('a store that cannot be opened says why, with a code', async () => {
  await assert.rejects(openSqliteStore({ path: join(folder, 'absent', 'x') }), failsWith('store_unreadable'));
  await assert.rejects(openSqliteStore({ path: folder }), failsWith('store_unreadable'));
});

test('an option that the store does not know, a limit that is none, and a name without a file are mistakes', async () => {
  const misspelt = { path: newPath(), capcity: 5 };
  await assert.rejects(openSqliteStore(misspelt), TypeError);
  for (const path of ['', ':memory:', 'a\0b']) await assert.rejects(openSqliteStore({ path }), TypeError);
  await assert.rejects(openSqliteStore({ path: newPath(), busyMs: 0 }), TypeError);
  await assert.rejects(openSqliteStore({ path: newPath(), capacity: -1 }), TypeError);
  await assert.rejects(openSqliteStore(undefined as never), /openSqliteStore/);
  await assert.rejects(openSqliteStore({ path: newPath(), readOnly: 'no' } as never), /readOnly/);
  await assert.rejects(openSqliteStore({ path: newPath(), busyMs: 60_001 }), /busyMs/);
  await assert.rejects(openSqliteStore({ path: newPath(), clock: new SharedArrayBuffer(4) }), TypeError);
});

test('a store whose file is deleted under it takes nothing more, and what it knows is still answered', async () => {
  const path = newPath();
  const store = await openSqliteStore({ path });
  const { key } = examplePurchase(1);
  await store.take(exampleTake(examplePurchase(1)));
  rmSync(path);
  await assert.rejects(store.take(exampleTake(examplePurchase(2))), failsWith('store_moved'));
  assert.equal((await store.find(key)).record?.key, key);
  await store.close();
});

test('a store opened for reading sees its seller’s payments and writes nothing', async () => {
  const path = newPath();
  await assert.rejects(openSqliteStore({ path, readOnly: true }), failsWith('store_unreadable'));
  assert.equal(existsSync(path), false);
  const seller = await openSqliteStore({ path });
  const reader = await openSqliteStore({ path, readOnly: true });
  await seller.take(exampleTake(examplePurchase(1)));
  assert.equal((await reader.list({ limit: 10 })).length, 1);
  await assert.rejects(reader.take(exampleTake(examplePurchase(2))), failsWith('store_read_only'));
  await assert.rejects(reader.prune(10), failsWith('store_read_only'));
  await reader.close();
  await seller.close();
});

test('a name that SQLite would read as an address is a plain file name', async () => {
  const path = join(folder, 'file:claims?mode=memory');
  const store = await openSqliteStore({ path });
  await store.take(exampleTake(examplePurchase(1)));
  await store.close();
  assert.equal(existsSync(path), true);
});

test('while another connection holds the write lock, reads are answered and the event loop turns', async () => {
  const path = newPath();
  const store = await openSqliteStore({ path });
  await store.take(exampleTake(examplePurchase(1)));
  const other = new DatabaseSync(path);
  other.exec('BEGIN IMMEDIATE');
  let answered = false;
  const waiting = store.take(exampleTake(examplePurchase(2))).finally(() => {
    answered = true;
  });
  for (let turns = 0; turns < 1_000; turns += 1) await new Promise((resolve) => setImmediate(resolve));
  assert.equal((await store.find(examplePurchase(1).key)).record?.work.state, 'running');
  assert.equal(answered, false, 'the take waits for the lock');
  other.exec('COMMIT');
  assert.equal((await waiting).kind, 'taken');
  other.close();
  await store.close();
});

test('a write lock that is not given up in time is an error, and nothing was written', async () => {
  const path = newPath();
  const store = await openSqliteStore({ path, busyMs: 50 });
  const other = new DatabaseSync(path);
  other.exec('BEGIN IMMEDIATE');
  const asked = [1, 2, 3].map((n) => store.take(exampleTake(examplePurchase(n))));
  for (const one of asked) await assert.rejects(one, failsWith('store_busy'));
  other.exec('ROLLBACK');
  other.close();
  assert.deepEqual(await store.list({ limit: 10 }), []);
  assert.equal((await store.take(exampleTake(examplePurchase(1)))).kind, 'taken', 'and it goes on');
  await store.close();
});

test('calls under way are bounded; what is beyond is refused at once and what was accepted is answered', async () => {
  const store = await openSqliteStore({ path: newPath() });
  const asked = Array.from({ length: 10_050 }, () => store.find('any'));
  const settled = await Promise.allSettled(asked);
  const refused = settled.filter((one) => one.status === 'rejected');
  assert.equal(refused.length, 50);
  for (const one of refused) assert.ok(failsWith('store_overloaded')(one.reason));
  await store.find('any');
  await store.close();
});

test('octets under way are bounded too', async () => {
  const store = await openSqliteStore({ path: newPath() });
  const large = { payload: new Uint8Array(50_000_000), phase: 'pay' } as const;
  const asked = [1, 2, 3].map((n) =>
    store.take(exampleTake(examplePurchase(n, { flow: 'upfront' }), { begin: large })),
  );
  const settled = await Promise.allSettled(asked);
  assert.deepEqual(
    settled.map((one) => one.status),
    ['fulfilled', 'fulfilled', 'rejected'],
  );
  await store.close();
});

test('a file that turns read-only or damaged under the store rejects, and is never answered from memory', async () => {
  const path = newPath();
  const store = await openSqliteStore({ path });
  await store.take(exampleTake(examplePurchase(1)));
  const other = new DatabaseSync(path);
  other.exec("UPDATE claims SET body = '{}'");
  other.close();
  await assert.rejects(store.find(examplePurchase(1).key), failsWith('store_corrupt'));
  await assert.rejects(store.take(exampleTake(examplePurchase(1))), failsWith('store_corrupt'));
  assert.equal(
    (await store.take(exampleTake(examplePurchase(2)))).kind,
    'taken',
    'one bad row spoils no other',
  );
  await store.close();
});

test('the counters of a store agree with its rows after every kind of write', async () => {
  const { store, setClock, close } = await open({});
  await setClock(exampleNowMs);
  for (let n = 1; n <= 6; n += 1) {
    const outcome = await store.take(exampleTake(examplePurchase(n)));
    assert.ok(outcome.kind === 'taken');
    const send = {
      answer: new Uint8Array(n),
      payload: new Uint8Array(10),
      phase: 'pay',
      leaseMs: 1_000,
    } as const;
    if (n > 1) await store.keepAndBeginSend(outcome.hold, send);
    else await store.release(outcome.hold);
  }
  await store.recordMoney(examplePurchase(2).key, {
    fact: 'settled',
    transaction: '0x1',
    amount: 1n,
    by: 'chain',
  });
  assert.equal((await store.list({ limit: 10 })).length, 5);
  await setClock(exampleNowMs + 1_000);
  assert.equal((await store.list({ limit: 10, money: 'unknown' })).length, 4);
  await close();
});

test('an address that is taken for the name of a file is not repeated with its password', async () => {
  for (const path of ['redis://:Hush@h', 'postgres:u:Hush@h/x', 'https://h/Hush']) {
    for (const readOnly of [true, false]) {
      await assert.rejects(
        openSqliteStore({ path: `${folder}/absent/${path}`, readOnly }),
        (fault: Error) => {
          assert.equal(fault.name, 'StoreError');
          assert.doesNotMatch(`${fault.message}${fault.stack}${String(fault.cause)}`, /Hush/);
          return true;
        },
      );
    }
  }
});
