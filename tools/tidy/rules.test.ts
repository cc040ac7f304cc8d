import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rules, show } from './rules.ts';
import { plant } from './source.ts';

/** Put together here, because this file keeps the rule too. */
const unfinished = ['TO', 'DO'].join('');

test('each rule finds its fault in a tree that breaks all of them', () => {
  const tree = plant([
    { path: 'lib/src/problem.ts', text: 'export const problems = { a_code: 1 };' },
    {
      path: 'lib/src/wire/badName.ts',
      text: `import '../claim/index.ts'; export const a = Date.now(); enum B {} // ${unfinished}`,
    },
    { path: 'lib/src/wire/wide.ts', text: 'export const wide = (a: A, b: B, c: C, d: D) => a;' },
  ]);
  for (const [name, rule] of Object.entries(rules)) {
    const findings = rule(tree);
    assert.ok(findings.length > 0, `${name} found nothing`);
    assert.ok(
      findings.every((finding) => finding.rule === name),
      `${name} reports under another name`,
    );
  }
});

test('a finding is shown as editors link it', () => {
  assert.equal(show({ rule: 'size', path: 'a.ts', line: 3, message: 'too long' }), 'a.ts:3 size: too long');
});
