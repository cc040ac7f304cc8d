import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, test } from 'node:test';
import type { Purchase } from 'counterfoil/claim';
import { openSqliteStore } from 'counterfoil/stores/sqlite';

const main = join(import.meta.dirname, '..', 'main.ts');
const folder = mkdtempSync(join(tmpdir(), 'counterfoil-payments-'));
const path = join(folder, 'claims.sqlite');

const asset = '0x036cbd53842c5426634e7929541ec2318f3dcf7e';
const payTo = `0x${'b2'.repeat(20)}`;

function purchase(index: number): Purchase {
  const nonce = `0x${`a${index}`.repeat(32)}`;
  return {
    key: `eip155:84532/eip3009/${asset}/payer/${nonce}`,
    network: 'eip155:84532',
    asset,
    payer: `0x${'a1'.repeat(20)}`,
    payTo,
    amount: 10_000n,
    nonce,
    fingerprint: String(index).repeat(64),
    signatureHash: 'e'.repeat(64),
    requirement: {
      scheme: 'exact',
      network: 'eip155:84532',
      asset,
      amount: 10_000n,
      payTo,
      maxTimeoutSeconds: 300,
      extra: {},
    },
    route: 'GET /weather',
    resourceUrl: 'https://api.example.com/weather',
    flow: 'authorization',
    validAfterMs: 0,
    validBeforeMs: Date.now() + 300_000,
    maxAttempts: 2,
  };
}

describe('a store with five payments', () => {
  /** Five payments: the first is sent and unknown, the others are being worked on. */
  before(async () => {
    const store = await openSqliteStore({ path });
    const times = { leaseMs: 60_000, graceMs: 1_000 };
    for (let index = 1; index <= 5; index += 1) {
      const request = {
        purchase: purchase(index),
        owner: `a:${index}`,
        times,
        mayReplaceRequest: true,
      } as const;
      const taken = await store.take({ ...request, earlierPayment: 'serve' });
      assert.ok(taken.kind === 'taken');
      if (index > 1) continue;
      const secret = new TextEncoder().encode('SECRET BODY');
      await store.keepAndBeginSend(taken.hold, {
        answer: secret,
        payload: secret,
        phase: 'pay',
        leaseMs: 60_000,
      });
      await store.recordMoney(taken.hold.key, { fact: 'unknown', n: 1, reason: 'timeout' });
    }
    await store.close();
  });

  after(() => rmSync(folder, { recursive: true }));

  function run(...args: string[]) {
    return spawnSync(process.execPath, [main, 'payments', ...args, '--store', path], { encoding: 'utf8' });
  }

  type Listed = { payments: { key: string; money: string; amount: string }[]; next: string | null };

  test('the payments of a store are listed page by page, and each page names the next', () => {
    const first = run('list', '--limit', '3', '--json');
    const page = JSON.parse(first.stdout) as Listed;
    assert.deepEqual([first.status, first.stderr, page.payments.length], [0, '', 3]);
    const rest = JSON.parse(
      run('list', '--limit', '3', '--json', '--after', page.next ?? '').stdout,
    ) as Listed;
    assert.deepEqual([rest.payments.length, rest.next], [2, null]);
    assert.equal(rest.payments[0]?.amount, '10000');
    assert.match(run('list', '--limit', '3').stderr, /--after eip155:84532/);
  });

  test('a filter finds the payments whose money is unknown, and an unknown state is wrong use', () => {
    const { stdout, status } = run('list', '--money', 'unknown');
    assert.equal(status, 0);
    assert.deepEqual(stdout.trim().split('\n').length, 2);
    assert.match(stdout, /0xa1a1a1a1a1 +GET \/weather +0xa1a1a1…a1a1 +0\.01 USDC +unknown +- +done +1\/2/);
    assert.match(run('list', '--work', 'exhausted').stderr, /No payment fits/);
    const wrong = run('list', '--money', 'lost');
    assert.equal(wrong.status, 2);
    assert.match(wrong.stderr, /none, sending, held, settled/);
  });

  test('one payment is shown by the beginning of its nonce, and nothing that is sealed', () => {
    const { stdout, status } = run('show', '0xa1a1a1a1');
    assert.equal(status, 0);
    assert.match(stdout, /unknown \(seller\) +timeout/);
    assert.match(stdout, /11 octets kept, sealed/);
    const json = run('show', '0xa1a1a1a1', '--json');
    assert.equal((JSON.parse(json.stdout) as { money: { state: string } }).money.state, 'unknown');
    assert.ok(!`${stdout}${json.stdout}`.includes('SECRET'));
  });

  test('a beginning that several share names them, and one that nobody has is exit code 1', () => {
    const several = run('show', 'eip155:84532/');
    assert.equal(several.status, 2);
    assert.match(several.stderr, /several payments: 0xa1a1a1a1a1, 0xa2a2a2a2a2/);
    assert.deepEqual([run('show', '0xffff').status, run('show', '0xf').status], [1, 2]);
    const none = run('show', '\u001b[31mffff', '--json');
    assert.deepEqual([none.status, JSON.parse(none.stdout)], [1, null]);
    assert.ok(!none.stderr.includes('\u001b'));
  });

  test('looking changes nothing: no octet of the store and no file beside it', () => {
    const before = [readdirSync(folder), readFileSync(path)];
    assert.deepEqual([run('list').status, run('show', '0xa1a1a1a1').status], [0, 0]);
    assert.deepEqual([readdirSync(folder), readFileSync(path)], before);
  });

  test('an empty file is not made a store by looking, and one of an older schema is not brought up to date', () => {
    const list = (store: string) =>
      spawnSync(process.execPath, [main, 'payments', 'list', '--store', store], { encoding: 'utf8' });
    const empty = join(folder, 'empty.sqlite');
    writeFileSync(empty, '');
    assert.deepEqual([list(empty).status, readFileSync(empty).length], [2, 0]);
    const old = join(folder, 'old.sqlite');
    copyFileSync(path, old);
    const database = new DatabaseSync(old);
    database.exec('DELETE FROM migrations');
    database.close();
    const before = readFileSync(old);
    const { status, stderr } = list(old);
    assert.equal(status, 3);
    assert.match(stderr, /schema version 0 and version \d+ is needed/);
    assert.deepEqual(readFileSync(old), before);
  });
});
