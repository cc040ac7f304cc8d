import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { after, before, describe, test } from 'node:test';
import type { ClaimRecord, ClaimStore, MoneyFact } from 'counterfoil/claim';
import { openSqliteStore } from 'counterfoil/stores/sqlite';
import { run } from '../program.ts';
import { base, hash } from './rig/record.ts';

const folder = mkdtempSync(join(tmpdir(), 'counterfoil-close-'));
const path = join(folder, 'claims.sqlite');
const settled: MoneyFact = { fact: 'settled', transaction: hash, amount: 10_000n, by: 'facilitator' };

function nonceOf(n: number): string {
  return `0x${n.toString(16).repeat(64)}`;
}

/** Takes payment `n` and lets it be sent, and then whatever the fact says. */
async function take(store: ClaimStore, n: number, fact?: MoneyFact): Promise<void> {
  const { work: _work, money: _money, fence: _fence, attempts: _attempts, sendLog: _log, ...rest } = base;
  const purchase = {
    ...rest,
    key: `eip155:84532/${nonceOf(n)}`,
    nonce: nonceOf(n),
    fingerprint: n.toString(16).repeat(64),
    validBeforeMs: Date.now() + 300_000,
  };
  const times = { leaseMs: 60_000, graceMs: 1_000 };
  const rules = { times, mayReplaceRequest: true, earlierPayment: 'serve' } as const;
  const taken = await store.take({ purchase, owner: `a:${n}`, ...rules });
  assert.ok(taken.kind === 'taken');
  if (fact === undefined) return;
  const bytes = new Uint8Array([1]);
  await store.keepAndBeginSend(taken.hold, { answer: bytes, payload: bytes, phase: 'pay', leaseMs: 60_000 });
  await store.recordMoney(taken.hold.key, fact);
  await store.deliver(taken.hold.key, { kind: 'abandoned' });
}

type Told = { readonly code: number; readonly out: string; readonly err: string };

async function ask(words: readonly string[], typed?: string): Promise<Told> {
  let out = '';
  let err = '';
  const stdin: Readable & { isTTY?: boolean } = Readable.from(typed === undefined ? [] : [typed]);
  if (typed !== undefined) stdin.isTTY = true;
  const code = await run(['payments', ...words, '--store', path], {
    stdout: { write: (text) => (out += text) },
    stderr: { write: (text) => (err += text) },
    stdin,
    env: {},
    nowMs: () => Date.now(),
  });
  return { code, out, err };
}

async function record(n: number): Promise<ClaimRecord> {
  const { out } = await ask(['show', nonceOf(n), '--json']);
  return JSON.parse(out) as ClaimRecord;
}

describe('an operator closes what was dealt with by hand', () => {
  before(async () => {
    const store = await openSqliteStore({ path });
    await take(store, 1, { fact: 'unknown', n: 1, reason: 'timeout' });
    for (const n of [2, 3, 4]) await take(store, n, settled);
    await take(store, 5);
    await store.close();
  });
  after(() => rmSync(folder, { recursive: true }));

  test('an unknown payment is closed under a ticket, and is not in the way of anything any more', async () => {
    const { code, out } = await ask(['close', nonceOf(1), '--reference', 'ticket 7', '--yes']);
    assert.deepEqual([code, out], [0, '0x1111111111 is closed: ticket 7.\n']);
    const { closed, money } = await record(1);
    assert.deepEqual([closed?.reference, money.state], ['ticket 7', 'unknown']);
    const again = await ask(['close', nonceOf(1), '--reference', 'ticket 8', '--yes']);
    assert.equal(again.code, 1);
    assert.match(again.err, /was closed on .*: ticket 7\./);
  });

  test('what is owed is listed until it was paid back, and then says how', async () => {
    const owed = async (): Promise<number> =>
      (JSON.parse((await ask(['list', '--owed', '--json'])).out) as { payments: unknown[] }).payments.length;
    assert.equal(await owed(), 3);
    const { code, out } = await ask(['close', nonceOf(2), '--refunded', hash, '--yes', '--json']);
    assert.deepEqual(
      [code, (JSON.parse(out) as ClaimRecord).money],
      [0, { state: 'refunded', reference: hash }],
    );
    assert.equal(await owed(), 2);
    assert.match((await ask(['show', nonceOf(2)])).out, /next\n {2}Closed: the money was paid back\./);
  });

  test('a person is asked first, and anything but yes changes nothing', async () => {
    for (const typed of ['n\n', '\n', 'yesterday\n']) {
      const { code, err } = await ask(['close', nonceOf(3), '--reference', 'ticket 9'], typed);
      assert.equal(code, 1, typed);
      assert.match(err, /0\.01 USDC of 0xa1.*money settled.*\[y\/N\] Nothing was changed/s);
    }
    assert.equal((await record(3)).closed, undefined);
    assert.equal((await ask(['close', nonceOf(3), '--reference', 'ticket 9'], 'y\n')).code, 0);
    assert.equal((await record(3)).closed?.reference, 'ticket 9');
  });

  test('what somebody holds, what was never sent and what is not there is not closed', async () => {
    const held = await ask(['close', nonceOf(5), '--reference', 'x', '--yes']);
    assert.deepEqual([held.code, /A process holds it until/.test(held.err)], [1, true]);
    const store = await openSqliteStore({ path });
    const key = `eip155:84532/${nonceOf(5)}`;
    await store.fail({ key, owner: 'a:5', fence: 1 });
    await store.close();
    const unsent = await ask(['close', nonceOf(5), '--reference', 'x', '--yes']);
    assert.deepEqual([unsent.code, /Nothing of it was ever sent/.test(unsent.err)], [1, true]);
    assert.equal((await ask(['close', '0xffff', '--reference', 'x', '--yes'])).code, 1);
    const doubt = await ask(['close', nonceOf(1), '--refunded', 'x', '--yes']);
    assert.deepEqual([doubt.code, /Reconcile it first/.test(doubt.err)], [1, true]);
  });

  test('without a reference, with two, with an endless one, or with nobody to ask, it is wrong use', async () => {
    const key = nonceOf(4);
    const wrong = [
      [key],
      [key, '--reference', 'a', '--refunded', 'b'],
      [key, '--reference', ' ', '--yes'],
      [key, '--reference', 'a\nb', '--yes'],
      [key, '--reference', 'a'.repeat(201), '--yes'],
      [key, '--reference', 'a'],
      ['0x', '--reference', 'a', '--yes'],
    ];
    for (const words of wrong) assert.equal((await ask(['close', ...words])).code, 2, words.join(' '));
    assert.equal((await record(4)).closed, undefined);
  });
});
