import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { isStarted } from './entry.ts';

const folder = mkdtempSync(join(tmpdir(), 'counterfoil-entry-'));
after(() => rmSync(folder, { recursive: true }));

test('a module knows whether it is the program, through a link too', () => {
  const program = join(folder, 'program.mjs');
  const entry = pathToFileURL(join(import.meta.dirname, 'entry.ts')).href;
  writeFileSync(
    program,
    `import { isStarted } from '${entry}';\nconsole.log(isStarted(import.meta.filename));`,
  );
  symlinkSync(program, join(folder, 'link.mjs'));
  for (const name of ['program.mjs', 'link.mjs'])
    assert.equal(
      spawnSync(process.execPath, [join(folder, name)], { encoding: 'utf8' }).stdout,
      'true\n',
      name,
    );
});

test('a module that was imported is not the program', () => {
  assert.equal(isStarted(join(import.meta.dirname, 'entry.ts')), false);
  assert.equal(isStarted(join(folder, 'absent.ts')), false);
});
