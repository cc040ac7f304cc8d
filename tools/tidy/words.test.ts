import assert from 'node:assert/strict';
import { test } from 'node:test';
import { banned } from './words.ts';

const check = (text: string, path = 'docs/a.md'): string[] =>
  banned({ path, text }).map(({ message }) => message);

test('unfinished work, machine paths and package hosts are found with their line', () => {
  for (const text of ['TODO later', '// FIXME', '/root/x', '/home/someone', 'https://registry.example.org/'])
    assert.equal(check(text).length, 1, text);
  assert.equal(banned({ path: 'a.md', text: 'one\ntwo TODO' })[0]?.line, 2);
});

test('ordinary words that contain them are not', () => {
  for (const text of ['todo list', 'framework/main', 'homework/a', '~/.cache'])
    assert.deepEqual(check(text), [], text);
});

test('the rule may name its own words', () => {
  assert.deepEqual(check('TODO', 'tools/tidy/words.ts'), []);
  assert.equal(check('TODO', 'tools/tidy/names.ts').length, 1);
});
