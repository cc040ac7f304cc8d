import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exampleHex, exampleNowMs, examplePurchase, exampleTake } from '../../claim/example.ts';
import { encodeRecord } from '../../claim/index.ts';
import { StoreError } from '../error.ts';
import { operate } from '../operations.ts';
import type { Attempt } from '../optimistic/remote.ts';
import { createScene } from '../optimistic/scene.ts';
import { messageOf, sightOf } from './message.ts';

const options = { schema: 's', capacity: 10, capacityBytes: 100, lockMs: 50 };
const alias = exampleHex(0xa11a5);

function taking(differing: Parameters<typeof examplePurchase>[1] = {}): Attempt {
  const scene = createScene(undefined, { nowMs: exampleNowMs, record: () => undefined });
  const request = exampleTake(examplePurchase(1, { alias, ...differing }), {
    exposure: { unpaid: 3, open: 4 },
  });
  operate(scene.table, 'take', request);
  return scene.attempt();
}

function asked(attempt: Attempt): { readonly [name: string]: unknown } {
  return JSON.parse(messageOf(attempt, options).asked);
}

test('the server is told what was looked at, what was seen there, and what is written if that is still so', () => {
  const message = asked(taking());
  assert.deepEqual(message.keys, [exampleHex(1)]);
  assert.deepEqual(message.versions, {
    records: {},
    older: [],
    aliased: [],
    mustPayFirst: false,
    full: false,
  });
  assert.equal(message.atMs, exampleNowMs);
  assert.deepEqual(message.aliased, { alias, limit: 2 });
  assert.ok(Array.isArray(message.writes) && message.writes.length === 1);
  assert.ok(Array.isArray(message.locks) && message.locks.length === 4, 'key, twins, alias, payer');
});

test('names whose length nobody bounds stand in no index as they are', () => {
  const payer = 'x'.repeat(5_000);
  const { writes, older, exposure } = asked(taking({ payer }));
  assert.ok(Array.isArray(writes));
  const { body: _, ...columns } = writes[0];
  assert.ok(!JSON.stringify({ columns, older, exposure }).includes('xx'));
  assert.match(columns.exposed, /^[0-9a-f]{64}$/);
});

test('an end beyond all whole numbers is the last one that a column holds', () => {
  const { writes } = asked(taking({ validBeforeMs: 2 ** 80 }));
  assert.ok(Array.isArray(writes));
  assert.equal(writes[0].forget_at_ms, Number.MAX_SAFE_INTEGER);
});

test('no two writes ever get one version', () => {
  const versions = [1, 2, 3].flatMap(() => messageOf(taking(), options).versions);
  assert.equal(new Set(versions).size, 3);
});

test('a record that is written beside the one in question is compared as well, and a deletion is no body', () => {
  const attempt = taking();
  const [own] = attempt.writes;
  assert.ok(own?.record);
  const other = { ...own.record, key: exampleHex(2) };
  const message = asked({
    ...attempt,
    expected: { ...attempt.expected, older: [{ record: other, version: 'w' }] },
    writes: [
      { key: own.key, record: null },
      { key: other.key, record: other },
    ],
    blobs: { key: own.key, answer: null, payload: new Uint8Array(3) },
  });
  assert.deepEqual(message.keys, [exampleHex(1), exampleHex(2)]);
  assert.deepEqual(message.versions, {
    records: { [exampleHex(2)]: 'w' },
    older: ['w'],
    aliased: [],
    mustPayFirst: false,
    full: false,
  });
  assert.ok(Array.isArray(message.writes));
  assert.equal('body' in message.writes[0], false);
  assert.deepEqual(message.blobs, { key: exampleHex(1), answer: false, payload: true });
});

test('an answer of the server becomes what the rules can look at', () => {
  const attempt = taking();
  const record = attempt.writes[0]?.record;
  assert.ok(record);
  const pair = ['v', encodeRecord(record)];
  const text = JSON.stringify({
    nowMs: 5,
    records: { [record.key]: pair, another: pair },
    older: [pair],
    aliased: [],
    mustPayFirst: true,
    full: false,
  });
  const versioned = { version: 'v', record };
  assert.deepEqual(
    JSON.stringify(sightOf(text, attempt), readable),
    JSON.stringify(
      {
        nowMs: 5,
        records: [[record.key, versioned]],
        older: [versioned],
        aliased: [],
        mustPayFirst: true,
        full: false,
      },
      readable,
    ),
  );
});

function readable(_name: string, value: unknown): unknown {
  if (value instanceof Map) return [...value];
  return typeof value === 'bigint' ? String(value) : value;
}

test('an answer that is none of ours is damage', () => {
  const attempt = taking();
  const { key } = examplePurchase(1);
  const whole = { nowMs: 5, records: {}, older: [], aliased: [] };
  for (const broken of [
    7,
    null,
    { ...whole, nowMs: '5' },
    { ...whole, records: null },
    { ...whole, records: { [key]: 'v' } },
    { ...whole, records: { [key]: ['v', 7] } },
    { ...whole, older: {} },
  ]) {
    assert.throws(
      () => sightOf(JSON.stringify(broken), attempt),
      (error) => error instanceof StoreError && error.code === 'store_corrupt',
      JSON.stringify(broken),
    );
  }
});
