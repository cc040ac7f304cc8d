import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { exampleHex, exampleNowMs, examplePurchase } from '../../claim/example.ts';
import type { ClaimRecord } from '../../claim/index.ts';
import { payerName } from '../../claim/index.ts';
import type { Attempt } from '../optimistic/remote.ts';
import { lockId, locksOf } from './locks.ts';

const alias = exampleHex(0xa11a5);

function record(n: number, differing: Partial<ClaimRecord> = {}): ClaimRecord {
  return {
    ...examplePurchase(n),
    work: { state: 'idle' },
    money: { state: 'none' },
    fence: 1,
    attempts: 0,
    sendLog: [],
    sends: 0,
    createdAtMs: exampleNowMs,
    updatedAtMs: exampleNowMs,
    ...differing,
  };
}

/** Writes one record where another, or none, was before. */
function step(
  before: ClaimRecord | undefined,
  after: ClaimRecord,
  asks: Partial<Attempt['asks']> = {},
): Attempt {
  const { key } = after;
  const seen = before === undefined ? undefined : { record: before, version: 'v' };
  return {
    asks: { keys: [key], ...asks },
    expected: { nowMs: exampleNowMs, records: new Map([[key, seen]]) },
    writes: [{ key, record: after }],
  };
}

const unknown = record(1, { money: { state: 'unknown', phase: 'pay', n: 1 }, attempts: 1 });

test('a step that writes nothing locks nothing', () => {
  const attempt = { ...step(undefined, record(1), { aliased: { alias, limit: 2 } }), writes: [] };
  assert.deepEqual(locksOf('s', attempt), []);
});

test('the name of a payment that is not known yet is locked for its first taker alone', () => {
  const [lock, ...others] = locksOf('s', step(undefined, record(1)));
  assert.deepEqual(lock, { id: lockId('s', `key ${exampleHex(1)}`), shared: false });
  assert.deepEqual(others, []);
  assert.deepEqual(locksOf('s', step(record(1), record(1))), [], 'and a record that is there guards itself');
});

test('who looks at a group holds it alone, and who writes a member shares it with other writers', () => {
  const { network, payer, payTo, fingerprint } = unknown;
  const looks = locksOf(
    's',
    step(record(2), record(2), {
      older: { twins: { network, payer, payTo, fingerprint }, limit: 16 },
      exposure: { payer: payerName(unknown), limits: { unpaid: 1, open: 1 } },
    }),
  );
  const writes = locksOf('s', step(record(1), unknown));
  assert.equal(looks.length, 2);
  assert.deepEqual(
    looks.map(({ id }) => id),
    writes.map(({ id }) => id),
  );
  assert.ok(looks.every(({ shared }) => !shared));
  assert.ok(writes.every(({ shared }) => shared));
});

test('a record that leaves a group, or is written beside the one in question, locks its group too', () => {
  const { shared: _, ...left } = locksOf('s', step(unknown, record(1)))[0] ?? { shared: false };
  assert.notDeepEqual(left, {});
  assert.equal(locksOf('s', step(unknown, record(1))).length, 2);
  const sibling = record(3, { alias, lease: { owner: 'o', fence: 1, untilMs: 1 } });
  const fenced = {
    ...step(record(2), record(2)),
    expected: {
      nowMs: exampleNowMs,
      records: new Map([[exampleHex(2), { record: record(2), version: 'v' }]]),
      aliased: [{ record: sibling, version: 'w' }],
    },
    writes: [{ key: sibling.key, record: record(3, { alias }) }],
  };
  assert.deepEqual(locksOf('s', fenced), [{ id: lockId('s', `alias ${alias}`), shared: true }]);
});

test('who looks at a group and writes a member of it holds it alone', () => {
  const taken = record(1, { alias, lease: { owner: 'o', fence: 1, untilMs: 1 } });
  const locks = locksOf('s', step(undefined, taken, { aliased: { alias, limit: 2 } }));
  const own = locks.filter(({ id }) => id === lockId('s', `alias ${alias}`));
  assert.deepEqual(
    own.map(({ shared }) => shared),
    [false],
  );
});

test('locks are always taken in the order of their numbers, so that no two steps wait for each other', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(), { minLength: 1 }), (keys) => {
      const names = keys.map(exampleHex);
      const locks = locksOf('s', { ...step(undefined, record(1)), asks: { keys: names } });
      const ids = locks.map(({ id }) => id);
      assert.deepEqual(
        ids,
        ids.toSorted((a, b) => (a < b ? -1 : 1)),
      );
      assert.equal(ids.length, new Set(names).size);
    }),
    { seed: 4 },
  );
});

test('two stores in one database never wait for each other', () => {
  assert.notEqual(lockId('one', 'room'), lockId('other', 'room'));
  assert.notEqual(lockId('a', 'b'), lockId('ab', ''));
});
