/** The program as its caller sees it: exit codes, the table, JSON, and a trace that tells what happened. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { run } from './main.ts';
import { readOptions } from './options.ts';
import { failuresOf, tableOf } from './report.ts';
import { nothing } from './sum.ts';

async function call(...args: readonly string[]): Promise<{ readonly code: number; readonly text: string }> {
  const lines: string[] = [];
  const code = await run(args, { out: (text) => lines.push(text) });
  return { code, text: lines.join('\n') };
}

test('what nobody can play is refused with the usage and exit code 2', async () => {
  for (const args of [
    ['--bogus'],
    ['--seeds', '0'],
    ['--seeds', 'many'],
    ['--seed=-1'],
    ['--seed', '1', '--seeds', '2'],
    ['--trace'],
    ['--from', '4294967295', '--seeds', '2'],
    ['words'],
  ]) {
    const { code, text } = await call(...args);
    assert.equal(code, 2, args.join(' '));
    assert.match(text, /^[^\n]+\nusage: npm run sim/, args.join(' '));
  }
});

test('the defaults are a thousand seeds from the first, on every core', () => {
  const read = readOptions([], 2);
  assert.deepEqual(read, {
    ok: true,
    options: { from: 1, seeds: 1_000, trace: false, json: false, workers: 2 },
  });
});

test('seeds that hold exit with 0, and a program reads how many there were', async () => {
  const { code, text } = await call('--from', '201', '--seeds', '6', '--workers', '1', '--json');
  const read = JSON.parse(text);
  assert.equal(code, 0, text);
  assert.deepEqual([read.seeds, read.violations, read.failures], [6, 0, []]);
  assert.ok(read.counts.operations > 100 && read.answers.ok > 0, text);
});

test('threads play the same seeds as one does', async () => {
  const [one, two] = [
    await call('--seeds', '30', '--workers', '1', '--json'),
    await call('--seeds', '30', '--workers', '2', '--json'),
  ];
  assert.deepEqual({ ...JSON.parse(two.text), seconds: 0 }, { ...JSON.parse(one.text), seconds: 0 });
});

test('a trace says who did what at which moment, and how the record stood before and after', async () => {
  const { text } = await call('--seed', '3', '--trace');
  assert.match(text, /^seed 3: flow \w+, processes \d, lies \w+/);
  assert.match(
    text,
    /^ +[\d ]+ ms {2}buyer {5}#\d+ presents P1 for \/weather\?city=\w+ at shop \d\.\d \(\w+\)$/m,
  );
  assert.match(text, /^ +[\d ]+ ms {2}shop \d\.\d {2}take P\d: absent -> \w+/m);
  assert.match(text, /^ +[\d ]+ ms {2}buyer {5}#\d+ P\d: \d{3} \w+/m);
  assert.match(text, /\neverything holds$/);
});

test('a failure names its seed, the line that repeats it, and the law', () => {
  const faults = ['I1: a new owner while the lease of a is alive: P1'];
  assert.equal(
    failuresOf([{ seed: 9, faults }]),
    'seed 9: npm run sim -- --seed 9 --trace\n  I1: a new owner while the lease of a is alive: P1',
  );
  const table = tableOf({ ...nothing, seeds: 3, violations: 1 }, 1.25, {});
  assert.match(table, /seeds with violations +1\ntime +1\.3 s$/);
});
