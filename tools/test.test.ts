import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { find, judge } from './test.ts';

const folder = mkdtempSync(join(tmpdir(), 'counterfoil-test-'));
after(() => rmSync(folder, { recursive: true }));

function runOn(name: string, source: string, ...more: string[]): { status: number | null; output: string } {
  const file = join(folder, `${name}.test.ts`);
  writeFileSync(file, source);
  const env = { ...process.env, NODE_TEST_CONTEXT: undefined };
  const run = spawnSync(process.execPath, [join(import.meta.dirname, 'test.ts'), file, ...more], {
    encoding: 'utf8',
    env,
  });
  return { status: run.status, output: run.stdout + run.stderr };
}

const head = "import { test } from 'node:test';\n";

test('a run is a success only when something ran, nothing failed and the floor was reached', () => {
  const good = { files: 1, passed: 3, failed: 0, floor: 3 };
  assert.equal(judge(good), undefined);
  assert.equal(judge({ ...good, files: 0 }), 'no test file was found');
  assert.equal(judge({ ...good, passed: 0 }), 'no test ran');
  assert.equal(judge({ ...good, failed: 1 }), '1 of 4 failed');
  assert.equal(judge({ ...good, floor: 4 }), '3 tests passed, at least 4 were expected');
});

test('test files are found at any depth, and nothing else is', () => {
  writeFileSync(join(folder, 'plain.ts'), '');
  writeFileSync(join(folder, 'found.test.ts'), '');
  assert.deepEqual(find(folder), [join(folder, 'found.test.ts')]);
  assert.deepEqual(find(join(folder, 'nowhere')), []);
});

test('the runner exits 0 on passing tests and prints the closing lines', () => {
  const { status, output } = runOn(
    'passing',
    `${head}test('one', () => {});\ntest('two', () => {});`,
    '--at-least',
    '2',
  );
  assert.equal(status, 0, output);
  assert.match(output, /ℹ tests 2\n/);
});

test('the runner exits 1 on a failing test, an empty file, a missing path and a missed floor', () => {
  assert.equal(runOn('failing', `${head}test('one', () => { throw new Error('no'); });`).status, 1);
  assert.equal(runOn('broken', 'throw new Error("while loading");').status, 1);
  assert.equal(runOn('empty', 'export {};').status, 1);
  assert.equal(runOn('few', `${head}test('one', () => {});`, '--at-least', '2').status, 1);
  assert.equal(
    spawnSync(process.execPath, [join(import.meta.dirname, 'test.ts'), 'no/such/folder']).status,
    1,
  );
});

test('a test that leaves a timer or a server running fails the run instead of hanging it', () => {
  const leak = runOn(
    'leak',
    `${head}test('one', () => { setInterval(() => {}, 1000); });`,
    '--linger',
    '300',
  );
  assert.equal(leak.status, 1);
  assert.match(leak.output, /the tests left something running: .*Timeout/);
});
