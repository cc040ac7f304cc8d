import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { wellKnownAssets } from 'counterfoil/terms';
import { encodePaymentRequired } from 'counterfoil/wire';

const main = join(import.meta.dirname, 'main.ts');
const [asset] = wellKnownAssets;
const header = encodePaymentRequired({
  x402Version: 2,
  resource: { url: 'https://api.example.com/weather' },
  accepts: [
    {
      scheme: 'exact',
      network: asset?.network ?? '',
      asset: asset?.address ?? '',
      amount: 10_000n,
      payTo: '0x742d35Cc6634C0532925a3b844Bc454e4438f44e',
      maxTimeoutSeconds: 300,
      extra: {},
    },
  ],
});

function run(args: readonly string[], env: Record<string, string> = {}) {
  return spawnSync(process.execPath, [main, ...args], { encoding: 'utf8', env: { ...process.env, ...env } });
}

test('help names every command and the exit codes, on standard output', () => {
  const help = run(['--help']);
  assert.equal(help.status, 0);
  assert.equal(help.stderr, '');
  for (const word of ['demo', 'decode', 'payments', 'reconcile', 'devnet', 'Exit codes'])
    assert.match(help.stdout, new RegExp(word));
  assert.match(run(['--version']).stdout, /^\d+\.\d+\.\d+\n$/);
});

test('wrong use is exit code 2, a sentence on standard error, and no stack', () => {
  for (const args of [[], ['decode', ' '], ['payments', 'list', '--store', '/nowhere/claims.sqlite']]) {
    const { status, stdout, stderr } = run(args);
    assert.deepEqual([args, status, stdout], [args, 2, '']);
    assert.notEqual(stderr, '');
    assert.doesNotMatch(stderr, /\n\s+at /);
  }
});

test('a file that is no claim store could not be read: exit code 3, the reason, and the file is left alone', () => {
  const { status, stdout, stderr } = run(['payments', 'list', '--store', main]);
  assert.deepEqual([status, stdout], [3, '']);
  assert.match(stderr, /is not a claim store/);
  assert.doesNotMatch(stderr, /\n\s+at /);
  assert.match(run(['payments', 'list', '--store', main], { COUNTERFOIL_DEBUG: '1' }).stderr, /\n\s+at /);
});

test('P06: a command line with control characters comes back without them', () => {
  const hostile = '\u001b[31mred\u0007\u202e';
  for (const args of [
    [hostile],
    ['decode', `--${hostile}`, 'x'],
    ['payments', 'list', '--store', hostile],
    ['payments', 'list', '--store', 'x', '--limit', hostile],
    ['payments', 'list', '--store', main, '--money', hostile],
    ['reconcile', '--store', main, '--rpc', hostile],
  ]) {
    const { status, stdout, stderr } = run(args);
    assert.deepEqual([args, status, stdout], [args, 2, '']);
    assert.doesNotMatch(stderr.replaceAll('\n', ''), /[\p{Cc}\p{Cf}]/u);
  }
});

test('a full disk under the output is exit code 3 and one sentence', {
  skip: !existsSync('/dev/full'),
}, () => {
  const full = openSync('/dev/full', 'w');
  const { status, stderr } = spawnSync(process.execPath, [main, 'decode', header], {
    encoding: 'utf8',
    stdio: ['ignore', full, 'pipe'],
  });
  closeSync(full);
  assert.equal(status, 3);
  assert.match(stderr, /^counterfoil: ENOSPC.*\n$/);
});

test('NO_COLOR leaves no escape on either stream, FORCE_COLOR paints', () => {
  const plain = run(['decode', header], { FORCE_COLOR: '1', NO_COLOR: '1' });
  assert.ok(!`${plain.stdout}${plain.stderr}`.includes('\u001b'));
  assert.ok(run(['decode', header], { FORCE_COLOR: '1', NO_COLOR: '' }).stdout.includes('\u001b'));
});

test('a reader that goes away ends the program quietly', async () => {
  const child = spawn(process.execPath, [main, 'decode', header], { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.destroy();
  let errors = '';
  child.stderr.on('data', (text) => {
    errors += String(text);
  });
  const [code] = await once(child, 'close');
  assert.deepEqual([code, errors], [0, '']);
});
