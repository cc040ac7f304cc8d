/** The model as specification: what it knows passes, what it does not know is told with what it knows instead. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClaimRecord } from '../lib/src/claim/index.ts';
import { loadRelation } from '../model/transitions.ts';
import { exampleRecord } from './rig/record.ts';
import { exceptions, judgeChange } from './specification.ts';
import type { Change } from './watch.ts';

const relation = await loadRelation();
const graceMs = 1_000;
const nowMs = 1_790_000_000_000;

function change(operation: Change['operation'], more: Partial<Change>): Change {
  const counts = { begunBefore: 0, begunAfter: 0, answerBytes: undefined };
  return {
    operation,
    asked: [],
    by: 'shop',
    key: 'k',
    own: true,
    before: undefined,
    after: undefined,
    ...counts,
    nowMs,
    ...more,
  };
}

const owner = { owner: 'a', fence: 1, untilMs: nowMs + 5_000 };
const running: ClaimRecord = {
  ...exampleRecord,
  work: { state: 'running' },
  attempts: 1,
  fence: 1,
  lease: owner,
};

test('a first take is a transition of the model', () => {
  assert.equal(judgeChange(relation, change('take', { after: running }), graceMs).kind, 'known');
});

test('a change that leaves the picture as it is needs no permission', () => {
  const beat = { ...running, lease: { ...owner, untilMs: nowMs + 9_000 } };
  assert.equal(
    judgeChange(relation, change('heartbeat', { before: running, after: beat }), graceMs).kind,
    'same',
  );
});

test('I5: refused -> none is told, with what the model knows instead', () => {
  const money = { state: 'refused', why: 'expired', reason: 'x', rank: 'chain' } as const;
  const refused: ClaimRecord = {
    ...exampleRecord,
    money,
    work: { state: 'done', partial: false },
    attempts: 1,
    sends: 1,
  };
  const freed: ClaimRecord = { ...refused, money: { state: 'none' } };
  const verdict = judgeChange(relation, change('take', { before: refused, after: freed }), graceMs);
  assert.equal(verdict.kind, 'unknown');
  assert.match(
    'words' in verdict ? verdict.words : '',
    /not in the model: authorization take makes "none done\/1" of "refused! done\/1"/,
  );
});

test('I1: a lease that is over and lives again is told', () => {
  const over = { ...running, lease: { ...owner, untilMs: nowMs - 10 } };
  const verdict = judgeChange(relation, change('heartbeat', { before: over, after: running }), graceMs);
  assert.equal(verdict.kind, 'unknown');
});

test('I1: a second owner while the first one lives is told', () => {
  const stolen = {
    ...running,
    fence: 2,
    attempts: 2,
    lease: { owner: 'b', fence: 2, untilMs: nowMs + 6_000 },
  };
  const verdict = judgeChange(relation, change('take', { before: running, after: stolen }), graceMs);
  assert.equal(verdict.kind, 'unknown');
});

test('S2: a request that changes after money was sent is told', () => {
  const money = { state: 'unknown', phase: 'pay', n: 1 } as const;
  const sent: ClaimRecord = {
    ...exampleRecord,
    money,
    work: { state: 'done', partial: false },
    attempts: 1,
    sends: 1,
  };
  const other = { ...sent, fingerprint: 'f'.repeat(64) };
  const verdict = judgeChange(relation, change('take', { before: sent, after: other }), graceMs);
  assert.equal(verdict.kind, 'unknown');
});

test('every exception says why it is one', () => {
  assert.equal(new Set(exceptions.map(({ name }) => name)).size, exceptions.length);
  for (const { name, why } of exceptions) assert.ok(why.length > 60, name);
});
