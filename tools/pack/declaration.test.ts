import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nameJavaScript } from './declaration.ts';

test('relative modules are named as JavaScript, in every way of writing them', () => {
  const source = `import type { A } from './a.ts';\nexport * from "../b/index.ts";\nimport './c.mts';\ntype D = import('./d.ts').D;\n`;
  const wanted = `import type { A } from './a.js';\nexport * from "../b/index.js";\nimport './c.mjs';\ntype D = import('./d.js').D;\n`;
  assert.equal(nameJavaScript(source), wanted);
});

test('packages, other endings and texts are left alone', () => {
  const source = "import type { A } from 'some.ts'; import b from './b.json'; type C = './c.ts';";
  assert.equal(nameJavaScript(source), source);
});
