import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { has, locate, missing, type Need, plan, postgresFolders, withoutServices } from './setup.ts';

const needs: readonly Need[] = [
  { command: 'one', packages: ['one'], why: 'first reason' },
  { command: 'two', packages: ['two', 'two-dev'], service: 'twod', why: 'second reason' },
];
const machine =
  (...commands: string[]) =>
  (command: string) =>
    commands.includes(command);

test('a machine that has every program is left alone', () => {
  assert.deepEqual(plan(needs, { has: machine('one', 'two'), root: true }), { kind: 'ready' });
});

test('root on Debian gets only the packages that are missing', () => {
  const next = plan(needs, { has: machine('one', 'apt-get'), root: true });
  assert.deepEqual(next, { kind: 'install', packages: ['two', 'two-dev'], services: ['twod'] });
});

test('anybody else is given the line to run and the reason', () => {
  const debian = plan(needs, { has: machine('one', 'apt-get'), root: false });
  assert.deepEqual(debian, {
    kind: 'ask',
    message: 'two is missing (second reason). Run: sudo apt-get install -y two two-dev',
  });
  const other = plan(needs, { has: machine(), root: true });
  assert.match(
    other.kind === 'ask' ? other.message : '',
    /install one and two with this system's package manager/,
  );
});

test('a program is looked for on PATH', () => {
  assert.equal(has('npm'), true);
  assert.equal(has('no-such-program-here'), false);
  assert.equal(locate('no-such-program-here'), undefined);
});

test('of several PostgreSQL beside each other, none of them on PATH, the newest is taken', (t) => {
  const home = mkdtempSync(join(tmpdir(), 'counterfoil-setup-'));
  t.after(() => rmSync(home, { recursive: true }));
  for (const name of ['9.6', '15', '100', 'doc']) mkdirSync(join(home, name));
  assert.deepEqual(postgresFolders(home), [
    join(home, '100', 'bin'),
    join(home, '15', 'bin'),
    join(home, '9.6', 'bin'),
  ]);
  assert.deepEqual(postgresFolders(join(home, 'none')), []);
});

test('whoever lacks a database server is told the package and the reason', () => {
  assert.equal(
    missing('redis-server', machine('apt-get')),
    'redis-server is missing (the tests keep claims in a real Redis). Run: sudo apt-get install -y redis-server',
  );
  assert.match(missing('postgres', machine('apt-get')), /Run: sudo apt-get install -y postgresql$/);
  assert.equal(missing('unheard-of', machine()), 'unheard-of is missing.');
});

function policyIn(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-setup-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return join(folder, 'policy-rc.d');
}

test('while packages are installed a policy forbids every service, and it goes with the installation', (t) => {
  const policy = policyIn(t);
  const status = withoutServices(() => spawnSync(policy, ['nginx', 'start']).status, policy);
  assert.deepEqual([status, existsSync(policy)], [101, false]);
  const fail = (): never => {
    throw new Error('no network');
  };
  assert.throws(() => withoutServices(fail, policy), /no network/);
  assert.equal(existsSync(policy), false);
});

test('an interrupt during the installation does not leave the policy behind', (t) => {
  const policy = policyIn(t);
  const listeners = process.listenerCount('SIGINT');
  const heard = withoutServices(() => process.listenerCount('SIGINT'), policy);
  assert.deepEqual([heard, process.listenerCount('SIGINT')], [listeners + 1, listeners]);
});

test('a policy that the machine has already stays as it is', (t) => {
  const policy = policyIn(t);
  writeFileSync(policy, '#!/bin/sh\nexit 104\n', { mode: 0o755 });
  assert.equal(
    withoutServices(() => spawnSync(policy).status, policy),
    104,
  );
  assert.equal(existsSync(policy), true);
});
