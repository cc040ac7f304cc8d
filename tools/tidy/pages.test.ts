import assert from 'node:assert/strict';
import { test } from 'node:test';
import { anchor, pages, testNames } from './pages.ts';
import { parse, plant } from './source.ts';

const rows = ['S1', 'S2', 'S3', 'S4', 'S5', 'S6']
  .map((id) => `| ${id} | words | [it runs once](lib/a.test.ts) |`)
  .join('\n');
const good: Readonly<Record<string, string>> = {
  'README.md': rows,
  'lib/a.test.ts': "test('it runs once', () => {});",
  'docs/start.md':
    '# First steps\n\n[home](../README.md) [here](#first-steps) [away](https://example.com) [folder](../lib/)',
};
const check = (changed: Record<string, string>): string[] => {
  const entries = Object.entries({ ...good, ...changed }).map(([path, text]) => ({ path, text }));
  return pages(plant(entries)).map(({ message }) => message);
};

test('documents whose links lead somewhere are fine', () => {
  assert.deepEqual(check({}), []);
});

test('a link that leads nowhere is a fault', () => {
  assert.deepEqual(check({ 'docs/b.md': '[gone](gone.md)' }), ['gone.md does not exist']);
  assert.deepEqual(check({ 'docs/b.md': '[gone](start.md#second-steps)' }), [
    'docs/start.md has no heading #second-steps',
  ]);
  assert.deepEqual(check({ 'docs/b.md': '```md\n[gone](gone.md)\n```' }), []);
});

test('a link to a test is the sentence of a test in that file', () => {
  assert.deepEqual(check({ 'docs/b.md': '[it runs once](../lib/a.test.ts)' }), []);
  assert.deepEqual(check({ 'docs/b.md': '[it runs twice](../lib/a.test.ts)' }), [
    'lib/a.test.ts has no test "it runs twice"',
  ]);
});

test('a README that is missing, too long or without a promise is a fault', () => {
  assert.deepEqual(
    pages(plant([])).map(({ message }) => message),
    ['README.md is missing'],
  );
  assert.match(check({ 'README.md': `${rows}\n${'\n'.repeat(146)}` }).join(), /152 lines|151 lines/);
  assert.deepEqual(check({ 'README.md': rows.replace('| S3 |', '| X3 |') }), [
    'promise S3 has no row with a link to its test',
  ]);
  assert.match(
    check({ 'README.md': rows.replace('| [it runs once](lib/a.test.ts) |', '| it runs |') }).join(),
    /promise S1/,
  );
});

test('anchors are made as GitHub makes them', () => {
  assert.equal(anchor('What `charge` does, and why'), 'what-charge-does-and-why');
});

test('names of tests are the plain texts, at any depth', () => {
  const source = parse(
    'a.test.ts',
    "describe('one', () => { it('two', f); }); test('three' + four, f); other('five');",
  );
  assert.deepEqual([...testNames(source)], ['one', 'two']);
});
