import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';

const folder = mkdtempSync(join(tmpdir(), 'counterfoil-serve-'));
after(() => rmSync(folder, { recursive: true }));

const program = join(folder, 'child.mjs');
const serve = pathToFileURL(join(import.meta.dirname, 'serve.ts')).href;
writeFileSync(
  program,
  `import { serveParent } from '${serve}';
serveParent({ double: (n) => 2 * n, fail: () => { throw new Error('first line\\nsecond'); } }, async () => {
  console.log('closed');
});
console.log('serving');`,
);

async function start() {
  const child = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  const { stdout } = child;
  assert.ok(stdout);
  let out = '';
  stdout.on('data', (text) => {
    out += String(text);
  });
  await once(stdout, 'data');
  return { child, stdout, said: () => out };
}

test('a child answers what it is asked, and says in one line what went wrong', async () => {
  const { child } = await start();
  const answers: unknown[] = [];
  for (const message of [
    { id: 1, ask: 'double', input: 21 },
    { id: 2, ask: 'fail' },
    { id: 3, ask: 'what' },
  ]) {
    child.send(message);
    const [answer] = await once(child, 'message');
    answers.push(answer);
  }
  assert.deepEqual(answers, [
    { id: 1, answer: 42 },
    { id: 2, fault: 'first line' },
    { id: 3, fault: 'unknown question what' },
  ]);
  child.disconnect();
  await once(child, 'exit');
});

test('a child tidies up and ends when its parent lets go, and leaves Ctrl-C to its parent', async () => {
  const { child, stdout, said } = await start();
  child.kill('SIGINT');
  child.send({ id: 1, ask: 'double', input: 1 });
  assert.deepEqual(await once(child, 'message'), [{ id: 1, answer: 2 }, undefined]);
  const ended = Promise.all([once(child, 'exit'), once(stdout, 'end')]);
  child.disconnect();
  assert.deepEqual((await ended)[0], [0, null]);
  assert.equal(said(), 'serving\nclosed\n');
});
