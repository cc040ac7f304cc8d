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
