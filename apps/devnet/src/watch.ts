/**
 * A tiny process that outlives a hard kill of this one: it holds a pipe to us, and when the pipe closes without
 * a word it kills the process we were responsible for. Node has no other way to notice a SIGKILL of itself.
 * Its program is a string, so that it is the same in the source tree, in the package and on every platform.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

/** Reads until a byte (we let go: leave the pid alone) or the end of the pipe (we died: kill it). */
const PROGRAM = `
const pid = Number(process.argv[1]);
process.stdin.on('data', () => process.exit(0));
process.stdin.on('error', () => {});
process.stdin.on('close', () => {
  try { process.kill(pid, 'SIGKILL'); } catch {}
  process.exit(0);
});
`;

/** The hold on a watched process: `release` ends the watcher, and never touches the watched pid. */
export type Watch = {
  readonly pid: number | undefined;
  release(): Promise<void>;
};

/** Kills `pid` with SIGKILL as soon as this process is gone, however it went, unless released before. */
export function watchOver(pid: number): Watch {
  const watcher = spawn(process.execPath, ['--input-type=commonjs', '-e', PROGRAM, String(pid)], {
    // Its own process group: what kills ours, terminal or supervisor, must not reach the watcher.
    detached: true,
    // Loaders and flags meant for this program are not for the watcher.
    env: { ...process.env, NODE_OPTIONS: '' },
    stdio: ['pipe', 'ignore', 'ignore'],
    windowsHide: true,
  });
  watcher.on('error', () => {});
  watcher.stdin.on('error', () => {});
  return { pid: watcher.pid, release: () => release(watcher) };
}

async function release(watcher: ChildProcess): Promise<void> {
  if (watcher.pid === undefined || watcher.exitCode !== null || watcher.signalCode !== null) return;
  const exit = once(watcher, 'exit');
  watcher.stdin?.end('.');
  await exit;
}
