import assert from 'node:assert/strict';
import { test } from 'node:test';
import { language } from './language.ts';
import { parse } from './source.ts';

const check = (text: string, path = 'lib/src/claim/take.ts'): string[] =>
  language(parse(path, text)).map(({ message }) => message);
const fails = (text: string, why: RegExp, path?: string): void => {
  const messages = check(text, path);
  assert.equal(messages.length, 1, `${text} gave ${messages.length} findings`);
  assert.match(messages[0] ?? '', why);
};

test('syntax that is not erasable is a fault', () => {
  fails('export enum A { one }', /no enum/);
  fails('export const enum A { one }', /no enum/);
  fails('export namespace A { export const b = 1; }', /no namespace/);
  fails(
    'export class AError extends Error { constructor(readonly b: string) { super(b); } }',
    /no parameter property/,
  );
});

test('default exports and interfaces are faults', () => {
  fails('export default 1;', /no default export/);
  fails('const a = 1; export { a as default };', /no default export/);
  fails('export interface A { b: string }', /type before interface/);
});

test('escapes from the type checker are faults outside wire and tests', () => {
  for (const text of [
    'export const a = b!;',
    'export const a = b as string;',
    'export const a = <string>b;',
  ]) {
    fails(text, /no (?:non-null assertion|cast)/);
    assert.deepEqual(check(text, 'lib/src/wire/header.ts'), [], text);
    assert.deepEqual(check(text, 'lib/src/claim/take.test.ts'), [], text);
  }
  fails('export const a = b as any;', /no (?:any|cast)/, 'lib/src/wire/header.ts');
  fails('export type A = any;', /no any/, 'lib/src/claim/take.test.ts');
  fails('// @ts-ignore\nexport const a = 1;', /@ts-ignore/, 'lib/src/claim/take.test.ts');
  fails('// @ts-expect-error\nexport const a = 1;', /@ts-expect-error/);
  assert.deepEqual(
    check(
      "export const a = ['b'] as const; export const c = { d: 1 } satisfies E; import { f as g } from './f.ts';",
    ),
    [],
  );
});

test('a class is an error or a listed stateful adapter', () => {
  fails('export class Thing {}', /no class/);
  fails('export const Thing = class {};', /no class/);
  assert.deepEqual(
    check('export class StoreError extends Error {} export class Bad extends TypeError {}'),
    [],
  );
});

test('a test that is skipped, postponed or alone is a fault', () => {
  for (const call of ['test.skip', 'test.todo', 'test.only', 'it.skip', 'describe.only'])
    fails(`${call}('a', () => {});`, /a test runs or is deleted/, 'lib/src/claim/take.test.ts');
  assert.deepEqual(check("test('a', (t) => { list.skip(1); });", 'lib/src/claim/take.test.ts'), []);
});
