import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MisuseError, readOptions, usage } from './option.ts';

test('without arguments every trial runs on every shared store in both flows', () => {
  assert.deepEqual(readOptions([]), {
    trials: ['kills', 'faults', 'copies', 'outages'],
    rounds: 200,
    copies: 50,
    seed: undefined,
    stores: ['sqlite', 'redis', 'postgres'],
    flows: ['authorization', 'upfront'],
    processes: { least: 2, most: 4 },
    json: false,
  });
});

test('trials, stores and flows can be chosen, and come in our order', () => {
  const args = ['copies', 'kills', '--store', 'postgres', '--store', 'sqlite', '--flow', 'upfront', '--seed'];
  const options = readOptions([...args, '0', '--rounds', '3', '--processes', '3', '--copies', '7', '--json']);
  assert.deepEqual(options, {
    trials: ['kills', 'copies'],
    rounds: 3,
    copies: 7,
    seed: 0,
    stores: ['sqlite', 'postgres'],
    flows: ['upfront'],
    processes: { least: 3, most: 3 },
    json: true,
  });
});

test('whoever asks for help gets it, and it names every option', () => {
  assert.equal(readOptions(['--help']), undefined);
  for (const name of ['rounds', 'copies', 'seed', 'store', 'flow', 'processes', 'json'])
    assert.ok(usage.includes(`--${name}`), name);
});

test('what cannot be done is refused with the name of the option', () => {
  const wrong: readonly (readonly [args: readonly string[], why: RegExp])[] = [
    [['--rounds', '0'], /--rounds takes a whole number/],
    [['--rounds', '1.5'], /--rounds/],
    [['--rounds', '-1'], /./],
    [['--seed', '2147483648'], /--seed takes a whole number from 0 to 2147483647/],
    [['--seed', 'x'], /--seed/],
    [['--copies', '1'], /--copies/],
    [['--store', 'mysql'], /--store is one of memory, sqlite, redis, postgres, not "mysql"/],
    [['--flow', 'escrow'], /--flow is one of authorization, upfront, not "escrow"/],
    [['--processes', '1'], /--processes/],
    [['--processes', '4..2'], /--processes/],
    [['--processes', '2..5'], /--processes/],
    [['crashes'], /a trial is one of kills, faults, copies, outages, not "crashes"/],
    [['--what'], /--what/],
    [['--store', 'memory'], /the memory store ends with its process/],
    [['outages', '--store', 'sqlite'], /choose redis or postgres/],
  ];
  for (const [args, why] of wrong) {
    assert.throws(() => readOptions(args), { name: 'MisuseError', message: why }, args.join(' '));
    assert.throws(() => readOptions(args), MisuseError);
  }
  assert.deepEqual(readOptions(['faults', 'copies', '--store', 'memory'])?.stores, ['memory']);
});
