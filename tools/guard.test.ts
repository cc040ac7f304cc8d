import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { advise } from './guard.mjs';

const linux = { version: '24.22.3', system: 'linux-x64', installed: true };

test('a machine with a Node that is new enough hears nothing', () => {
  assert.equal(advise(linux), undefined);
  assert.equal(advise({ ...linux, version: '22.19.0' }), undefined);
  assert.equal(advise({ version: '26.0.0', system: 'win32-x64', installed: true }), undefined);
});

test('a machine with an old Node hears which one is needed and how to get it', () => {
  for (const version of ['22.18.0', '20.20.2', '18.0.0', 'v?']) {
    assert.match(
      advise({ ...linux, version }) ?? '',
      /Node 22\.19 or newer is needed.*npm ci --include=optional/,
    );
    assert.match(advise({ ...linux, version, installed: false }) ?? '', /npm ci \(it brings Node 24/);
    assert.match(advise({ version, system: 'darwin-arm64', installed: true }) ?? '', /Install it/);
  }
});

test('a fresh clone is told to install first', () => {
  assert.match(advise({ ...linux, installed: false }) ?? '', /^Nothing is installed yet\. Run: npm ci$/);
});

test('the guard is quiet and exits 0 under the Node that runs these tests', () => {
  const guard = fileURLToPath(new URL('./guard.mjs', import.meta.url));
  const run = spawnSync(process.execPath, [guard], { encoding: 'utf8' });
  assert.deepEqual([run.status, run.stdout, run.stderr], [0, '', '']);
});
