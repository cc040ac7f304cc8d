import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

const main = join(import.meta.dirname, '..', 'main.ts');
/** The demonstration's own temporary files go here, so that what it leaves can be seen. */
const folder = mkdtempSync(join(tmpdir(), 'counterfoil-command-'));
const env = { ...process.env, TMPDIR: folder };
after(() => rmSync(folder, { recursive: true }));

type Figures = {
  holds: boolean;
  complete: boolean;
  burst: { n: number; handlerRuns: number; settles: number; ok: number; losersP99Ms: number };
  replay: { handlerRuns: number };
  usedElsewhere: { status: number; handlerRuns: number; unusedStatus: number };
  binding: { echoed: object; required: { otherHost: number }; dither: object };
  redelivery: { status: number; charged: number };
  lostSettle: { calls: number; transfers: number; deliveries: number; payable402: number };
  twins: { transfers: number; deliveries: number };
  crash: { transfers: number; deliveries: number };
  chain: { transfers: number; authorizationUsed: number };
  official: {
    burst: { handlerRuns: number };
    substitution: { status: number };
    binding: { echoed: { status: number; handlerRuns: number } };
    lostSettle: { transfers: number; deliveries: number };
  };
  timings: { totalMs: number };
};

test('the demonstration, end to end on a real chain: every promise holds, and nothing is left behind', () => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [main, 'demo', '--json', '--burst', '10', '--work-ms', '1000'],
    { encoding: 'utf8', env },
  );
  assert.equal(status, 0, stderr);
  assert.equal(stdout.trim().split('\n').length, 1);
  const figures = JSON.parse(stdout) as Figures;
  const { burst, lostSettle, chain, official } = figures;
  assert.deepEqual([figures.holds, figures.complete], [true, true]);
  assert.deepEqual([burst.n, burst.handlerRuns, burst.settles, burst.ok], [10, 1, 1, 1]);
  assert.equal(typeof burst.losersP99Ms, 'number');
  assert.equal(figures.replay.handlerRuns, 0);
  assert.deepEqual(figures.usedElsewhere, { status: 409, handlerRuns: 0, unusedStatus: 402 });
  assert.deepEqual(figures.binding, {
    echoed: { status: 402, handlerRuns: 0 },
    required: { otherBody: 402, otherMethod: 402, otherHost: 421, ownClient: 200 },
    dither: { stockClient: 200, crossUse: 402 },
  });
  assert.deepEqual([figures.redelivery.status, figures.redelivery.charged], [200, 0]);
  assert.ok(lostSettle.calls <= 3);
  assert.deepEqual([lostSettle.transfers, lostSettle.deliveries, lostSettle.payable402], [1, 1, 0]);
  assert.deepEqual([figures.twins.transfers, figures.twins.deliveries], [20, 20]);
  assert.deepEqual([figures.crash.transfers, figures.crash.deliveries], [1, 1]);
  assert.equal(chain.transfers, chain.authorizationUsed);
  assert.deepEqual([official.lostSettle.transfers, official.lostSettle.deliveries], [3, 0]);
  assert.equal(official.substitution.status, 200);
  assert.deepEqual([official.binding.echoed.status, official.binding.echoed.handlerRuns], [200, 1]);
  assert.ok(official.burst.handlerRuns > 1);
  assert.ok(stderr.includes('starting a local chain'));
  assert.deepEqual(readdirSync(folder), []);
});

test('a demonstration whose chain cannot start could not be told, and says why in both places', () => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [main, 'demo', '--json', '--state', join(folder, 'absent', 'chain.state')],
    { encoding: 'utf8', env },
  );
  assert.equal(status, 3);
  const figures = JSON.parse(stdout) as { holds: boolean; failure: { part: string; why: string } };
  assert.deepEqual([figures.holds, figures.failure.part], [false, 'boot']);
  assert.match(figures.failure.why, /Cannot write the state file/);
  assert.match(stderr, /the part "boot" could not run: .*Cannot write/);
  assert.deepEqual(readdirSync(folder), []);
});

test('Ctrl-C ends all processes and removes the files', async () => {
  const child = spawn(process.execPath, [main, 'demo'], { stdio: ['ignore', 'pipe', 'pipe'], env });
  let said = '';
  for await (const text of child.stderr.iterator({ destroyOnReturn: false })) {
    said += String(text);
    if (said.includes('First payment')) break;
  }
  child.stdout.resume();
  child.stderr.resume();
  child.kill('SIGINT');
  assert.deepEqual(await once(child, 'close'), [130, null]);
  assert.deepEqual(readdirSync(folder), []);
});
