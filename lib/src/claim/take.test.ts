import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exampleHex, examplePurchase, exampleTake, exampleNowMs as now } from './example.ts';
import type { ClaimRecord, Purchase } from './record.ts';
import type { TakeOutcome, TakeRequest } from './store.ts';
import { type TakeView, take } from './take.ts';

const paid: ClaimRecord['money'] = {
  state: 'settled',
  transaction: '0x1',
  amount: 10_000n,
  rank: 'facilitator',
};
const begin = { payload: new Uint8Array([1]), phase: 'pay' } as const;
const upfront = examplePurchase(1, { flow: 'upfront' });

function run(
  record: ClaimRecord | undefined,
  differing: {
    request?: Partial<TakeRequest>;
    purchase?: Partial<Purchase>;
    view?: Partial<TakeView>;
    atMs?: number;
  } = {},
): TakeOutcome {
  const purchase = { ...examplePurchase(1), ...differing.purchase };
  const view = {
    ...(record === undefined ? {} : { record }),
    older: [],
    full: false,
    nowMs: now + (differing.atMs ?? 0),
    ...differing.view,
  };
  return take(view, exampleTake(purchase, differing.request)).outcome;
}

function taken(outcome: TakeOutcome): ClaimRecord {
  assert.equal(outcome.kind, 'taken');
  return outcome.record;
}

const first = taken(run(undefined));

test('a new payment starts its work at once, as its first attempt, under the first fence', () => {
  const outcome = run(undefined);
  assert.equal(outcome.kind, 'taken');
  assert.deepEqual(outcome.hold, { key: first.key, owner: 'owner of 0001', fence: 1 });
  assert.deepEqual(first.work, { state: 'running' });
  assert.deepEqual(first.money, { state: 'none' });
  assert.equal(first.attempts, 1);
  assert.equal(first.lease?.untilMs, now + 30_000, 'the lease is counted in milliseconds');
});

test('where money moves first, taking begins the send, keeps the payload and starts no work', () => {
  const view = { older: [], full: false, nowMs: now };
  const step = take(view, exampleTake(upfront, { begin: { ...begin, startBlock: 7 } }));
  const record = taken(step.outcome);
  assert.deepEqual(record.work, { state: 'idle' });
  assert.deepEqual(record.money, { state: 'sending', phase: 'pay', n: 1 });
  assert.equal(record.attempts, 0);
  assert.equal(record.sends, 1);
  assert.equal(record.startBlock, 7);
  assert.deepEqual(step.change.payload, begin.payload);
});

test('C01: while its owner may act, a payment is known to everybody else', () => {
  for (const atMs of [0, 29_999]) assert.equal(run(first, { atMs }).kind, 'known');
});

test('a dead owner is replaced only after lease and grace, with the next fence', () => {
  assert.equal(run(first, { atMs: 30_000 }).kind, 'known', 'the lease is over, the grace is not');
  assert.equal(run(first, { atMs: 34_999 }).kind, 'known');
  const second = taken(run(first, { atMs: 35_000 }));
  assert.equal(second.fence, 2);
  assert.equal(second.attempts, 2);
});

test('C11: when the attempts are used up the payment is exhausted, whatever the request then is', () => {
  const second = taken(run(first, { atMs: 35_000 }));
  const third = run(second, { atMs: 70_000, purchase: { fingerprint: exampleHex(0xbad) } });
  assert.equal(third.kind, 'known');
  assert.deepEqual(third.record.work, { state: 'exhausted' });
  assert.equal('lease' in third.record, false);
  assert.equal(run(third.record, { atMs: 999_999 }).kind, 'known');
});

test('after a failed and unpaid run another request may take the payment, and the attempts stay counted', () => {
  const failed: ClaimRecord = { ...first, work: { state: 'failed' }, lease: undefined };
  const other = { fingerprint: exampleHex(0xbad), route: 'GET /other', signatureHash: exampleHex(9) };
  const replaced = taken(run(failed, { purchase: { ...other, maxAttempts: 99 } }));
  assert.equal(replaced.fingerprint, other.fingerprint);
  assert.equal(replaced.route, 'GET /other');
  assert.equal(replaced.attempts, 2);
  assert.equal(replaced.maxAttempts, 2, 'a request cannot raise its own bound');
  const refused = run(failed, { purchase: other, request: { mayReplaceRequest: false } });
  assert.equal(refused.kind, 'known');
  const committed: ClaimRecord = { ...failed, binding: 'signed' };
  assert.equal(run(committed, { purchase: other }).kind, 'known', 'it committed to its request by signature');
  assert.equal(run(committed).kind, 'taken', 'for which it still runs');
});

test('an answer that is kept but unsent belongs to its request alone', () => {
  const kept: ClaimRecord = { ...first, work: { state: 'done', partial: false }, lease: undefined };
  assert.equal(run(kept, { purchase: { fingerprint: exampleHex(0xbad) } }).kind, 'known');
  assert.equal(run(kept).kind, 'known', 'its send begins with beginSend');
  assert.equal(run(kept, { request: { begin } }).kind, 'known');
});

