import assert from 'node:assert/strict';
import { test } from 'node:test';
import { size } from './size.ts';
import { parse } from './source.ts';

const check = (text: string, path = 'lib/src/claim/take.ts'): string[] =>
  size(parse(path, text)).map(({ message }) => message);
const lines = (count: number): string => 'a();\n'.repeat(count);

test('a file of 500 lines passes and one of 501 does not', () => {
  assert.deepEqual(check(lines(499)), []);
  assert.deepEqual(check(lines(500)), ['501 lines; a file has at most 500']);
});

test('a function of 70 lines passes and one of 71 does not, however it is written', () => {
  assert.deepEqual(check(`export function a(): void {\n${lines(68)}}`), []);
  const long = /71 lines; a function has at most 70/;
  assert.match(check(`export function a(): void {\n${lines(69)}}`).join(), long);
  assert.match(check(`export const a = () => {\n${lines(69)}};`).join(), long);
  assert.match(check(`export const a = { b() {\n${lines(69)}} };`).join(), long);
  assert.match(check(`test('a', () => {\n${lines(69)}});`).join(), long);
  assert.deepEqual(check(`describe('a', () => {\n${lines(69)}});`), []);
});

test('three parameters pass and four do not', () => {
  assert.deepEqual(check('export function a(b: B, c: C, d: D): void {}'), []);
  assert.deepEqual(check('export function a(this: T, b: B, c: C, d: D): void {}'), []);
  const four = 'export const a = (b: B, c: C, d: D, ...e: E[]) => b;';
  assert.match(check(four).join(), /4 parameters/);
  assert.deepEqual(check(four, 'lib/src/claim/take.test.ts'), []);
});

test('three levels pass, four do not, and a function or an else-if starts no level', () => {
  assert.deepEqual(check('for (const a of b) if (a) while (c) d();'), []);
  assert.match(
    check('for (const a of b) if (a) while (c) try { d(); } finally { e(); }').join(),
    /nested 4 deep/,
  );
  assert.deepEqual(
    check('if (a) b(); else if (c) d(); else if (e) f(); else if (g) { if (h) { if (i) j(); } }'),
    [],
  );
  assert.match(
    check('if (a) b(); else if (c) { if (d) { if (e) { if (f) g(); } } }').join(),
    /nested 4 deep/,
  );
  assert.deepEqual(check('if (a) { if (b) { if (c) { d(() => { if (e) f(); }); } } }'), []);
});

test('a stage in a test is judged by what stands between its steps, and each step by itself', () => {
  const step = `  const step = () => {\n${'    work();\n'.repeat(60)}  };\n`;
  const stage = `function stage() {\n${step}${step.replace('step', 'other')}}\n`;
  const long = stage.replace('    work();\n', '    work();\n'.repeat(20));
  assert.deepEqual(size(parse('lib/test/stage.ts', stage)), []);
  assert.equal(size(parse('lib/test/stage.ts', long)).length, 1);
  assert.equal(size(parse('lib/src/claim/stage.ts', stage)).length, 1);
});
