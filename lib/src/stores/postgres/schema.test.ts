import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { migrationsOf, oldestReadable } from './schema.ts';

const migrations = migrationsOf('"shop"');

test('versions of the schema rise by one and are never repeated', () => {
  assert.deepEqual(
    migrations.map(({ version }) => version),
    migrations.map((_, i) => i + 1),
  );
});

test('what can be looked at without being brought up to date is a version that there was', () => {
  assert.ok(migrations.some(({ version }) => version === oldestReadable));
});

test('every name in a statement is in the schema of the store, wherever the server would look for it', () => {
  for (const statement of migrations.flatMap(({ statements }) => statements)) {
    const bare = statement.match(/\b(?:FROM|INTO|UPDATE|TABLE|ON) (?:claims|blobs|tally)\b/g);
    assert.equal(bare, null, statement);
  }
});

test('a version that stores in the field may have is never edited: a change is a new version', () => {
  const digests = migrations.map(({ statements }) =>
    createHash('sha256').update(JSON.stringify(statements)).digest('hex').slice(0, 16),
  );
  assert.deepEqual(digests, ['c8bf29c08a56fa65']);
});
