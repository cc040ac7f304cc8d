import assert from 'node:assert/strict';
import { test } from 'node:test';
import { banned } from './words.ts';

const check = (text: string, path = 'docs/a.md'): string[] =>
  banned({ path, text }).map(({ message }) => message);

test('unfinished work, other people and machine paths are found with their line', () => {
  for (const text of [
    'TODO later',
    '// FIXME',
    'in this session',
    'a helper agent',
    'the CEO',
    'see /work/main',
    'in .library',
    '/root/x',
    '/home/someone',
    'https://registry.example.org/',
    'npmjs',
  ])
    assert.equal(check(text).length, 1, text);
  assert.equal(banned({ path: 'a.md', text: 'one\ntwo TODO' })[0]?.line, 2);
});

test('ordinary words that contain them are not', () => {
  for (const text of [
    'todo list',
    'obsession',
    'framework/main',
    'the leader',
    'homework/a',
    'library',
    '~/.cache',
  ])
    assert.deepEqual(check(text), [], text);
});

test('the rule may name its own words', () => {
  assert.deepEqual(check('TODO', 'tools/tidy/words.ts'), []);
  assert.equal(check('TODO', 'tools/tidy/names.ts').length, 1);
});
