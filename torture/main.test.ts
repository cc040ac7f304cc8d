import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';

function torture(...args: readonly string[]): { status: number | null; out: string; err: string } {
  const program = join(import.meta.dirname, 'main.ts');
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], { encoding: 'utf8' });
  return { status, out: stdout, err: stderr };
}

test('help goes to standard output and is no failure', () => {
  const { status, out, err } = torture('--help');
  assert.deepEqual([status, err], [0, '']);
  assert.match(out, /^usage: npm run torture/);
});

test('a wrong option is exit code 2, with its reason and the usage on standard error', () => {
  const { status, out, err } = torture('--rounds', 'many');
  assert.deepEqual([status, out], [2, '']);
  assert.match(err, /^torture: --rounds takes a whole number.*\nusage: /);
});
