import assert from 'node:assert/strict';
import { appendFileSync, existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Daemon, type Plan, runTool, startDaemon } from './daemon.ts';

/** A server of one line: it notes that it started, starts a child of its own, and waits. */
const script = 'echo started >> notes; sleep 100 & exec sleep 100';

function planned(line: string = script): Plan {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-daemon-'));
  return {
    program: '/bin/sh',
    args: ['-c', line],
    folder,
    signals: { stop: 'SIGTERM', end: 'SIGTERM' },
    ready: () => existsSync(join(folder, 'notes')),
  };
}

async function started(t: TestContext, plan: Plan): Promise<Daemon> {
  const daemon = await startDaemon(plan);
  t.after(daemon.stop);
  return daemon;
}

const runs = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

test('a server that is started again finds its folder as it was, and loses it at its stop', async (t) => {
  const plan = planned('echo started >> notes; exec sleep 100');
  const daemon = await started(t, plan);
  const first = daemon.pid;
  await daemon.restart();
  assert.notEqual(daemon.pid, first);
  assert.equal(runs(first), false);
  assert.equal(readFileSync(join(plan.folder, 'notes'), 'utf8').includes('started'), true);
  await daemon.stop();
  await daemon.stop();
  assert.deepEqual([runs(daemon.pid), existsSync(plan.folder)], [false, false]);
  await assert.rejects(daemon.restart(), /was stopped for good/);
});

test('a kill waits for what the server had started, for that holds its data still', async (t) => {
  const plan = planned('sleep 0.2 & echo $! > child; echo started > notes; exec sleep 100');
  const daemon = await started(t, plan);
  const child = Number(readFileSync(join(plan.folder, 'child'), 'utf8'));
  await daemon.kill();
  assert.deepEqual([runs(daemon.pid), isZombieOrGone(child)], [false, true]);
  await daemon.kill();
});

/** An orphan that ended and that nobody has asked about yet still has a pid. */
function isZombieOrGone(pid: number): boolean {
  if (!runs(pid)) return true;
  return process.platform === 'linux' && readFileSync(`/proc/${pid}/cmdline`, 'utf8') === '';
}

test('a server that does not start is an error with its last words, and leaves no folder', async () => {
  const plan = planned('echo this port is not for you >&2; exit 3');
  await assert.rejects(startDaemon(plan), { name: 'DaemonError', message: /not for you$/ });
  assert.equal(existsSync(plan.folder), false);
  const absent = { ...planned(), program: '/no/such/program' };
  await assert.rejects(startDaemon(absent), /\/no\/such\/program cannot be run/);
  assert.equal(existsSync(absent.folder), false);
});

test('what has to be done once is done before the first start alone', async (t) => {
  const plan = planned('cat once > notes; exec sleep 100');
  const prepare = async (): Promise<void> => appendFileSync(join(plan.folder, 'once'), 'prepared ');
  const daemon = await started(t, { ...plan, prepare });
  await daemon.restart();
  assert.equal(readFileSync(join(plan.folder, 'once'), 'utf8'), 'prepared ');
});

test('a failing tool of a server is an error with its complaint', async () => {
  const options = { folder: tmpdir() };
  await runTool('/bin/sh', ['-c', 'exit 0'], options);
  await assert.rejects(runTool('/bin/sh', ['-c', 'echo full disk >&2; exit 1'], options), /full disk/);
});
