import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { devnet } from './devnet.ts';

const main = join(import.meta.dirname, 'main.ts');

test('the devnet says in one line of JSON where it is, and ends with its standard input', async () => {
  const child = spawn(process.execPath, [main, 'devnet', '--json', '--stop-with-stdin', '--accounts', '1'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [line] = await once(child.stdout, 'data');
  const ready: unknown = JSON.parse(String(line));
  assert.ok(typeof ready === 'object' && ready !== null && 'rpcUrl' in ready && 'facilitatorUrl' in ready);
  assert.match(String(ready.rpcUrl), /^http:\/\/127\.0\.0\.1:\d+$/);
  child.stdin.end();
  assert.deepEqual(await once(child, 'exit'), [0, null]);
});

test('a devnet that cannot start as asked says why and is wrong use', async () => {
  let said = '';
  const output = { write: (text: string) => (said += text) };
  const io = { stdout: output, stderr: output, stdin: Readable.from([]), env: {}, nowMs: () => 0 };
  assert.equal(await devnet({ accounts: 0 }, io), 2);
  assert.match(said, /from 1 to 100/);
});
