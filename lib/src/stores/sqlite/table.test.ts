import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { exampleHex, exampleNowMs, examplePurchase, exampleTake } from '../../claim/example.ts';
import { operate } from '../operations.ts';
import { openDatabase } from './file.ts';
import { sqliteTable } from './table.ts';

const folder = mkdtempSync(join(tmpdir(), 'counterfoil-table-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const options = { capacity: 1_000_000, capacityBytes: 1_000_000_000, nowMs: () => exampleNowMs };

let files = 0;
function open(): DatabaseSync {
  files += 1;
  return openDatabase(join(folder, `${files}.sqlite`), 100);
}

test('no question of the store walks over all its records without an index', () => {
  const database = open();
  const statements: string[] = [];
  const watched = new Proxy(database, {
    get: (target, name) => {
      if (name !== 'prepare') return Reflect.get(target, name);
      return (text: string) => {
        statements.push(text);
        return target.prepare(text);
      };
    },
  });
  const table = sqliteTable(watched, options);
  table.list({ limit: 5 }, exampleNowMs);
  table.aliased(exampleHex(1), 5);
  table.write(exampleHex(1), {});
  for (const money of ['unknown', 'sending', 'settled'] as const)
    table.list({ limit: 5, money }, exampleNowMs);
  for (const text of statements.filter((one) => /^(SELECT|UPDATE claims|DELETE)/.test(one))) {
    const nothing = new Array<null>(text.split('?').length - 1).fill(null);
    const plan = database.prepare(`EXPLAIN QUERY PLAN ${text}`).all(...nothing);
    for (const { detail } of plan)
      assert.doesNotMatch(String(detail), /SCAN (?!claims USING INDEX claims_due)/, text);
  }
  assert.ok(statements.length > 15);
  database.close();
});

test('only a record with a claim to its identifier is in the index of identifiers', () => {
  const database = open();
  const table = sqliteTable(database, options);
  const alias = exampleHex(0xa11a5);
  const indexed = (): unknown =>
    database
      .prepare('SELECT alias FROM claims ORDER BY id')
      .all()
      .map((row) => row.alias);
  operate(table, 'take', exampleTake(examplePurchase(1)));
  assert.deepEqual(indexed(), [null]);
  const taken = operate(table, 'take', exampleTake(examplePurchase(2, { alias })));
  assert.deepEqual(indexed(), [null, alias]);
  assert.ok(taken.kind === 'taken');
  operate(table, 'fail', { hold: taken.hold });
  assert.deepEqual(indexed(), [null, null]);
  assert.equal(table.record(taken.hold.key)?.alias, alias);
  database.close();
});

test('a row that somebody has damaged is left out of every list, and what comes after it is not', () => {
  const database = open();
  let nowMs = exampleNowMs;
  const table = sqliteTable(database, { ...options, nowMs: () => nowMs });
  for (const n of [1, 2, 3, 4]) {
    const taken = operate(table, 'take', exampleTake(examplePurchase(n), { earlierPayment: 'off' }));
    assert.ok(taken.kind === 'taken');
    operate(table, 'finish', {
      hold: taken.hold,
      result: { answer: new Uint8Array(3), partial: false, leaseMs: 1_000 },
    });
  }
  database.exec(
    `UPDATE claims SET body = '{}' WHERE key IN ('${exampleHex(1)}', '${exampleHex(2)}');
      UPDATE claims SET due_from_ms = 0, proof_from_ms = 0, forget_at_ms = 0, answer_forget_at_ms = 0`,
  );
  nowMs += 1_000;
  for (const found of [
    table.due(nowMs, 2),
    table.unproven(nowMs, 2),
    table.list({ limit: 2 }, nowMs),
    table.expired(nowMs, 2),
    table.stale(nowMs, 2),
  ]) {
    assert.deepEqual(found.map(({ key }) => key).toSorted(), [exampleHex(3), exampleHex(4)]);
  }
  assert.throws(() => table.record(exampleHex(1)), SyntaxError);
  database.close();
});

const step = fc.record({
  n: fc.nat({ max: 5 }),
  kind: fc.constantFrom('take', 'keep', 'release', 'settle', 'deliver', 'prune'),
  size: fc.nat({ max: 200 }),
  passMs: fc.constantFrom(0, 0, 1_000, 40_000, 10_000_000),
});

test('the counters for the capacity agree with the rows after any sequence of writes', () => {
  const database = open();
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      database.exec('BEGIN');
      let nowMs = exampleNowMs;
      const table = sqliteTable(database, { ...options, nowMs: () => nowMs });
      for (const { n, kind, size, passMs } of steps) {
        nowMs += passMs;
        const { key } = examplePurchase(n);
        const hold = { key, owner: 'o', fence: table.record(key)?.fence ?? 0 };
        const bytes = new Uint8Array(size);
        if (kind === 'take') operate(table, 'take', exampleTake(examplePurchase(n), { owner: 'o' }));
        if (kind === 'release') operate(table, 'release', { hold });
        if (kind === 'prune') operate(table, 'prune', { limit: 3 });
        if (kind === 'deliver') operate(table, 'deliver', { key, note: { kind: 'complete', keepMs: 1_000 } });
        if (kind === 'settle') {
          operate(table, 'recordMoney', {
            key,
            fact: { fact: 'settled', transaction: '0x1', amount: 1n, by: 'chain' },
          });
        }
        if (kind === 'keep') {
          const send = { answer: bytes, payload: bytes, phase: 'pay', leaseMs: 30_000 } as const;
          operate(table, 'keepAndBeginSend', { hold, send });
        }
        assert.deepEqual(database.prepare('SELECT records, bytes FROM tally').get(), counted(database));
      }
      database.exec('ROLLBACK');
    }),
    { seed: 8, numRuns: 60 },
  );
  database.close();
});

function counted(database: DatabaseSync): unknown {
  return database
    .prepare(
      `SELECT (SELECT count(*) FROM claims) AS records,
        (SELECT coalesce(sum(length(bytes)), 0) FROM (SELECT bytes FROM answers UNION ALL SELECT bytes FROM payloads))
          AS bytes`,
    )
    .get();
}
