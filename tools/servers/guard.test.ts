import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

/** A process that guards a folder and a child, says the word, and waits. */
const program = `
import { spawn } from 'node:child_process';
import { guardOver } from '${pathToFileURL(join(import.meta.dirname, 'guard.ts')).href}';
const [folder, word] = process.argv.slice(1);
const child = spawn('sleep', ['100'], { stdio: ['ignore', 'inherit', 'ignore'] });
const guard = guardOver(folder, 'TERM');
guard.watch(child.pid);
if (word === 'stopped') guard.watch(undefined);
if (word === 'released') guard.release();
if (word !== 'guarded') child.kill();
console.log(word);
setInterval(() => {}, 1000);
`;

/** Runs it, kills it, and resolves when nothing of it runs any more, its child and its shell included. */
async function killed(word: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-guard-'));
  const child = spawn(process.execPath, ['--input-type=module', '-e', program, folder, word], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const closed = once(child, 'close');
  await once(child.stdout, 'data');
  child.kill('SIGKILL');
  // Its standard output is inherited by its child, so this waits for the end of that as well.
  await closed;
  return folder;
}

async function vanishes(folder: string): Promise<void> {
  while (existsSync(folder)) await delay(5);
}

test('a server ends with a test process that is killed, and its folder goes too', async () => {
  await vanishes(await killed('guarded'));
});

test('the folder of a server that was down goes with the test process too', async () => {
  await vanishes(await killed('stopped'));
});

test('a folder that was let go of is left to its owner', async () => {
  const folder = await killed('released');
  await vanishes(await killed('stopped'));
  assert.equal(existsSync(folder), true);
  rmSync(folder, { recursive: true });
});
