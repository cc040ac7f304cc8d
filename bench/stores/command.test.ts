import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readNumber, readObject } from '../process/read.ts';
import { openBare } from './bare.ts';
import { runStores } from './command.ts';
import { contendersOf, isShared, storeNames } from './contender.ts';
import { keysOf, scenariosOf } from './scenario.ts';

const never = new AbortController().signal;

test('a quick comparison of all stores sees exactly one winner of every key in every scenario', async () => {
  let [out, err] = ['', ''];
  const holds = await runStores(
    { stores: storeNames, quick: true, json: true },
    { out: (text) => (out += text), err: (text) => (err += text), signal: never },
  );
  const figures = readObject(JSON.parse(out), 'figures');
  assert.deepEqual([holds, figures.holds, figures.faults], [true, true, []]);
  const scenarios = readObject(figures.scenarios, 'scenarios');
  for (const scenario of scenariosOf('quick')) {
    const { rows } = readObject(scenarios[scenario.name], scenario.name);
    const stores = storeNames.filter((store) => scenario.processes === 1 || isShared(store));
    assert.ok(Array.isArray(rows));
    assert.deepEqual(
      rows.map(({ contender }: { contender: string }) => contender),
      stores.flatMap(contendersOf).map(({ name }) => name),
    );
    for (const row of rows) {
      assert.equal(readNumber(row, 'wrongKeys'), 0);
      assert.ok(readNumber(row, 'perSecond') > 0 && keysOf(scenario) > 0);
    }
  }
  assert.match(err, /four-paid: round 1 of 1/);
});

test('people get a table, and a run that is interrupted is no measurement', async () => {
  let out = '';
  const outside = { out: (text: string) => (out += text), err: () => {} };
  await runStores({ stores: ['memory'], quick: true, json: false }, { ...outside, signal: never });
  assert.match(out, /^paid: one process, 50 whole payments in flight$/m);
  assert.match(out, /^ {2}ours-memory +\d/m);
  const stopped = AbortSignal.abort(new Error('interrupted'));
  await assert.rejects(
    runStores({ stores: ['memory'], quick: true, json: true }, { ...outside, signal: stopped }),
    /interrupted/,
  );
});

test('a bare insert of SQLite wins a key once, over two connections to one file', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-bench-test-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const [contender] = contendersOf('sqlite');
  assert.ok(contender !== undefined);
  const place = { contender, at: join(folder, 'claims.sqlite'), prefix: '' };
  const [one, two] = [await openBare(place), await openBare(place)];
  assert.deepEqual([await one.take('a'), await two.take('a'), await two.pay('b')], [true, false, true]);
  await one.close();
  await two.close();
  assert.equal(existsSync(place.at), true);
});
