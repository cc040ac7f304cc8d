import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { startActor } from './spawn.ts';

const folder = mkdtempSync(join(tmpdir(), 'counterfoil-spawn-'));
after(() => rmSync(folder, { recursive: true }));

const here = (name: string): string => pathToFileURL(join(import.meta.dirname, name)).href;
const program = join(folder, 'child.mjs');
writeFileSync(
  program,
  `import { serveParent } from '${here('serve.ts')}';
serveParent({
  double: (n) => 2 * n,
  fail: () => { throw new Error('it failed'); },
  die: () => { console.error('a last word'); process.exit(7); },
  hang: () => new Promise(() => {}),
}, async () => {});
setInterval(() => {}, 1000);`,
);

test('a question is answered, a fault is an error with the name of the process', async () => {
  const actor = startActor('doubling', program);
  assert.deepEqual(await Promise.all([actor.ask('double', 1), actor.ask('double', 2)]), [2, 4]);
  await assert.rejects(actor.ask('fail'), { name: 'ActorError', message: 'The doubling process: it failed' });
  await actor.stop();
  await actor.stop();
  await assert.rejects(actor.ask('double', 1), /The doubling process is gone/);
});

test('whoever waits for a process that dies learns how it died', async () => {
  const actor = startActor('dying', program);
  await assert.rejects(actor.ask('die'), /The dying process ended \(exit code 7, last words: a last word\)/);
  await actor.stop();
});

test('kill ends a process that would not end by itself', async () => {
  const actor = startActor('hanging', program);
  assert.equal(await actor.ask('double', 1), 2);
  const waiting = assert.rejects(actor.ask('hang'), /ended \(SIGKILL\)/);
  await actor.kill();
  await waiting;
  assert.throws(() => process.kill(actor.pid, 0), { code: 'ESRCH' });
});

test('a file that cannot be run is an error and no process', async () => {
  const actor = startActor('absent', join(folder, 'absent.mjs'));
  await assert.rejects(actor.ask('double', 1), /absent process/);
  await actor.stop();
});

test('children end when their parent is killed with SIGKILL', async () => {
  const parent = join(folder, 'parent.mjs');
  writeFileSync(
    parent,
    `import { startActor } from '${here('spawn.ts')}';
const actor = startActor('orphan', ${JSON.stringify(program)});
await actor.ask('double', 1);
console.log(actor.pid);`,
  );
  const child = spawn(process.execPath, [parent], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [text] = await once(child.stdout, 'data');
  const pid = Number(text);
  child.kill('SIGKILL');
  // The orphan holds the other end of this pipe open as long as it lives.
  await once(child, 'close');
  await gone(pid);
});

/** Looks until the process is gone; the run's own limit ends a wait in vain. */
async function gone(pid: number): Promise<void> {
  for (;;) {
    try {
      process.kill(pid, 0);
    } catch {
      return;
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
}
