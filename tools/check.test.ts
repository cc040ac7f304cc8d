import assert from 'node:assert/strict';
import { test } from 'node:test';
import { choose, parts, runAll } from './check.ts';

test('the check is all parts, or the named ones in the order of the list', () => {
  assert.deepEqual(choose([]), parts);
  assert.deepEqual(
    choose(['test', 'lint']).map(({ name }) => name),
    ['lint', 'test'],
  );
  assert.throws(() => choose(['tests']), /TypeError: no part is called tests/);
});

test('one failing part fails the check and does not hide the others', () => {
  const { failed, lines } = runAll([
    { name: 'bad', args: ['-e', 'process.exit(3)'] },
    { name: 'good', args: ['-e', ''] },
  ]);
  assert.equal(failed, 1);
  assert.match(lines.join('\n'), /^FAILED bad \([\d.]+ s\)\nok {5}good/);
});
