import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ambient } from './ambient.ts';
import { parse } from './source.ts';

const check = (text: string, path = 'lib/src/claim/take.ts'): string[] =>
  ambient(parse(path, text)).map(({ message }) => message.split(' ')[0] ?? '');

test('the clock, the random source, the network and the process are found under their ambient names', () => {
  assert.deepEqual(check('export const a = Date.now();'), ['Date']);
  assert.deepEqual(check('export const a = new Date();'), ['Date']);
  assert.deepEqual(check('export type A = { at: Date };'), ['Date']);
  assert.deepEqual(check('export const a = Math.random();'), ['Math.random']);
  assert.deepEqual(check("export const a = Math['random']();"), ['Math.random']);
  assert.deepEqual(check('export const a = crypto.subtle;'), ['crypto']);
  assert.deepEqual(check("export const a = () => fetch('x');"), ['fetch']);
  assert.deepEqual(check('export const a = { fetch };'), ['fetch']);
  assert.deepEqual(check('export const a = process.env.A;'), ['process']);
  assert.deepEqual(check("export const a = Buffer.from('');"), ['Buffer']);
  assert.deepEqual(check('setTimeout(() => undefined, 1);'), ['setTimeout']);
  assert.deepEqual(check('export const a = globalThis.fetch;'), ['globalThis']);
  assert.deepEqual(check('export const a = (b = Date) => b;'), ['Date']);
  assert.deepEqual(check('export const a = { [process.pid]: 1 };'), ['process']);
});

test('a member, a parameter or a local of the same name is not ambient', () => {
  assert.deepEqual(check('export const a = (world: W) => world.fetch(world.crypto);'), []);
  assert.deepEqual(check('export const a = (fetch: F) => fetch();'), []);
  assert.deepEqual(check('export const a = ({ fetch }: W) => () => fetch();'), []);
  assert.deepEqual(check('export const a = ({ f: fetch = b }: W) => fetch();'), []);
  assert.deepEqual(check('export function a([process]: P, ...crypto: C): void { b(process, crypto); }'), []);
  assert.deepEqual(check('export function a(): void { const process = 1; b(process); }'), []);
  assert.deepEqual(check("import { crypto } from './b.ts'; export const a = crypto;"), []);
  assert.deepEqual(check('export type A = { readonly fetch: F; process(): void };'), []);
  assert.deepEqual(check('export type A = typeof fetch;'), []);
  assert.deepEqual(check('export const a = { process: 1, crypto() {} };'), []);
  assert.deepEqual(check('try { a(); } catch (process) { b(process); }'), []);
  assert.deepEqual(check('for (const self of b) c(self);'), []);
});

test('a binding in one function does not excuse another', () => {
  assert.deepEqual(check('export const a = (fetch: F) => fetch(); export const b = () => fetch();'), [
    'fetch',
  ]);
});

test('only the core is looked at', () => {
  for (const path of [
    'lib/src/system.ts',
    'lib/src/stores/sqlite.ts',
    'lib/src/claim/take.test.ts',
    'apps/cli/src/main.ts',
  ])
    assert.deepEqual(check('export const a = Date.now();', path), [], path);
});
