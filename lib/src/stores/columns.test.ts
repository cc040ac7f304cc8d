import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exampleHex, examplePurchase, exampleNowMs as now } from '../claim/example.ts';
import { type ClaimRecord, payerName } from '../claim/index.ts';
import { columnsOf, twinsName } from './columns.ts';

const record: ClaimRecord = {
  ...examplePurchase(1, { alias: exampleHex(7) }),
  work: { state: 'running' },
  money: { state: 'none' },
  fence: 1,
  attempts: 1,
  lease: { owner: 'a', fence: 1, untilMs: now + 5 },
  sendLog: [],
  sends: 0,
  createdAtMs: now,
  updatedAtMs: now,
};

test('a run that is under way is found by its payer, its identifier and its retention, and blocks nobody', () => {
  const columns = columnsOf(record);
  assert.equal(columns.exposed, payerName(record));
  assert.equal(columns.openUntilMs, now + 5);
  assert.equal(columns.alias, exampleHex(7));
  assert.equal(columns.leaseUntilMs, now + 5);
  assert.deepEqual(
    [columns.blocksFromMs, columns.dueFromMs, columns.proofFromMs],
    [undefined, undefined, undefined],
  );
  assert.ok((columns.forgetAtMs ?? 0) > record.validBeforeMs);
});

test('a loan that is open while its authorization lives is told apart from one that went unpaid', () => {
  const out = columnsOf({ ...record, money: { state: 'unknown', phase: 'pay', n: 1 } });
  assert.equal(out.openUntilMs, record.validBeforeMs + 30_000);
  const money = { state: 'refused', why: 'canceled', reason: 'x', rank: 'chain' } as const;
  const unpaid = columnsOf({ ...record, money });
  assert.deepEqual([unpaid.exposed, unpaid.openUntilMs], [payerName(record), undefined]);
});

test('two payments are twins by network, payer, receiver and request, and no text of one can pass for another', () => {
  const twins = { network: 'a', payer: 'b', payTo: 'c', fingerprint: 'd' };
  assert.equal(twinsName(record), twinsName({ ...record, ...examplePurchase(2) }));
  assert.notEqual(twinsName(twins), twinsName({ ...twins, payer: 'b","c', payTo: '' }));
});
