import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

/** A clone in small: the launcher, a program that tells what reached it, and perhaps a bundled Node. */
const folder = mkdtempSync(join(tmpdir(), 'counterfoil-bin-'));
after(() => rmSync(folder, { recursive: true }));

/** Makes the Node that runs the launcher look as old as the one of a current Debian. */
const old =
  "--import=data:text/javascript,Object.defineProperty(process,'versions',{value:{...process.versions,node:'20.20.2'}})";
const program = `
const [first] = process.argv.slice(2);
if (first === 'echo') for await (const chunk of process.stdin) process.stdout.write(String(chunk).toUpperCase());
if (first === 'wait') {
  process.on('SIGTERM', () => process.exit(7));
  setInterval(() => undefined, 1000);
  console.log('waiting');
}
if (first === 'die') process.kill(process.pid, 'SIGKILL');
if (first === 'args') console.log(JSON.stringify(process.argv.slice(2)));
if (first === 'fail') process.exitCode = 3;
`;

function clone(name: string, options: { bundled: boolean }): string {
  const root = join(folder, name);
  const bin = join(root, 'apps/cli/bin');
  const node = join(root, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin');
  for (const path of [bin, join(root, 'apps/cli/src'), node]) mkdirSync(path, { recursive: true });
  copyFileSync(join(import.meta.dirname, 'counterfoil.mjs'), join(bin, 'counterfoil.mjs'));
  writeFileSync(join(root, 'apps/cli/src/main.ts'), program);
  writeFileSync(join(root, 'apps/cli/package.json'), '{ "type": "module" }');
  if (options.bundled) symlinkSync(process.execPath, join(node, 'node'));
  return join(bin, 'counterfoil.mjs');
}

const whole = clone('whole', { bundled: true });
const bare = clone('bare', { bundled: false });

async function waiting(child: ChildProcess): Promise<void> {
  if (child.stdout === null) throw new Error('no standard output');
  await once(child.stdout, 'data');
}

for (const [age, flags] of [
  ['a new Node', []],
  ['an old Node', [old]],
] as const) {
  const run = (args: readonly string[], input = '') =>
    spawnSync(process.execPath, [...flags, whole, ...args], { encoding: 'utf8', input });

  test(`under ${age} the command hands over arguments, input, output and exit code`, () => {
    assert.equal(run(['args', '--json', 'a b', '-']).stdout, '["args","--json","a b","-"]\n');
    assert.equal(run(['echo'], 'abc').stdout, 'ABC');
    assert.equal(run(['fail']).status, 3);
    assert.equal(run(['args']).status, 0);
  });

  test(`under ${age} a signal reaches the program`, async () => {
    const child = spawn(process.execPath, [...flags, whole, 'wait'], { stdio: ['pipe', 'pipe', 'inherit'] });
    await waiting(child);
    child.kill('SIGTERM');
    assert.deepEqual(await once(child, 'exit'), [7, null]);
  });
}

test('a program that was killed is reported as a shell would', () => {
  assert.equal(spawnSync(process.execPath, [old, whole, 'die']).status, 137);
});

test('an old Node without a bundled one is told what to do', () => {
  const run = spawnSync(process.execPath, [old, bare, 'args'], { encoding: 'utf8' });
  assert.deepEqual([run.status, run.stdout], [2, '']);
  assert.match(run.stderr, /Node 22\.19 or newer is needed; this is Node 20\.20\.2/);
});
