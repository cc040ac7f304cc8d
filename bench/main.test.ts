import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { readNumber, readObject, readText } from './process/read.ts';
import { makers } from './server/shop.ts';

const folder = mkdtempSync(join(tmpdir(), 'counterfoil-bench-test-'));
after(() => rmSync(folder, { recursive: true }));

async function bench(...args: readonly string[]) {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'main.ts'), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    // What the run leaves behind in the folder for temporary files is seen.
    env: { ...process.env, TMPDIR: folder },
  });
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  const [code] = await once(child, 'close');
  return { code: Number(code), out, err };
}

function list(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  assert.ok(Array.isArray(value));
  return value.map((entry: unknown) => readObject(entry, 'entry'));
}

/** Answers that a server must have given: requests of a round times rounds, and in a burst one sale each. */
function expected(scenario: string, maker: string, size: Readonly<Record<string, unknown>>) {
  const rounds = readNumber(size, 'rounds');
  const all = rounds * readNumber(size, 'requests');
  if (maker === 'bare') return { 200: all };
  if (scenario === 'burst') return { 200: rounds, 402: all - rounds };
  return scenario.startsWith('paid') ? { 200: all } : { 402: all };
}

test('a quick comparison answers every request of every server as it should, and says what it found as JSON', async () => {
  const { code, out, err } = await bench('seller', '--quick', '--json');
  assert.ok(code === 0 || code === 1, `exit code ${code}: ${err}`);
  const figures = readObject(JSON.parse(out), 'figures');
  assert.equal(figures.holds, code === 0);
  const machine = readObject(figures.machine, 'machine');
  assert.deepEqual([machine.node, Number(machine.cpus) > 0], [process.versions.node, true]);

  const sizes = readObject(figures.sizes, 'sizes');
  const scenarios = readObject(figures.scenarios, 'scenarios');
  assert.deepEqual(Object.keys(scenarios), ['unpaid', 'unpaid-many', 'paid-local', 'paid-http', 'burst']);
  for (const [name, section] of Object.entries(scenarios)) {
    const rows = list(readObject(section, name).rows);
    assert.ok(rows.length >= 10, `${name} has ${rows.length} servers`);
    assert.deepEqual(new Set(rows.map(({ maker }) => maker)), new Set(makers));
    for (const row of rows) {
      const who = `${name}: ${readText(row, 'server')}`;
      const size = readObject(sizes[name], 'size');
      assert.deepEqual(row.statuses, expected(name, readText(row, 'maker'), size), who);
      assert.ok(readNumber(row, 'cpuMicros') > 0, who);
      for (const [figure, value] of Object.entries(row))
        assert.ok(!figure.startsWith('over') || value === null || Number.isFinite(value), `${who} ${figure}`);
      // Nobody's handler runs unpaid; ours runs once for each payment, however many copies of it there are.
      if (row.maker === 'ours') assert.equal(row.handlerRuns, Object(row.statuses)[200] ?? 0, who);
    }
  }

  const goals = list(figures.goals);
  assert.equal(
    figures.holds,
    goals.every(({ met }) => met === true),
  );
  const names = new Set(goals.map((goal) => goal.name));
  assert.deepEqual(
    names,
    new Set(['unpaid-adds', 'unpaid-share', 'paid-share', 'burst-runs', 'burst-before-end', 'burst-losers']),
  );
  for (const { measured, limit, met } of goals)
    assert.equal(met, typeof measured === 'number' && measured <= Number(limit));
  assert.match(err, /burst: round 1 of 1/);
  assert.deepEqual(readdirSync(folder), []);
});

test('one scenario is shown as a table for people, with a profile of our servers if one is wanted', async () => {
  const profiles = join(folder, 'profiles');
  const { code, out } = await bench('seller', '--quick', '--only', 'unpaid', '--profile', profiles);
  assert.ok(code === 0 || code === 1);
  assert.match(out, /^ {2}ours-express .*\d/m);
  assert.match(out, /^ {2}(?:met {3}|MISSED) +unpaid-adds +ours-node /m);
  assert.match(out, /ours-node: where the time goes/);
  assert.match(out, /Ours checks every signature/);
  assert.doesNotMatch(out, /paid-http/);
  assert.ok(existsSync(join(profiles, 'unpaid-ours-node.cpuprofile')));
});

test('what is asked wrongly is told with the usage and exit code 2; help is no mistake', async () => {
  for (const args of [
    [],
    ['buyer'],
    ['seller', '--only', 'upaid'],
    ['seller', '--fast'],
    ['seller', 'now'],
    ['stores', '--only', 'oracle'],
    ['stores', '--profile', 'there'],
  ]) {
    const { code, out, err } = await bench(...args);
    assert.deepEqual([code, out], [2, ''], args.join(' '));
    assert.match(err, /^bench: .*\nusage: npm run bench/, args.join(' '));
  }
  const help = await bench('--help');
  assert.equal(help.code, 0);
  assert.match(help.out, /--quick/);
});

test('a run that a person interrupts ends with exit code 3 and leaves no process and no file', async () => {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'main.ts'), 'seller', '--quick'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, TMPDIR: folder },
  });
  // The first line on standard error comes once every server of the first scenario is up.
  await once(child.stderr, 'data');
  child.kill('SIGINT');
  child.stderr.resume();
  const [code] = await once(child, 'close');
  assert.equal(code, 3);
  assert.deepEqual(
    readdirSync(folder).filter((name) => name !== 'profiles'),
    [],
  );
});
