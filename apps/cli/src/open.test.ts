import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { openSqliteStore } from 'counterfoil/stores/sqlite';
import { MisuseError } from './io.ts';
import { lookIntoStore, withStore } from './open.ts';

const folder = mkdtempSync(join(tmpdir(), 'counterfoil-open-'));
after(() => rmSync(folder, { recursive: true }));

test('a store that is not there is not made by looking for it', async () => {
  const path = join(folder, 'absent.sqlite');
  await assert.rejects(
    withStore(path, async () => 1),
    MisuseError,
  );
  assert.equal(existsSync(path), false);
  await assert.rejects(
    withStore(folder, async () => 1),
    MisuseError,
  );
});

test('a store is closed after the work, and after work that failed', async () => {
  const path = join(folder, 'claims.sqlite');
  await (await openSqliteStore({ path })).close();
  assert.deepEqual(await withStore(path, (store) => store.list({ limit: 1 })), []);
  await assert.rejects(
    withStore(path, async () => {
      throw new Error('the work failed');
    }),
    /the work failed/,
  );
  rmSync(path);
  writeFileSync(path, 'text');
  await assert.rejects(
    withStore(path, async () => 1),
    /is not a claim store/,
  );
});

test('an empty file is no store, and is not made one', async () => {
  const path = join(folder, 'empty.sqlite');
  writeFileSync(path, '');
  for (const open of [withStore, lookIntoStore]) {
    await assert.rejects(
      open(path, async () => 1),
      MisuseError,
    );
  }
  assert.equal(statSync(path).size, 0);
});

test('who only looks into a store cannot write to it', async () => {
  const path = join(folder, 'looked at.sqlite');
  await assert.rejects(
    lookIntoStore(path, async () => 1),
    MisuseError,
  );
  await (await openSqliteStore({ path })).close();
  assert.deepEqual(await lookIntoStore(path, (store) => store.list({ limit: 1 })), []);
  await assert.rejects(
    lookIntoStore(path, (store) => store.prune(1)),
    { name: 'StoreError', code: 'store_read_only' },
  );
});
