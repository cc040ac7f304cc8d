import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { startChild } from './spawn.ts';

const folder = mkdtempSync(join(tmpdir(), 'counterfoil-child-'));
after(() => rmSync(folder, { recursive: true }));

const here = (name: string): string => pathToFileURL(join(import.meta.dirname, name)).href;
const program = join(folder, 'child.mjs');
writeFileSync(
  program,
  `import { serveParent } from '${here('serve.ts')}';
serveParent({
  double: (n) => 2 * n,
  fail: () => { throw new Error('first line\\nsecond'); },
  die: () => { console.error('a last word'); process.exit(7); },
}, async () => {});
setInterval(() => {}, 1000);`,
);

test('a child answers what it is asked, and a fault of its own is an error with its name', async () => {
  const child = startChild('doubling', program);
  assert.deepEqual(await Promise.all([child.ask('double', 1), child.ask('double', 2)]), [2, 4]);
  await assert.rejects(child.ask('fail'), {
    name: 'ChildError',
    message: 'The process doubling: first line',
  });
  await assert.rejects(child.ask('what'), /unknown question what/);
  await child.stop();
  await child.stop();
  await assert.rejects(child.ask('double', 1), /The process doubling is gone/);
  assert.throws(() => process.kill(child.pid, 0), { code: 'ESRCH' });
});

test('whoever waits for a child that dies learns how it died', async () => {
  const child = startChild('dying', program);
  await assert.rejects(child.ask('die'), /The process dying ended \(exit code 7, last words: a last word\)/);
  await child.stop();
});

test('children end when their parent is killed with SIGKILL', async () => {
  const parent = join(folder, 'parent.mjs');
  writeFileSync(
    parent,
    `import { startChild } from '${here('spawn.ts')}';
const child = startChild('orphan', ${JSON.stringify(program)});
await child.ask('double', 1);
console.log(child.pid);
setInterval(() => {}, 1000);`,
  );
  const killed = spawn(process.execPath, [parent], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [text] = await once(killed.stdout, 'data');
  killed.kill('SIGKILL');
  await once(killed, 'exit');
  const pid = Number(String(text).trim());
  assert.ok(pid > 0);
  for (;;) {
    try {
      process.kill(pid, 0);
    } catch {
      break;
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
});
