/** `counterfoil/wire` runs wherever JavaScript runs. */

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parseSync } from 'oxc-parser';
import * as wire from './index.ts';

const folder = new URL('./', import.meta.url);
const sources = readdirSync(folder).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));

/** Names of the world that the codec must not touch; `TextEncoder`, `TextDecoder` and `btoa` are in every browser. */
const ambient =
  /^(?:process|Buffer|require|__dirname|__filename|global|window|document|crypto|fetch|performance|Date|setTimeout|setInterval|setImmediate|queueMicrotask|console|navigator)$/;

/** Every identifier in the syntax tree except member names after a point and keys. */
function namesIn(node: unknown, names: Set<string>): Set<string> {
  if (Array.isArray(node)) for (const entry of node) namesIn(entry, names);
  else if (typeof node === 'object' && node !== null) collect(node as Record<string, unknown>, names);
  return names;
}

function collect(node: Record<string, unknown>, names: Set<string>): void {
  if (node.type === 'Identifier' && typeof node.name === 'string') names.add(node.name);
  for (const [key, child] of Object.entries(node)) {
    const isName = (key === 'property' || key === 'key') && node.computed === false;
    if (!isName) namesIn(child, names);
  }
}

test('no file of the folder loads a platform module or a package', () => {
  assert.ok(sources.length > 10);
  for (const name of sources) {
    const { module, errors } = parseSync(name, readFileSync(new URL(name, folder), 'utf8'));
    assert.deepEqual(errors, []);
    const passedOn = module.staticExports.flatMap(({ entries }) =>
      entries.map((entry) => entry.moduleRequest?.value),
    );
    const requests = [
      ...module.staticImports.map((each) => each.moduleRequest.value),
      ...passedOn.filter((request) => request !== undefined),
    ];
    assert.deepEqual(module.dynamicImports, [], name);
    for (const request of requests) {
      assert.match(request, /^\.\/[a-z0-9]+\.ts$|^\.\.\/problem\.ts$/, `${name} imports ${request}`);
    }
  }
});

test('no file of the folder names anything of Node or of a clock, a network or a random', () => {
  for (const name of sources) {
    const source = readFileSync(new URL(name, folder), 'utf8');
    const { program } = parseSync(name, source);
    const found = [...namesIn(program, new Set())].filter((each) => ambient.test(each));
    assert.deepEqual(found, [], name);
    assert.ok(!source.includes('Math.random'), name);
  }
});

test('the front door has the codec of all three headers', () => {
  const message = {
    x402Version: 2,
    resource: { url: 'http://127.0.0.1/a' },
    accepts: [],
  } as const;
  const outcome = wire.decodePaymentRequired(wire.encodePaymentRequired(message));
  assert.ok(outcome.ok);
  assert.deepEqual(JSON.parse(JSON.stringify(outcome.value)), message);
  for (const name of [
    'decodePaymentSignature',
    'encodePaymentSignature',
    'decodePaymentResponse',
    'encodePaymentResponse',
    'describeHeader',
    'parseMoney',
    'parseJson',
  ]) {
    assert.equal(typeof Reflect.get(wire, name), 'function', name);
  }
});
