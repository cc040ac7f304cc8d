import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { rules, show } from './rules.ts';
import { load } from './source.ts';

const tree = load(resolve(import.meta.dirname, '../..'));

for (const [name, rule] of Object.entries(rules)) {
  test(`the tree keeps the rule: ${name}`, () => {
    assert.deepEqual(rule(tree).map(show), []);
  });
}

test('the tree that the rules look at is the whole project', () => {
  const paths = tree.sources.map(({ path }) => path);
  for (const known of ['lib/src/problem.ts', 'tools/tidy/tree.test.ts'])
    assert.ok(paths.includes(known), known);
  assert.ok(!paths.some((path) => path.includes('node_modules')));
});
