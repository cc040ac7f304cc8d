import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { after, before, describe, test } from 'node:test';
import { openStage, type Roles, type Stage } from '../demo/stage.ts';
import { MisuseError } from '../io.ts';
import { run } from '../program.ts';
import { endpointsOf, exitOf } from './command.ts';

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
      /GET \/weather .* unknown +done +1\/2/,
    );
    const blind = await ask('reconcile');
    assert.deepEqual([blind.code, /not asked: no --rpc for it +unknown/.test(blind.out)], [3, true]);
    const dead = await ask('reconcile', '--rpc', 'eip155:31337=http://127.0.0.1:9', '--json');
    assert.equal(dead.code, 3);
    assert.equal((JSON.parse(dead.out) as { unreadable: number }).unreadable, 1);
  });

  test('the chain proves the lost settle: the record names its transaction and nothing is unknown any more', async () => {
    const told = spawnSync(
      process.execPath,
      [main, 'reconcile', '--rpc', rpc(), '--store', stage.storeFile],
      { encoding: 'utf8' },
    );
    assert.equal(told.status, 0);
    assert.match(told.stdout, /settled in block \d+ +settled +0x[0-9a-f]{64}\n/);
    assert.match(told.stdout, /1 looked up: 1 settled, 0 refused, 0 not proven yet, 0 could not be read\./);
    const [log] = await stage.chain.chain.transfers({ to: stage.chain.sellerAddress });
    assert.ok(log !== undefined && told.stdout.includes(log.transaction));
    assert.match((await ask('payments', 'show', log.transaction)).out, /settled \(chain\)/);
    assert.match((await ask('reconcile', '--rpc', rpc())).out, /No payment of this store has unknown money/);
  });

  test('an authorization that a reorganised chain does not show as used is not proven yet', async () => {
    const snapshot = await stage.chain.chain.snapshot();
    await loseSettle('oursAgent');
    await stage.chain.chain.revert(snapshot);
    const { code, out } = await ask('reconcile', '--rpc', rpc(), '--json');
    const sum = JSON.parse(out) as { stillUnknown: number; payments: { fate: { kind: string } }[] };
    assert.deepEqual([code, sum.stillUnknown, sum.payments[0]?.fate.kind], [1, 1, 'unused']);
  });
});

test('what could not be read outweighs what is not proven yet', () => {
  const none = { looked: 3, settled: 1, refused: 1, stillUnknown: 0, unreadable: 0 };
  assert.equal(exitOf(none), 0);
  assert.equal(exitOf({ ...none, stillUnknown: 1 }), 1);
  assert.equal(exitOf({ ...none, stillUnknown: 1, unreadable: 1 }), 3);
});

test('an endpoint is a network and an http URL, each network once', () => {
  assert.deepEqual(
    [...endpointsOf(['eip155:1=https://a.example.com/?k=v', 'eip155:10=http://127.0.0.1:1'])],
    [
      ['eip155:1', 'https://a.example.com/?k=v'],
      ['eip155:10', 'http://127.0.0.1:1'],
    ],
  );
  for (const texts of [
    ['x'],
    ['=https://a'],
    ['eip155:1=ftp://a'],
    ['eip155:1='],
    ['eip155:1=https://a', 'eip155:1=https://b'],
  ])
    assert.throws(() => endpointsOf(texts), MisuseError, texts.join());
});
