import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { run } from './program.ts';

async function ask(...argv: string[]): Promise<{ code: number; out: string; err: string }> {
  let out = '';
  let err = '';
  const code = await run(argv, {
    stdout: { write: (text) => (out += text) },
    stderr: { write: (text) => (err += text) },
    stdin: Readable.from([]),
    env: {},
    nowMs: () => 0,
  });
  return { code, out, err };
}

test('each command explains itself and its exit codes', async () => {
  for (const words of [
    ['demo'],
    ['decode'],
    ['payments', 'list'],
    ['payments', 'show'],
    ['payments', 'close'],
    ['reconcile'],
    ['devnet'],
  ]) {
    const { code, out, err } = await ask(...words, '--help');
    assert.deepEqual([code, err], [0, ''], words.join(' '));
    assert.match(out, /--json/, words.join(' '));
  }
  assert.match((await ask('reconcile', '--help')).out, /prove nothing yet/);
});

test('a misspelt command is answered with the one that was meant', async () => {
  const { code, out, err } = await ask('reconsile');
  assert.deepEqual([code, out], [2, '']);
  assert.match(err, /Did you mean reconcile/);
});

test('a number out of bounds names the bounds', async () => {
  const { code, err } = await ask('payments', 'list', '--store', 'x', '--limit', '1001');
  assert.equal(code, 2);
  assert.match(err, /from 1 to 1000/);
});

test('whatever is used wrongly ends with exit code 2 and one sentence', async () => {
  const here = import.meta.dirname;
  const wrong = [
    ['decode'],
    ['decode', '--what', 'x'],
    ['payments', 'list'],
    ['payments', 'list', '--store', '/nowhere/claims.sqlite'],
    ['payments', 'show', 'abcd', '--store', here],
    ['payments', 'show', 'abc', '--store', here],
    ['reconcile', '--store', '/nowhere/claims.sqlite'],
    ['reconcile', '--store', here, '--rpc', 'base=https://rpc.example.com'],
    ['reconcile', '--store', 'redis://127.0.0.1:9/abc'],
    ['reconcile', '--store', 'redis://u:%zz@127.0.0.1:9/0'],
    ['payments', 'list', '--store', 'postgres://u:%zz@127.0.0.1:9/x'],
    ['payments', 'list', '--store', 'postgres://127.0.0.1:9/x', '--schema', 'a-b'],
    ['payments', 'list', '--store', 'redis://127.0.0.1:9/0', '--prefix', 'a b'],
    ['payments', 'list', '--store', here, '--network', 'base'],
    ['payments', 'list', '--store', here, '--payer', 'zz'],
    ['demo', '--burst', '1'],
    ['demo', '--work-ms', 'long'],
    ['devnet', '--port', '-1'],
  ];
  for (const args of wrong) {
    const { code, out, err } = await ask(...args);
    assert.deepEqual([args, code, out], [args, 2, '']);
    assert.doesNotMatch(err, /\n\s+at /);
  }
});

test('an option of another kind of store is wrong use, and is named', async () => {
  const here = import.meta.filename;
  const wrong = [
    ['postgres://127.0.0.1:9/x', '--prefix'],
    [here, '--prefix'],
    ['redis://127.0.0.1:9/0', '--schema'],
    [here, '--schema'],
  ] as const;
  for (const [place, option] of wrong) {
    const { code, err } = await ask('payments', 'list', '--store', place, option, 'shop');
    assert.deepEqual([code, err.includes(option)], [2, true], `${place} ${option}: ${err}`);
  }
  const { err } = await ask('reconcile', '--store', 'redis://127.0.0.1:9/0', '--prefix', 'a b');
  assert.match(err, /--prefix must be/);
});

test('nothing that is typed wrongly is repeated with a password or a key in it', async () => {
  const place = 'postgres://u:Hush@h.example/x';
  const wrong = [
    ['reconcile', '--rpc', '84532=https://eth.example/v2/Hush'],
    ['reconcile', '--rpc', 'wss://eth.example/v2/Hush?k=Hush'],
    ['reconcile', '--rpc', 'eip155:1=wss://eth.example/v2/Hush'],
    ['reconcile', '--rpc', 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp=https://u:Hush@h'],
    ['reconcile', '--finality', place],
    ['reconcile', '--watch', place],
    ['reconcile', '--store', 'redis:/:Hush@h/0'],
    ['reconcile', '--store', 'postgres:u:Hush@h/x'],
    ['reconcile', '--store', `mysql://u:Hush@h/${'x'.repeat(300)}`],
    ['reconcile', '--store', `postgres:u:Hush@h/${'x'.repeat(300)}`],
    ['payments', 'list', place],
    ['payments', 'list', place, 'redis:/:Hush@h/0'],
    ['payments', 'list', `--stroe=${place}`],
    ['payments', 'list', `--limit=${place}`],
    ['payments', 'list', '--money', place, '--store', 'x'],
    ['payments', 'list', '--since', place, '--store', 'x'],
    ['payments', 'list', '--network', place, '--store', 'x'],
    ['payments', 'list', '--payer', place, '--store', 'x'],
    ['payments', place],
    [place],
    ['devnet', '--port', place],
  ];
  for (const words of wrong) {
    const { code, out, err } = await ask(...words);
    assert.deepEqual([code, out], [2, ''], `${words.join(' ')}: ${err}`);
    assert.doesNotMatch(err, /Hush/, words.join(' '));
  }
});
