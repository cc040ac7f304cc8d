import assert from 'node:assert/strict';
import { test } from 'node:test';
import { goods } from '../seller/goods.ts';
import type { Entry, What } from '../seller/journal.ts';
import type { Seen } from './buyer.ts';
import { tellHistory } from './history.ts';
import { type Evidence, judge, runsOf } from './judge.ts';

const nonce = '0xabc';
const size = 40;
const transaction = '0x01';
const entry = (atMs: number, who: string, what: What): Entry => ({ atMs, who, what, nonce, text: '1' });
const seen = (more: Partial<Seen>): Seen => ({
  atMs: 0,
  doneMs: 5,
  seat: 'p1',
  status: 200,
  code: undefined,
  invites: false,
  transaction,
  text: goods(nonce, 1, size),
  ...more,
});
const refusal = (status: number, code: string): Seen =>
  seen({ status, code, transaction: undefined, text: '' });
const good: Evidence = {
  nonce,
  size,
  seen: [refusal(402, 'payment_in_progress'), refusal(503, 'settlement_unknown'), seen({})],
  journal: [entry(1, 'p1', 'run'), entry(2, 'p1', 'ran')],
  charges: [transaction],
  spent: 10_000n,
  attempts: 2,
  excused: [],
  unkept: 0,
};
const broken = (more: Partial<Evidence>): readonly string[] => judge({ ...good, ...more }).violations;

test('a payment that was charged once, worked for once and served is as promised', () => {
  assert.deepEqual(judge(good), { runs: 1, deliveries: 1, charges: 1, violations: [] });
});

test('a second charge, a larger one and one that never was are broken promises', () => {
  assert.match(
    broken({ charges: [transaction, '0x02'], spent: 20_000n }).join(),
    /S4: 2 charges.*paid 20000/,
  );
  assert.match(broken({ spent: 10_001n }).join(), /paid 10001/);
  assert.match(broken({ charges: [], spent: 0n }).join(), /0 charges/);
});

test('a paid answer must name the transaction that is on the chain', () => {
  assert.match(broken({ seen: [seen({ transaction: '0x02' })] }).join(), /names 0x02, not 0x01/);
  assert.match(broken({ seen: [seen({ transaction: undefined })] }).join(), /names nothing/);
});

test('an answer that invites another payment is a broken promise, whatever its code', () => {
  const invited = { ...refusal(402, 'payment_in_progress'), invites: true };
  assert.match(broken({ seen: [invited, seen({})] }).join(), /S3: .* asked for another payment/);
});

test('a refusal, a silence, a payment that is never served and a strange code are broken promises', () => {
  assert.match(broken({ seen: [] }).join(), /never served/);
  assert.match(
    broken({ seen: [seen({ status: 'mute', text: '' }), seen({})] }).join(),
    /did not answer at all/,
  );
  for (const odd of [
    refusal(409, 'payment_already_used'),
    refusal(502, 'work_owed'),
    refusal(402, 'expired'),
  ])
    assert.match(broken({ seen: [odd, seen({})] }).join(), /S4: p1 answered/);
  assert.deepEqual(
    broken({ seen: [seen({ status: 'cut', transaction: undefined, text: '' }), seen({})] }),
    [],
  );
});

test('a store that is down may be said to be, in rounds in which it is', () => {
  const down = [refusal(503, 'store_unavailable'), seen({})];
  assert.match(broken({ seen: down }).join(), /store_unavailable/);
  assert.deepEqual(broken({ seen: down, excused: ['store_unavailable'] }), []);
});

test('every answer is whole and the same', () => {
  const text = goods(nonce, 2, size);
  assert.match(broken({ seen: [seen({}), seen({ text })] }).join(), /2 different answers/);
  assert.match(broken({ seen: [seen({ text: 'half' })] }).join(), /is not what was made/);
});

test('a second execution needs a first one that was cut off, and they are never at work together', () => {
  const again = [entry(3, 'p2', 'run'), entry(4, 'p2', 'ran')];
  assert.match(broken({ journal: [...good.journal, ...again] }).join(), /2 executions, and 0 were cut off/);
  for (const what of ['death', 'halt', 'lost'] as const) {
    const journal = [entry(1, 'p1', 'run'), entry(2, 'p1', what), ...again];
    assert.deepEqual(broken({ journal }), [], what);
  }
  const together = [entry(1, 'p1', 'run'), ...again, entry(5, 'p1', 'death')];
  assert.match(broken({ journal: together }).join(), /S1: p2 worked while p1 did/);
});

test('a store that was down may have lost one answer, and so have cost one more execution', () => {
  const again = [entry(3, 'p2', 'run'), entry(4, 'p2', 'ran')];
  assert.deepEqual(broken({ journal: [...good.journal, ...again], unkept: 1 }), []);
});

test('executions are bounded by attempts, however often one was cut off', () => {
  const journal = [1, 3, 5].flatMap((at) => [entry(at, 'p1', 'run'), entry(at + 1, 'p1', 'death')]);
  assert.match(broken({ journal }).join(), /3 executions of 2 attempts/);
});

test('only the runs of the payment itself count', () => {
  const other = { ...entry(1, 'p2', 'run'), nonce: '0xdef' };
  assert.equal(runsOf({ nonce, journal: [other, ...good.journal] }).length, 1);
});

test('a history tells both sides in the order of time', () => {
  const journal = [entry(1, 'p1', 'run'), { ...entry(2, 'p1', 'death'), text: 'working' }];
  assert.deepEqual(tellHistory(journal, [seen({ status: 'cut', transaction: undefined })]), [
    '      0.0 buyer  copy 1 goes to p1',
    '      1.0 p1     run 1 of the work begins',
    '      2.0 p1     KILLED at working',
    '      5.0 buyer  copy 1 from p1: cut',
  ]);
});
