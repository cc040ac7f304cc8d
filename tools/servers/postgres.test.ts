import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { requireProgram } from './options.ts';
import {
  type Postgres,
  type PostgresOptions,
  sharedPostgres,
  startPostgres,
  unprivileged,
} from './postgres.ts';

async function started(t: TestContext, options?: PostgresOptions): Promise<Postgres> {
  const postgres = await startPostgres(options);
  t.after(postgres.stop);
  return postgres;
}

/** The program that stands beside the server's own. */
function psql(): string {
  return join(dirname(realpathSync(requireProgram('postgres'))), 'psql');
}

/** Runs one statement on a connection of its own and resolves with what it printed. */
async function say(url: string, statement: string): Promise<string> {
  const child = spawn(psql(), ['-X', '-At', '-d', url, '-c', statement], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (more: string) => {
      text += more;
    });
  }
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(text);
  return text.trim();
}

test('a PostgreSQL keeps what it committed through a restart and through a SIGKILL', async (t) => {
  const postgres = await started(t);
  await say(postgres.url, 'CREATE TABLE kept AS SELECT 1 AS n');
  const first = postgres.pid;
  await postgres.restart();
  assert.notEqual(postgres.pid, first);
  await say(postgres.url, 'INSERT INTO kept VALUES (2)');
  const open = assert.rejects(say(postgres.url, 'SELECT pg_sleep(100)'), /server closed the connection/);
  const sessions = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%'";
  while ((await say(postgres.url, sessions)) === '0');
  await postgres.kill();
  await open;
  await assert.rejects(say(postgres.url, 'SELECT 1'), /refused/);
  await postgres.restart();
  assert.equal(await say(postgres.url, 'SELECT sum(n) FROM kept'), '3');
  const { pid } = postgres;
  await postgres.stop();
  assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
});

test('two PostgreSQL stand side by side; it syncs to disk unless a setting says otherwise', async (t) => {
  const [one, two] = await Promise.all([
    started(t),
    started(t, { settings: { fsync: 'off', synchronous_commit: 'off' } }),
  ]);
  assert.notEqual(one.port, two.port);
  const synced = "SELECT concat(current_setting('fsync'), ' ', current_setting('synchronous_commit'))";
  assert.equal(await say(one.url, synced), 'on on');
  assert.equal(await say(two.url, synced), 'off off');
  const addresses = await say(one.url, "SELECT current_setting('listen_addresses')");
  assert.equal(addresses, '127.0.0.1');
});

test('a PostgreSQL that refuses a setting is an error with its reason', async () => {
  await assert.rejects(startPostgres({ settings: { fsync: 'perhaps' } }), /does not start: .*fsync/s);
  // @ts-expect-error a mistyped option
  await assert.rejects(startPostgres({ fsync: 'no' }), TypeError);
});

test('callers of the shared PostgreSQL get one server and an empty database each', async () => {
  const [one, two] = await Promise.all([sharedPostgres(), sharedPostgres()]);
  assert.equal(new URL(one.url).port, new URL(two.url).port);
  await say(one.url, 'CREATE TABLE claims ()');
  const tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'";
  assert.deepEqual([await say(one.url, tables), await say(two.url, tables)], ['1', '0']);
});

test('root runs it as the account of the package or as nobody, anybody else as oneself', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-passwd-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const passwd = join(folder, 'passwd');
  writeFileSync(passwd, 'root:x:0:0::/:\nnobody:x:65534:65534::/:\n');
  assert.equal(unprivileged(passwd, 1000), undefined);
  assert.deepEqual(unprivileged(passwd, 0), { uid: 65534, gid: 65534 });
  writeFileSync(passwd, 'nobody:x:65534:65534::/:\npostgres:x:101:104::/:\n');
  assert.deepEqual(unprivileged(passwd, 0), { uid: 101, gid: 104 });
  writeFileSync(passwd, 'root:x:0:0::/:\n');
  assert.throws(() => unprivileged(passwd, 0), /no account postgres or nobody/);
});
