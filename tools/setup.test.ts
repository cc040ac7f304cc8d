import assert from 'node:assert/strict';
import { test } from 'node:test';
import { has, type Need, plan } from './setup.ts';

const needs: readonly Need[] = [
  { command: 'one', packages: ['one'], why: 'first reason' },
  { command: 'two', packages: ['two', 'two-dev'], why: 'second reason' },
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
  assert.deepEqual(next, { kind: 'install', packages: ['two', 'two-dev'] });
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
});
