import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { migrations, oldestReadable } from './migrations.ts';

test('versions of the schema rise by one and are never repeated', () => {
  assert.deepEqual(
    migrations.map(({ version }) => version),
    migrations.map((_, i) => i + 1),
  );
});

test('what can be looked at without being brought up to date is a version that there was', () => {
  assert.ok(migrations.some(({ version }) => version === oldestReadable));
});

test('a version that stores in the field may have is never edited: a change is a new version', () => {
  const digests = migrations.map(({ statements }) =>
    createHash('sha256').update(JSON.stringify(statements)).digest('hex').slice(0, 16),
  );
  assert.deepEqual(digests, ['52d04533ece8e3e7', '1a02eda0e1ca3c5d', 'a41d5f16fd0f0a83']);
});
