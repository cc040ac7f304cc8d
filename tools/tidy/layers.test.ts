import assert from 'node:assert/strict';
import { test } from 'node:test';
import { imports, layers } from './layers.ts';
import { parse } from './source.ts';

const check = (path: string, text: string): string[] =>
  layers(parse(path, text)).map(({ message }) => message);
const passes = (path: string, text: string): void =>
  assert.deepEqual(check(path, text), [], `${path}: ${text}`);
const fails = (path: string, text: string, why: RegExp): void => {
  const messages = check(path, text);
  assert.equal(messages.length, 1, `${path}: ${text} gave ${messages.length} findings`);
  assert.match(messages[0] ?? '', why);
};

test('an import to the left is fine, in every way of writing it', () => {
  passes('lib/src/claim/take.ts', "import { a } from '../wire/index.ts';");
  passes('lib/src/claim/take.ts', "import type { a } from './record.ts';");
  passes('lib/src/seller/charge.ts', "export { a } from '../claim/index.ts'; export * from '../problem.ts';");
  passes(
    'lib/src/adapters/express/index.ts',
    "import { a } from '../../seller/index.ts'; import 'express'; import 'node:http';",
  );
  passes('lib/src/index.ts', "export { a } from './seller/index.ts';");
});

test('an import to the right is a fault, in every way of writing it', () => {
  const right = /wire stands left of claim and may not import it/;
  fails('lib/src/wire/header.ts', "import { a } from '../claim/index.ts';", right);
  fails('lib/src/wire/header.ts', "import type { a } from '../claim/index.ts';", right);
  fails('lib/src/wire/header.ts', "export { a } from '../claim/index.ts';", right);
  fails('lib/src/wire/header.ts', "export * from '../claim/index.ts';", right);
  fails('lib/src/wire/header.ts', "export const a = () => import('../claim/index.ts');", right);
  fails('lib/src/wire/header.ts', "export type A = import('../claim/index.ts').A;", right);
});

test('the flow of one payment is an order inside the core', () => {
  const flow = ['wire', 'terms', 'payment', 'claim', 'settlement', 'receipt', 'verify'];
  for (const [at, layer] of flow.entries()) {
    for (const [other, target] of flow.entries()) {
      const text = `import { a } from '../${target}/index.ts';`;
      if (other <= at) passes(`lib/src/${layer}/a.ts`, text);
      else fails(`lib/src/${layer}/a.ts`, text, /stands left of/);
    }
  }
});

test('the core imports no Node module, no framework and not itself by name', () => {
  fails('lib/src/claim/take.ts', "import { a } from 'node:crypto';", /must run in a browser: node:crypto/);
  fails('lib/src/seller/charge.ts', "import { a } from 'express';", /must run in a browser: express/);
  fails('lib/src/seller/charge.ts', "import { a } from '@noble/curves-other';", /must run in a browser/);
  fails('lib/src/stores/sqlite.ts', "import { a } from 'counterfoil/claim';", /by relative paths/);
  passes('lib/src/crypto/jcs.ts', "import { a } from '@noble/hashes/sha2.js'; import b from 'canonicalize';");
});

test('nothing leaves the library or lives outside the order', () => {
  fails('lib/src/claim/take.ts', "import { a } from '../../../apps/cli/src/main.ts';", /outside the library/);
  fails('lib/src/claim/take.ts', "import { a } from '../elsewhere/one.ts';", /no place in the layer order/);
  fails('lib/src/elsewhere/one.ts', '', /no place in the layer order/);
});

test('a program reaches others by package name, and tests may look anywhere', () => {
  fails('apps/cli/src/main.ts', "import { a } from '../../../lib/src/index.ts';", /by its package name/);
  fails('apps/cli/src/main.ts', "import { a } from '../../devnet/src/index.ts';", /by its package name/);
  passes('apps/cli/src/main.ts', "import { a } from './decode.ts'; import 'counterfoil/wire';");
  passes('lib/src/wire/header.test.ts', "import { a } from '../claim/index.ts'; import 'node:test';");
});

test('imports are found with the module they name', () => {
  const source = parse(
    'a.ts',
    "import 'one'; export * from 'two'; const three = import('three'); export const four = three;",
  );
  assert.deepEqual(
    imports(source).map(({ name }) => name),
    ['one', 'two', 'three'],
  );
});
