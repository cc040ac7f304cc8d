import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refuseUnknown, requireProgram } from './options.ts';

test('a mistyped option is a TypeError', () => {
  refuseUnknown({ aof: true }, ['aof', 'args']);
  assert.throws(() => refuseUnknown({ aoff: true }, ['aof', 'args']), TypeError);
});

test('a missing server program is named with the line that installs it', () => {
  assert.throws(() => requireProgram('redis-server', () => undefined), {
    name: 'DaemonError',
    message: /^redis-server is missing .* Run: .*redis-server/,
  });
  assert.equal(
    requireProgram('redis-server', (name) => `/there/${name}`),
    '/there/redis-server',
  );
});
