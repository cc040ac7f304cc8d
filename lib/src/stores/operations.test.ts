import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exampleHex, exampleNowMs, examplePurchase, exampleTake } from '../claim/example.ts';
import {
  aliasLimit,
  type Change,
  type ClaimRecord,
  claimedAlias,
  countExposure,
  exposedPayer,
  forgettable,
  needsAttention,
  retainMs,
} from '../claim/index.ts';
import { type Operation, operate, readsOnly, type Table } from './operations.ts';

type Plain = {
  readonly table: Table;
  readonly records: Map<string, ClaimRecord>;
  readonly writes: Change[];
  clockMs: number;
  looks: number;
  readonly aliasLimits: number[];
};

/** The simplest table there is: it walks over everything. */
function plainTable(capacity: number): Plain {
  const records = new Map<string, ClaimRecord>();
  const all = (): readonly ClaimRecord[] => [...records.values()];
  const plain: Plain = {
    records,
    writes: [],
    clockMs: exampleNowMs,
    looks: 0,
    aliasLimits: [],
    table: {
      nowMs: () => plain.clockMs,
      record: (key) => records.get(key),
      older: () => {
        plain.looks += 1;
        return [];
      },
      aliased: (alias, limit) => {
        plain.aliasLimits.push(limit);
        return all().filter((record) => claimedAlias(record) === alias);
      },
      full: () => records.size >= capacity,
      due: (nowMs, limit) =>
        all()
          .filter((record) => needsAttention(record, nowMs))
          .slice(0, limit),
      unproven: () => [],
      exposure: (payer, _limits, nowMs) =>
        countExposure(
          all().filter((record) => exposedPayer(record) === payer),
          nowMs,
        ),
      list: ({ limit }) => all().slice(0, limit),
      expired: (nowMs, limit) =>
        all()
          .filter((record) => forgettable(record, nowMs))
          .slice(0, limit),
      stale: () => [],
      answer: () => undefined,
      payload: () => undefined,
      write: (key, change) => {
        if (Object.keys(change).length > 0) plain.writes.push(change);
        if (change.record === null) records.delete(key);
        else if (change.record !== undefined) records.set(key, change.record);
        if (change.other !== undefined) records.set(change.other.key, change.other);
      },
    },
  };
  return plain;
}

test('operations that only read never write, whatever they find', () => {
  const { table, writes } = plainTable(10);
  operate(table, 'take', exampleTake(examplePurchase(1)));
  writes.length = 0;
  const { key } = examplePurchase(1);
  operate(table, 'find', { key });
  operate(table, 'readAnswer', { key });
  operate(table, 'readPayload', { key });
  operate(table, 'due', { limit: 5 });
  operate(table, 'list', { limit: 5 });
  assert.deepEqual(writes, []);
  const all: readonly Operation[] = [
    'find',
    'take',
    'readAnswer',
    'readPayload',
    'due',
    'list',
    'prune',
    'release',
  ];
  assert.deepEqual(all.filter(readsOnly), ['find', 'readAnswer', 'readPayload', 'due', 'list']);
});

test('a take that loses writes nothing', () => {
  const { table, writes } = plainTable(10);
  operate(table, 'take', exampleTake(examplePurchase(1)));
  writes.length = 0;
  for (let i = 0; i < 10; i += 1) operate(table, 'take', exampleTake(examplePurchase(1)));
  assert.deepEqual(writes, []);
});

test('a route that switched the earlier-payment rule off does not pay for the look', () => {
  const plain = plainTable(10);
  operate(plain.table, 'take', exampleTake(examplePurchase(1), { earlierPayment: 'off' }));
  assert.equal(plain.looks, 0);
  operate(plain.table, 'take', exampleTake(examplePurchase(2)));
  assert.equal(plain.looks, 1);
});

test('C13: only a payment with an identifier pays for its look-up, which reads a few records, and only before it is sent', () => {
  const { table, aliasLimits } = plainTable(10);
  const bare = { earlierPayment: 'off', leaseMs: 1, maxSends: 3 } as const;
  const named = examplePurchase(2, { alias: exampleHex(0xa11a5) });
  operate(table, 'take', exampleTake(examplePurchase(1)));
  operate(table, 'beginSend', { key: examplePurchase(1).key, send: { ...bare, owner: 'b' } });
  assert.deepEqual(aliasLimits, []);
  const taken = operate(table, 'take', exampleTake(named));
  assert.deepEqual(aliasLimits.splice(0), [aliasLimit]);
  assert.ok(taken.kind === 'taken');
  const send = { answer: new Uint8Array(1), payload: new Uint8Array(1), phase: 'pay', leaseMs: 1 } as const;
  operate(table, 'keepAndBeginSend', { hold: taken.hold, send });
  operate(table, 'take', exampleTake(named));
  operate(table, 'beginSend', { key: named.key, send: { ...bare, owner: 'b' } });
  assert.deepEqual(aliasLimits, [], 'a payment that was sent is answered from its record');
});

test('C08: a full store makes room by forgetting a bounded number of records, and only what retention allows', () => {
  const plain = plainTable(100);
  for (let n = 0; n < 100; n += 1) operate(plain.table, 'take', exampleTake(examplePurchase(n)));
  assert.equal(operate(plain.table, 'take', exampleTake(examplePurchase(200))).kind, 'full');
  assert.equal(plain.records.size, 100);
  plain.clockMs = examplePurchase(1).validBeforeMs + retainMs + 1;
  assert.equal(operate(plain.table, 'take', exampleTake(examplePurchase(200))).kind, 'taken');
  assert.ok(plain.records.size > 80 && plain.records.size < 100, `${plain.records.size} records are left`);
});
