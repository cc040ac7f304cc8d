import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { openSqliteStore } from 'counterfoil/stores/sqlite';
import { MisuseError } from './io.ts';
import { lookIntoStore, withoutSecrets, withStore } from './open.ts';

const folder = mkdtempSync(join(tmpdir(), 'counterfoil-open-'));
const io = { env: {} };
after(() => rmSync(folder, { recursive: true }));

test('a store that is not there is not made by looking for it', async () => {
  const path = join(folder, 'absent.sqlite');
  await assert.rejects(
    withStore({ store: path }, io, async () => 1),
    MisuseError,
  );
  assert.equal(existsSync(path), false);
  await assert.rejects(
    withStore({ store: folder }, io, async () => 1),
    MisuseError,
  );
});

test('a store is closed after the work, and after work that failed', async () => {
  const path = join(folder, 'claims.sqlite');
  await (await openSqliteStore({ path })).close();
  assert.deepEqual(await withStore({ store: path }, io, (store) => store.list({ limit: 1 })), []);
  await assert.rejects(
    withStore({ store: path }, io, async () => {
      throw new Error('the work failed');
    }),
    /the work failed/,
  );
  rmSync(path);
  writeFileSync(path, 'text');
  await assert.rejects(
    withStore({ store: path }, io, async () => 1),
    /is not a claim store/,
  );
});

test('an empty file is no store, and is not made one', async () => {
  const path = join(folder, 'empty.sqlite');
  writeFileSync(path, '');
  for (const open of [withStore, lookIntoStore]) {
    await assert.rejects(
      open({ store: path }, io, async () => 1),
      MisuseError,
    );
  }
  assert.equal(statSync(path).size, 0);
});

test('who only looks into a store cannot write to it', async () => {
  const path = join(folder, 'looked at.sqlite');
  await assert.rejects(
    lookIntoStore({ store: path }, io, async () => 1),
    MisuseError,
  );
  await (await openSqliteStore({ path })).close();
  assert.deepEqual(await lookIntoStore({ store: path }, io, (store) => store.list({ limit: 1 })), []);
  await assert.rejects(
    lookIntoStore({ store: path }, io, (store) => store.prune(1)),
    { name: 'StoreError', code: 'store_read_only' },
  );
});

test('a store may be named by the environment, where no list of processes shows it; an option comes first', async () => {
  const path = join(folder, 'named.sqlite');
  await (await openSqliteStore({ path })).close();
  const env = { COUNTERFOIL_STORE: path };
  assert.equal(await lookIntoStore({}, { env }, async ({ name }) => name), 'sqlite');
  await assert.rejects(
    lookIntoStore({ store: `${path}x` }, { env }, async () => 1),
    /There is no file/,
  );
  await assert.rejects(
    lookIntoStore({}, io, async () => 1),
    MisuseError,
  );
});

test('a URL of no store is wrong use, and says what a store is', async () => {
  for (const store of ['mysql://shop@localhost/shop', 'https://example.com/claims.sqlite', 'postgres://[']) {
    await assert.rejects(
      lookIntoStore({ store }, io, async () => 1),
      MisuseError,
      store,
    );
  }
});

test('a server that is not there is told without the password, and could not be told is not wrong use', async () => {
  for (const store of [
    'postgres://shop:s3cr%21t-word@127.0.0.1:9/shop?application_name=x',
    'redis://shop:s3cr%21t-word@127.0.0.1:9/0',
  ]) {
    await assert.rejects(
      lookIntoStore({ store }, io, async () => 1),
      (fault: Error) => {
        assert.ok(!(fault instanceof MisuseError));
        assert.doesNotMatch(`${fault.message}${fault.stack}`, /s3cr/);
        return true;
      },
    );
  }
});

test('what a driver repeats of a URL is cut out, in each way of writing it', () => {
  const place = 'redis://shop:s3cr%21t@example.com:6379/0?token=abcdef';
  const text = withoutSecrets(`connect ${place}: wrong password s3cr!t (s3cr%21t) token=abcdef`, place);
  assert.equal(text, 'connect ***: wrong password *** (***) ***');
  assert.equal(withoutSecrets('a bad day', 'redis://:a@example.com'), 'The store could not be opened.');
  assert.equal(withoutSecrets('connection refused', 'redis://example.com'), 'connection refused');
});
