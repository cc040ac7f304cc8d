import assert from 'node:assert/strict';
import { test } from 'node:test';
import { consumer } from './consumer.ts';

test('a stranger imports and type-checks every subpath but the manifest', () => {
  const files = consumer('one', ['.', './two/three', './package.json']);
  const text = (path: string): string => files.find((file) => file.path === path)?.text ?? '';
  assert.match(text('run.js'), /\["one","one\/two\/three"\]/);
  assert.match(
    text('check.ts'),
    /import \* as door0 from 'one';\nimport \* as door1 from 'one\/two\/three';/,
  );
  assert.match(text('store.js'), /from 'one\/stores\/sqlite'/);
  assert.match(text('tsconfig.json'), /"skipLibCheck":false/);
});
