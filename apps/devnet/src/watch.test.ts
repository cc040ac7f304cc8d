import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { watchOver } from './watch.ts';

/** A process that does nothing until it is killed. */
const IDLE = 'setInterval(() => {}, 1000)';

/** A parent that starts an idle child, has it watched, prints the child's pid and then does nothing. */
const PARENT = `
import { spawn } from 'node:child_process';
import { watchOver } from ${JSON.stringify(new URL('./watch.ts', import.meta.url).href)};
const child = spawn(process.execPath, ['-e', ${JSON.stringify(IDLE)}], { detached: true, stdio: ['ignore', 'inherit', 'ignore'] });
watchOver(child.pid);
process.stdout.write(child.pid + '\\n');
`;

describe('the watcher', () => {
  test('a child does not survive its parent, even when the parent is killed with SIGKILL', async () => {
    const parent = spawn(process.execPath, ['--input-type=module', '-e', PARENT], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = await once(parent.stdout, 'data');
    assert.match(String(line), /^\d+\n$/);
    const closed = once(parent.stdout, 'close');
    parent.kill('SIGKILL');
    // The grandchild holds the same output open; it closes when the last of the two is gone.
    await closed;
  });

  test('a released child is left alone', async () => {
    const child = spawn(process.execPath, ['-e', IDLE], { stdio: 'ignore' });
    const watch = watchOver(child.pid ?? 0);
    await watch.release();
    await watch.release();
    assert.equal(child.exitCode ?? child.signalCode, null);
    const exit = once(child, 'exit');
    child.kill();
    assert.deepEqual(await exit, [null, 'SIGTERM']);
  });
});
