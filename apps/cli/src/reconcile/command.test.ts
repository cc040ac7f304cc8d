import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { after, before, describe, test } from 'node:test';
import { openSqliteStore } from 'counterfoil/stores/sqlite';
import { openStage, type Roles, type Stage } from '../demo/stage.ts';
import { base, hash } from '../payments/rig/record.ts';
import { run } from '../program.ts';

const main = join(import.meta.dirname, '..', 'main.ts');
describe('a real store, and the chain behind it', () => {
  let stage: Stage;

  before(async () => {
    stage = await openStage(
      { copies: 2, workMs: 200, keep: false },
      { progress: () => {}, closable: () => {} },
    );
  });

  after(() => stage.close());

  /** In this process, where starting Node anew would show nothing more. */
  async function ask(...args: string[]): Promise<{ code: number; out: string }> {
    let out = '';
    const code = await run([...args, '--store', stage.storeFile], {
      stdout: { write: (text) => (out += text) },
      stderr: { write: () => true },
      stdin: Readable.from([]),
      env: {},
      nowMs: () => Date.now(),
    });
    return { code, out };
  }

  /** Pays once through a facilitator that moves the money and loses the answer. */
  async function loseSettle(role: keyof Roles): Promise<void> {
    const url = `${stage.ours().origin}/weather`;
    await stage.chain.rigs.ours.setMode('land_then_502');
    const reply = await stage.client.get(url, await stage.buyer(role).pay(url));
    assert.equal(reply.status, 503);
  }

  const rpc = (): string => `eip155:31337=${stage.chain.rpcUrl}`;

  test('a lost settle is unknown until the chain is asked; what cannot be read could not be told', async () => {
    await loseSettle('ours');
    assert.match(
      (await ask('payments', 'list', '--money', 'unknown')).out,
      /GET \/weather .* unknown +- +done +1\/2/,
    );
    const blind = await ask('reconcile');
    assert.deepEqual([blind.code, /not asked: no --rpc for it +unknown/.test(blind.out)], [3, true]);
    const dead = await ask('reconcile', '--rpc', 'eip155:31337=http://127.0.0.1:9', '--json');
    assert.equal(dead.code, 3);
    assert.equal((JSON.parse(dead.out) as { unreadable: number }).unreadable, 1);
  });

  test('a settlement that is not as deep as was asked for is not believed yet, and names its transaction', async () => {
    const { code, out } = await ask('reconcile', '--rpc', rpc(), '--finality', '1000', '--json');
    const sum = JSON.parse(out) as { stillUnknown: number; payments: Record<string, unknown>[] };
    const [payment] = sum.payments;
    assert.deepEqual([code, sum.stillUnknown, payment?.money, payment?.basis], [1, 1, 'unknown', null]);
    assert.match(String(payment?.transaction), /^0x[0-9a-f]{64}$/);
  });

  test('the chain proves the lost settle: the record names its transaction, and its answer is owed until it is closed', async () => {
    const told = spawnSync(
      process.execPath,
      [main, 'reconcile', '--rpc', rpc(), '--store', stage.storeFile],
      { encoding: 'utf8' },
    );
    assert.equal(told.status, 1);
    assert.match(told.stdout, /settled in block \d+ +settled +chain latest +0x[0-9a-f]{64}\n/);
    assert.match(told.stdout, /1 owed: see payments list --owed/);
    assert.match(told.stdout, /1 looked up: 1 settled, 0 refused, 0 not proven yet, 0 could not be read\./);
    const [log] = await stage.chain.chain.transfers({ to: stage.chain.sellerAddress });
    assert.ok(log !== undefined && told.stdout.includes(log.transaction));
    assert.match((await ask('payments', 'show', log.transaction)).out, /settled \(chain\)/);
    await stage.chain.chain.mine(4);
    assert.equal(
      (await ask('payments', 'close', log.transaction, '--reference', 'ticket 7', '--yes')).code,
      0,
    );
    // A bare URL is asked for its chain; two of one chain check each other.
    const other = stage.chain.rpcUrl.replace('127.0.0.1', 'localhost');
    const done = await ask('reconcile', '--rpc', stage.chain.rpcUrl, '--rpc', other);
    assert.deepEqual([done.code, done.out], [0, 'No payment of this store has unknown money.\n']);
  });

  test('an authorization that a reorganised chain does not show as used is not proven yet', async () => {
    const snapshot = await stage.chain.chain.snapshot();
    await loseSettle('oursAgent');
    await stage.chain.chain.revert(snapshot);
    const { code, out } = await ask('reconcile', '--rpc', rpc(), '--json');
    const sum = JSON.parse(out) as { stillUnknown: number; payments: { fate: { kind: string } }[] };
    assert.deepEqual([code, sum.stillUnknown, sum.payments[0]?.fate.kind], [1, 1, 'unused']);
  });

  test('a watch goes on from pass to pass until it is interrupted, and then says how the last one ended', async () => {
    const words = [main, 'reconcile', '--rpc', rpc(), '--watch', '1', '--json', '--store', stage.storeFile];
    const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    for (const turn of [1, 2]) {
      const line = await lines.next();
      assert.equal((JSON.parse(String(line.value)) as { looked: number }).looked, 1, String(turn));
    }
    child.kill('SIGINT');
    const [code] = (await once(child, 'exit')) as [number];
    assert.equal(code, 1);
  });
});

test('a depth, an interval and an endpoint that nobody could mean are wrong use', async () => {
  const wrong = [
    ['--finality', 'soon'],
    ['--finality', '0'],
    ['--watch', '0'],
    ['--watch', 'often'],
    ['--rpc', 'ftp://example.com'],
  ];
  for (const words of wrong) {
    let out = '';
    const code = await run(['reconcile', '--store', main, ...words], {
      stdout: { write: (text) => (out += text) },
      stderr: { write: () => true },
      stdin: Readable.from([]),
      env: {},
      nowMs: () => 0,
    });
    assert.deepEqual([code, out], [2, ''], words.join(' '));
  }
});

test('S05: a settlement that nobody could be asked about could not be told, each time it is asked for', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-reconcile-'));
  after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'claims.sqlite');
  const store = await openSqliteStore({ path });
  const { work: _work, money: _money, fence: _fence, sendLog: _log, ...purchase } = base;
  const rules = { times: { leaseMs: 60_000, graceMs: 1_000 }, mayReplaceRequest: true } as const;
  const lasting = { ...purchase, validBeforeMs: Date.now() + 300_000 };
  const taken = await store.take({ purchase: lasting, owner: 'a:1', ...rules, earlierPayment: 'serve' });
  assert.ok(taken.kind === 'taken');
  const bytes = new Uint8Array([1]);
  await store.keepAndBeginSend(taken.hold, { answer: bytes, payload: bytes, phase: 'pay', leaseMs: 60_000 });
  await store.recordMoney(taken.hold.key, {
    fact: 'settled',
    transaction: hash,
    amount: purchase.amount,
    by: 'facilitator',
  });
  await store.close();
  const dead = ['--rpc', `${base.network}=http://127.0.0.1:9`];
  for (const words of [[], [], dead, dead]) {
    let out = '';
    const code = await run(['reconcile', '--json', '--store', path, ...words], {
      stdout: { write: (text) => (out += text) },
      stderr: { write: () => true },
      stdin: Readable.from([]),
      env: {},
      nowMs: () => Date.now(),
    });
    const { rechecked, unreadableNetworks } = JSON.parse(out) as Record<string, unknown>;
    assert.deepEqual([code, rechecked, unreadableNetworks], [3, 1, [base.network]], words.join(' '));
  }
});