test('paid work that failed runs again for the same request and signature, and for no other (S2)', () => {
  const owed: ClaimRecord = {
    ...first,
    flow: 'upfront',
    money: paid,
    work: { state: 'failed' },
    lease: undefined,
  };
  assert.equal(run(owed, { request: { begin } }).kind, 'taken');
  assert.equal(run(owed, { request: { begin }, purchase: { fingerprint: exampleHex(0xbad) } }).kind, 'known');
  assert.equal(
    run(owed, { request: { begin }, purchase: { signatureHash: exampleHex(0xbad) } }).kind,
    'known',
  );
  const again = taken(run(owed, { request: { begin } }));
  assert.deepEqual(again.money, paid, 'and is not sent again');
  assert.deepEqual(again.work, { state: 'running' });
});

test('paid work that failed as often as it may is exhausted and stays paid', () => {
  const owed: ClaimRecord = {
    ...first,
    flow: 'upfront',
    money: paid,
    work: { state: 'running' },
    attempts: 2,
    lease: { owner: 'a', fence: 1, untilMs: now },
  };
  const outcome = run(owed, { atMs: 5_000 });
  assert.equal(outcome.kind, 'known');
  assert.deepEqual(outcome.record.work, { state: 'exhausted' });
  assert.deepEqual(outcome.record.money, paid);
});

test('a payment that has just moved belongs to its owner until the lease is over, though no work runs yet', () => {
  const lease = { owner: 'a', fence: 1, untilMs: now + 30_000 };
  const moved: ClaimRecord = {
    ...first,
    flow: 'upfront',
    money: paid,
    work: { state: 'idle' },
    attempts: 0,
    lease,
  };
  assert.equal(run(moved, { request: { begin }, atMs: 29_999 }).kind, 'known');
  assert.equal(run(moved, { request: { begin }, atMs: 30_000 }).kind, 'taken');
});

test('money is not asked for work that could not run any more, or may still be running', () => {
  const running: ClaimRecord = { ...first, attempts: 2 };
  const late = run(running, { request: { begin }, atMs: 35_000 });
  assert.equal(late.kind, 'known');
  assert.deepEqual(late.record.work, { state: 'exhausted' });
  assert.equal(run(first, { request: { begin }, atMs: 34_999 }).kind, 'known', 'within the grace');
  const moved = taken(run(first, { request: { begin }, atMs: 35_000 }));
  assert.deepEqual([moved.work.state, moved.money.state], ['idle', 'sending']);
});

test('a settled authorization payment is answered from its record, even when its owner died', () => {
  const settled: ClaimRecord = {
    ...first,
    work: { state: 'done', partial: false },
    money: paid,
    lease: undefined,
  };
  assert.equal(run(settled).kind, 'known');
});

test('unknown and refused payments are never taken again', () => {
  const axes: readonly ClaimRecord['money'][] = [
    { state: 'unknown', phase: 'pay', n: 1 },
    { state: 'sending', phase: 'pay', n: 1 },
    { state: 'refused', why: 'definite', reason: 'insufficient_funds', rank: 'facilitator' },
  ];
  for (const money of axes) {
    const record: ClaimRecord = {
      ...first,
      flow: 'upfront',
      work: { state: 'idle' },
      money,
      lease: undefined,
    };
    assert.equal(run(record, { request: { begin } }).kind, 'known', money.state);
  }
});

test('a full store says so to newcomers and goes on serving what it knows', () => {
  assert.equal(run(undefined, { view: { full: true } }).kind, 'full');
  assert.equal(run(first, { view: { full: true } }).kind, 'known');
  assert.equal(
    run({ ...first, work: { state: 'failed' }, lease: undefined }, { view: { full: true } }).kind,
    'taken',
  );
});

test('a payment that was answered from an older one stays so, also when the older record is gone', () => {
  const record: ClaimRecord = { ...first, lease: undefined, supersededBy: exampleHex(7) };
  const older: ClaimRecord = { ...first, ...examplePurchase(7), money: paid };
  assert.equal(run(record, { view: { supersedes: older } }).kind, 'superseded');
  assert.equal(run(record).kind, 'known');
});

test('past its last moment a payment that was never sent is not taken, and one whose money moved still runs', () => {
  const request = { notAfterMs: now - 1 };
  assert.equal(run(undefined, { request }).kind, 'late');
  const failed: ClaimRecord = { ...first, work: { state: 'failed' }, lease: undefined };
  assert.equal(run(failed, { request }).kind, 'late');
  const owed: ClaimRecord = { ...failed, ...upfront, money: paid };
  assert.equal(run(owed, { request }).kind, 'taken');
  assert.equal(run(undefined, { request: { notAfterMs: now } }).kind, 'taken');
});

test('S07: what a purchase no longer asks for goes with the one that asked: a retake brings its own assurance', () => {
  const careful = examplePurchase(1, { assurance: 3, binding: 'echoed' });
  const first = take({ older: [], nowMs: now, full: false }, exampleTake(careful)).outcome;
  assert.equal(first.kind, 'taken');
  const failed: ClaimRecord = { ...first.record, work: { state: 'failed' }, lease: undefined };
  const again = take({ record: failed, older: [], nowMs: now, full: false }, exampleTake(examplePurchase(1)));
  assert.equal(again.outcome.kind, 'taken');
  assert.deepEqual(
    [again.outcome.record.assurance, again.outcome.record.binding],
    [undefined, undefined],
    'a seller without a reader could never resolve the other’s',
  );
});
