import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blocksFromMs, blocksNow, lookEarlier } from './earlier.ts';
import { exampleHex, examplePurchase, exampleTake, exampleNowMs as now } from './example.ts';
import type { ClaimRecord } from './record.ts';
import { take } from './take.ts';

const settled: ClaimRecord['money'] = {
  state: 'settled',
  transaction: '0x1',
  amount: 10_000n,
  rank: 'facilitator',
};
const lease = { owner: 'a', fence: 1, untilMs: now + 30_000 };

function older(differing: Partial<ClaimRecord> = {}): ClaimRecord {
  return {
    ...examplePurchase(7),
    work: { state: 'done', partial: false },
    money: settled,
    fence: 1,
    attempts: 1,
    sendLog: [],
    sends: 1,
    createdAtMs: now - 60_000,
    updatedAtMs: now,
    ...differing,
  };
}

const takeNewer = (records: readonly ClaimRecord[], earlierPayment: 'serve' | 'off' = 'serve') =>
  take({ older: records, full: false, nowMs: now }, exampleTake(examplePurchase(8), { earlierPayment }));

test('an older payment that is unknown stops the newer one, and nothing is stored for it', () => {
  const unknown = older({ money: { state: 'unknown', phase: 'pay', n: 1 } });
  const step = takeNewer([unknown]);
  assert.equal(step.outcome.kind, 'earlier_unknown');
  assert.deepEqual(step.change, {});
});

test('an older send whose lease is over counts as unknown', () => {
  const dead = older({ money: { state: 'sending', phase: 'pay', n: 1 }, lease: { ...lease, untilMs: now } });
  assert.equal(takeNewer([dead]).outcome.kind, 'earlier_unknown');
});

test('an older payment that settled without an answer serves the newer one, and both records say so', () => {
  const step = takeNewer([older()]);
  assert.equal(step.outcome.kind, 'superseded');
  assert.equal(step.change.record?.supersededBy, exampleHex(7));
  assert.equal(step.change.record?.money.state, 'none', 'the newer payment is never sent');
  assert.equal(step.change.other?.servedTo, exampleHex(8));
  assert.equal(step.change.payload, null);
});

test('only one complete write ends it: a newer payment that was served and lost its client too changes nothing', () => {
  const served = older({ servedTo: exampleHex(9) });
  assert.equal(takeNewer([served]).outcome.kind, 'superseded');
  assert.equal(takeNewer([{ ...served, deliveredAtMs: now, keepUntilMs: now + 1 }]).outcome.kind, 'taken');
});

test('doubt is sticky: an identical re-send of an unknown payment stands in the way though its lease is alive', () => {
  const resent = older({ money: { state: 'sending', phase: 'pay', n: 2 }, lease, doubted: true });
  assert.equal(takeNewer([resent]).outcome.kind, 'earlier_unknown');
  assert.equal(takeNewer([older({ lease, doubted: true })]).outcome.kind, 'superseded');
});

test('unknown goes before undelivered', () => {
  const unknown = older({ ...examplePurchase(6), money: { state: 'unknown', phase: 'pay', n: 1 } });
  const outcome = takeNewer([older(), unknown]).outcome;
  assert.equal(outcome.kind, 'earlier_unknown');
  assert.equal(outcome.older.key, unknown.key);
});

test('an honest twin that runs, settles or is being answered does not stand in the way', () => {
  const twins = [
    older({ work: { state: 'running' }, money: { state: 'none' }, lease }),
    older({ money: { state: 'sending', phase: 'pay', n: 1 }, lease }),
    older({ lease }),
    older({ lease, work: { state: 'running' }, flow: 'upfront', abandoned: true }),
    older({ deliveredAtMs: now - 1, keepUntilMs: now + 600_000 }),
  ];
  for (const twin of twins) assert.equal(takeNewer([twin]).outcome.kind, 'taken', JSON.stringify(twin.work));
});

test('an older payment whose client went away counts as undelivered while its lease still runs', () => {
  assert.equal(takeNewer([older({ lease, abandoned: true })]).outcome.kind, 'superseded');
});

test('a refused older payment does not stand in the way', () => {
  const refused = older({
    money: { state: 'refused', why: 'definite', reason: 'funds', rank: 'facilitator' },
  });
  assert.equal(takeNewer([refused]).outcome.kind, 'taken');
});

test('a route can switch the look at earlier payments off', () => {
  const unknown = older({ money: { state: 'unknown', phase: 'pay', n: 1 } });
  assert.equal(takeNewer([unknown], 'off').outcome.kind, 'taken');
});

test('a payment never stands in its own way', () => {
  const own = older({ money: { state: 'unknown', phase: 'pay', n: 1 } });
  assert.equal(lookEarlier({ older: [own], nowMs: now }, own.key), undefined);
});

test('the look happens at every take that leads to work: also at a second attempt', () => {
  const newer: ClaimRecord = {
    ...older({ ...examplePurchase(8) }),
    money: { state: 'none' },
    work: { state: 'failed' },
  };
  const view = { record: newer, older: [older()], full: false, nowMs: now };
  assert.equal(take(view, exampleTake(examplePurchase(8))).outcome.kind, 'superseded');
});

test('the moment from which a record blocks can be stored, since it never depends on the clock', () => {
  const cases: readonly [Partial<ClaimRecord>, number | undefined][] = [
    [{ money: { state: 'unknown', phase: 'pay', n: 1 }, lease }, 0],
    [{ money: { state: 'sending', phase: 'pay', n: 1 }, lease }, lease.untilMs],
    [{ money: { state: 'sending', phase: 'pay', n: 1 } }, 0],
    [{ lease }, lease.untilMs],
    [{ lease, abandoned: true }, 0],
    [{ lease, abandoned: true, work: { state: 'running' } }, lease.untilMs],
    [{ servedTo: exampleHex(9) }, 0],
    [{ lease, doubted: true }, 0],
    [{ money: { state: 'sending', phase: 'pay', n: 2 }, lease, doubted: true }, 0],
    [{ deliveredAtMs: now }, undefined],
    [{ money: { state: 'none' } }, undefined],
    [{ money: { state: 'voided', transaction: '0x1' } }, undefined],
  ];
  for (const [differing, fromMs] of cases) assert.equal(blocksFromMs(older(differing)), fromMs);
  assert.equal(blocksNow(older({ lease }), lease.untilMs - 1), false);
  assert.equal(blocksNow(older({ lease }), lease.untilMs), true);
});
