import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findTools } from './tools.ts';

test('the tools that this machine has are found, with their version', () => {
  const tools = findTools();
  assert.ok('spin' in tools, 'missing' in tools ? tools.line : '');
  assert.match(tools.spinVersion, /^\d+\.\d+/);
});

test('what is missing is named, with the line that brings it', () => {
  assert.deepEqual(findTools({ PATH: '/nowhere' }), {
    missing: ['spin', 'a C compiler'],
    line: 'sudo apt-get install -y spin gcc libc6-dev',
  });
});
