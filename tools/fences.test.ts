import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { type Fence, fencesOf, nameOf, writeFences } from './fences.ts';
import { load } from './tidy/source.ts';

const root = resolve(import.meta.dirname, '..');
const compiler = join(root, 'node_modules/typescript/bin/tsc');
const pages = load(root).texts.filter(({ path }) => path.endsWith('.md'));
const fences = pages.flatMap(({ path, text }) => fencesOf(path, text));
/** A fence that runs may start a server on a free port and ends by itself. */
const runTimeoutMs = 30_000;

function compile(name: string, some: readonly Fence[]): { status: number | null; output: string } {
  const folder = join(root, '.counterfoil', name);
  writeFences(folder, some);
  const run = spawnSync(process.execPath, [compiler, '-p', folder], { encoding: 'utf8', cwd: folder });
  return { status: run.status, output: run.stdout + run.stderr };
}

const fence = (code: string): Fence => ({ page: 'docs/a.md', line: 3, code, runs: false });

test('fences are found with their page, their line and whether they run', () => {
  const markdown = 'text\n\n```ts\none();\n```\n```sh\nnpm start\n```\n```ts run\ntwo();\n```\n';
  assert.deepEqual(fencesOf('a.md', markdown), [
    { page: 'a.md', line: 4, code: 'one();\n', runs: false },
    { page: 'a.md', line: 10, code: 'two();\n', runs: true },
  ]);
  assert.equal(nameOf(fence('')), 'docs-a-line-3.ts');
  assert.throws(() => fencesOf('a.md', '```ts\none();'), /a\.md:1 a fence is never closed/);
});

test('a fence that does not fit the sources is found', () => {
  const wrong = compile('fences-wrong', [
    fence("import { noSuchName } from 'counterfoil/problem';\nnoSuchName();\n"),
  ]);
  assert.notEqual(wrong.status, 0);
  assert.match(wrong.output, /docs-a-line-3\.ts.*noSuchName/);
  const right = compile('fences-right', [
    fence("import { problems } from 'counterfoil/problem';\nproblems.payment_required.status;\n"),
  ]);
  assert.equal(right.status, 0, right.output);
});

test('every code fence of the documents compiles against the sources', () => {
  const { status, output } = compile('fences', fences);
  assert.equal(status, 0, output);
});

for (const one of fences.filter(({ runs }) => runs)) {
  test(`the code at ${one.page}:${one.line} runs`, () => {
    const folder = join(root, '.counterfoil', 'fences');
    const run = spawnSync(process.execPath, [nameOf(one)], {
      encoding: 'utf8',
      cwd: folder,
      timeout: runTimeoutMs,
    });
    assert.equal(run.status, 0, run.stdout + run.stderr);
  });
}
