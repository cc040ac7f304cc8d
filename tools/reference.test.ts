import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { problems } from '../lib/src/problem.ts';
import { pages, placeOf, problemPage } from './reference.ts';

for (const [page, make] of Object.entries(pages)) {
  test(`${page} is what the source says (npm run reference writes it)`, () => {
    assert.equal(readFileSync(placeOf(page), 'utf8'), make());
  });
}

test('every problem has a row with its status, its money and what to do next', () => {
  const page = problemPage();
  for (const [code, { status, money, retry }] of Object.entries(problems))
    assert.ok(page.includes(`| \`${code}\` | ${status} | ${money} | ${retry} |`), code);
});
