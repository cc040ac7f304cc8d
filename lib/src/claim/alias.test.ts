import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { aliasAtStake, aliasLimit, claimedAlias, lookAlias } from './alias.ts';
import { exampleHex, examplePurchase, exampleTake, exampleNowMs as now } from './example.ts';
import { recordMoney } from './money.ts';
import type { ClaimRecord, Purchase } from './record.ts';
import { beginSend } from './send.ts';
import type { Step } from './step.ts';
import type { Hold, MoneyFact } from './store.ts';
import { take } from './take.ts';
import { fail, heartbeat, keepAndBeginSend, release } from './work.ts';

const alias = exampleHex(0xa11a5);
const lease = { owner: 'a', fence: 1, untilMs: now + 30_000 };
const bytes = new Uint8Array([1]);

function record(n: number, differing: Partial<ClaimRecord> = {}): ClaimRecord {
  return {
    ...under(n),
    work: { state: 'running' },
    money: { state: 'none' },
    fence: 1,
    attempts: 1,
    lease,
    sendLog: [],
    sends: 0,
    createdAtMs: now - 60_000 + n,
    updatedAtMs: now,
    ...differing,
  };
}

/** A purchase under the identifier, for a request of its own. */
function under(n: number): Purchase {
  return examplePurchase(n, { alias, fingerprint: exampleHex(0xf000 + n) });
}

const look = (others: readonly ClaimRecord[], atMs: number = now): ReturnType<typeof lookAlias> =>
  lookAlias({ aliased: others, nowMs: atMs }, { key: exampleHex(99), graceMs: 5_000 });

const money: { readonly [state in ClaimRecord['money']['state']]: ClaimRecord['money'] } = {
  none: { state: 'none' },
  sending: { state: 'sending', phase: 'pay', n: 1 },
  unknown: { state: 'unknown', phase: 'pay', n: 1 },
  held: { state: 'held', transaction: '0x1', rank: 'chain' },
  settled: { state: 'settled', transaction: '0x1', amount: 1n, rank: 'chain' },
  refused: { state: 'refused', why: 'expired', reason: 'expired', rank: 'chain' },
  voided: { state: 'voided', transaction: '0x1' },
  reversed: { state: 'reversed', transaction: '0x1' },
  refunded: { state: 'refunded', reference: 'order 7' },
};

test('C13: money that is out or has moved holds its identifier at any time, and money that is over never does', () => {
  for (const state of ['sending', 'unknown', 'held', 'settled'] as const) {
    const other = record(1, { money: money[state], lease: undefined });
    assert.equal(look([other], now + 10 ** 12).holder, other, state);
    assert.equal(claimedAlias(other), alias);
  }
  for (const state of ['refused', 'voided', 'reversed', 'refunded'] as const) {
    const other = record(1, { money: money[state] });
    assert.deepEqual(look([other]), {}, state);
    assert.equal(claimedAlias(other), undefined);
  }
});

test('C13: what was never sent holds its identifier through its owner only: lease, and grace for a run', () => {
  const running = record(1);
  for (const atMs of [now, lease.untilMs, lease.untilMs + 4_999]) {
    assert.deepEqual(look([running], atMs), { holder: running });
  }
  assert.deepEqual(look([running], lease.untilMs + 5_000), { stale: running });
  const idle = record(1, { work: { state: 'idle' } });
  assert.deepEqual(look([idle], lease.untilMs - 1), { holder: idle });
  assert.deepEqual(look([idle], lease.untilMs), { stale: idle });
  for (const work of ['idle', 'failed', 'exhausted'] as const) {
    assert.equal(claimedAlias(record(1, { work: { state: work }, lease: undefined })), undefined);
  }
  const superseded = record(1, { supersededBy: exampleHex(7), work: { state: 'idle' }, lease: undefined });
  assert.equal(claimedAlias(superseded), undefined);
});

test('a payment never stands in its own way, and one without an identifier in nobody’s', () => {
  const own = record(99, { money: money.settled });
  assert.deepEqual(look([own]), {});
  const { alias: _, ...bare } = record(1, { money: money.settled });
  assert.equal(claimedAlias(bare), undefined);
  assert.deepEqual(lookAlias({ nowMs: now }, { key: exampleHex(99), graceMs: 0 }), {});
});

test('an identifier is at stake only before its payment is first sent: the one presented now, else the one of before', () => {
  const { alias: _, ...bare } = under(1);
  assert.equal(aliasAtStake(undefined, under(1)), alias);
  assert.equal(aliasAtStake(undefined, bare), undefined);
  assert.equal(aliasAtStake(record(1), bare), alias);
  assert.equal(aliasAtStake(record(1), { ...bare, alias: exampleHex(1) }), exampleHex(1));
  assert.equal(aliasAtStake(record(1, { money: money.unknown }), under(1)), undefined);
  assert.equal(aliasAtStake(undefined), undefined);
});

test('C13: a conflict stores nothing, whatever else is wrong with the payment', () => {
  const view = { older: [], aliased: [record(1)], full: true, nowMs: now };
  const step = take(view, exampleTake(under(2), { notAfterMs: now - 1 }));
  assert.equal(step.outcome.kind, 'alias_conflict');
  assert.deepEqual(step.change, {});
});

test('C13: taking an identifier over writes both records, and the late owner’s run counts as failed', () => {
  const stale = record(1, { lease: { ...lease, untilMs: now - 5_000 } });
  const step = take({ older: [], aliased: [stale], full: false, nowMs: now }, exampleTake(under(2)));
  assert.equal(step.outcome.kind, 'taken');
  assert.equal(step.change.other?.key, stale.key);
  assert.deepEqual(step.change.other?.work, { state: 'failed' });
  assert.equal(step.change.other !== undefined && 'lease' in step.change.other, false);
});

test('S3, C13: the earlier payment goes before the identifier, also at a first send', () => {
  const older = record(1, { money: money.unknown, lease: undefined });
  const kept = record(2, { work: { state: 'done', partial: false }, lease: undefined });
  const view = { older: [older], aliased: [older], nowMs: now };
  const send = { owner: 'b', leaseMs: 30_000, maxSends: 3 };
  const asked = (earlierPayment: 'serve' | 'off'): string =>
    beginSend(kept, view, { ...send, earlierPayment }).outcome.kind;
  assert.equal(asked('serve'), 'earlier_unknown');
  assert.equal(asked('off'), 'alias_conflict');
});

test('S3, C13: at a later attempt too the earlier payment goes before the identifier', () => {
  const owed = record(1, { ...examplePurchase(1), alias, money: money.settled, lease: undefined });
  const again = record(2, { ...examplePurchase(2), alias, work: { state: 'failed' }, lease: undefined });
  const view = { record: again, older: [owed], aliased: [owed], full: false, nowMs: now };
  const asked = (earlierPayment: 'serve' | 'off'): string =>
    take(view, exampleTake({ ...examplePurchase(2), alias }, { earlierPayment })).outcome.kind;
  assert.equal(asked('serve'), 'superseded');
  assert.equal(asked('off'), 'alias_conflict');
});

test('C13: what is paid for runs, and what may have been sent is sent again, whoever has the identifier by now', () => {
  const holder = record(1, { money: money.settled });
  const view = { older: [], aliased: [holder], full: false, nowMs: now };
  const owed = record(2, {
    flow: 'upfront',
    money: money.settled,
    work: { state: 'failed' },
    lease: undefined,
  });
  assert.equal(take({ ...view, record: owed }, exampleTake(under(2))).outcome.kind, 'taken');
  const unknown = record(2, { money: money.unknown, lease: undefined });
  const send = { owner: 'b', leaseMs: 30_000, maxSends: 3, earlierPayment: 'serve' } as const;
  assert.equal(beginSend(unknown, view, send).outcome.kind, 'begun');
});

/** Four payments under one identifier, and every hold that anybody was ever given. */
type Desk = { readonly records: Map<string, ClaimRecord>; readonly holds: Hold[]; nowMs: number };
type Move = (desk: Desk, key: string, pick: number) => void;

function commit<O>(desk: Desk, key: string, { change, outcome }: Step<O>): O {
  if (change.record === null) desk.records.delete(key);
  else if (change.record !== undefined) desk.records.set(key, change.record);
  if (change.other !== undefined) desk.records.set(change.other.key, change.other);
  return outcome;
}

/** What a store would find, with its limit. */
function aliasedOf(desk: Desk): readonly ClaimRecord[] {
  return [...desk.records.values()]
    .filter((one) => claimedAlias(one) === alias)
    .sort((a, b) => a.createdAtMs - b.createdAtMs || (a.key < b.key ? -1 : 1))
    .slice(0, aliasLimit);
}

function held(
  desk: Desk,
  pick: number,
  run: (at: ClaimRecord | undefined, hold: Hold) => Step<unknown>,
): void {
  const hold = desk.holds[pick % Math.max(1, desk.holds.length)];
  if (hold !== undefined) commit(desk, hold.key, run(desk.records.get(hold.key), hold));
}

function learn(desk: Desk, key: string, fact: MoneyFact): void {
  commit(desk, key, recordMoney(desk.records.get(key), fact, desk.nowMs));
}

function present(desk: Desk, key: string, begins: boolean): void {
  const { nowMs } = desk;
  const at = desk.records.get(key);
  const view = { older: [], full: false, nowMs, aliased: aliasedOf(desk), ...(at && { record: at }) };
  const purchase = { ...under(Number.parseInt(key, 16)), maxAttempts: 50 };
  const begin = begins ? { begin: { payload: bytes, phase: 'pay' as const } } : {};
  const outcome = commit(desk, key, take(view, exampleTake(purchase, begin)));
  if (outcome.kind === 'taken') desk.holds.push(outcome.hold);
}

const moves: { readonly [kind: string]: Move } = {
  take: (desk, key) => present(desk, key, false),
  takeAndSend: (desk, key) => present(desk, key, true),
  beginSend: (desk, key) => {
    const request = { owner: 'b', leaseMs: 30_000, maxSends: 99, earlierPayment: 'serve' } as const;
    const view = { older: [], nowMs: desk.nowMs, aliased: aliasedOf(desk) };
    const outcome = commit(desk, key, beginSend(desk.records.get(key), view, request));
    if (outcome.kind === 'begun') desk.holds.push(outcome.hold);
  },
  keep: (desk, _, pick) =>
    held(desk, pick, (at, hold) => {
      const send = { answer: bytes, payload: bytes, phase: 'pay', leaseMs: 30_000 } as const;
      return keepAndBeginSend(at, hold, { ...send, nowMs: desk.nowMs });
    }),
  beat: (desk, _, pick) =>
    held(desk, pick, (at, hold) => heartbeat(at, hold, { leaseMs: 30_000, nowMs: desk.nowMs })),
  fail: (desk, _, pick) => held(desk, pick, (at, hold) => fail(at, hold, desk.nowMs)),
  release: (desk, _, pick) => held(desk, pick, (at, hold) => release(at, hold, desk.nowMs)),
  unsent: (desk, _, pick) =>
    held(desk, pick, (at, hold) => recordMoney(at, { fact: 'unsent', n: at?.sends ?? 1, hold }, desk.nowMs)),
  lose: (desk, key) => learn(desk, key, { fact: 'unknown', n: 1, reason: 'timeout' }),
  settle: (desk, key) => learn(desk, key, { fact: 'settled', transaction: '0x1', amount: 1n, by: 'chain' }),
  expire: (desk, key) =>
    learn(desk, key, { fact: 'refused', why: 'expired', reason: 'expired', by: 'chain' }),
  refund: (desk, key) => learn(desk, key, { fact: 'refunded', reference: 'order 7' }),
  pass: (desk, _, pick) => {
    desk.nowMs += (pick % 8) * 6_000;
  },
  clockJumps: (desk, _, pick) => {
    desk.nowMs = now + (pick % 20) * 10_000;
  },
};

test('C13: under any interleaving of owners, crashes and lost answers one identifier is charged once', () => {
  const kind = fc.constantFrom(...Object.keys(moves));
  const step = fc.tuple(kind, fc.integer({ min: 1, max: 4 }), fc.nat({ max: 200 }));
  let taken = 0;
  fc.assert(
    fc.property(fc.array(step, { minLength: 20, maxLength: 80, size: 'max' }), (steps) => {
      const desk: Desk = { records: new Map(), holds: [], nowMs: now };
      for (const [move, n, pick] of steps) {
        moves[move]?.(desk, exampleHex(n), pick);
        const all = [...desk.records.values()];
        const charged = all.filter((one) => claimedAlias(one) !== undefined && one.money.state !== 'none');
        assert.ok(charged.length <= 1, `${charged.length} payments are charged after ${move}`);
        const owned = all.filter((one) => one.money.state === 'none' && one.lease !== undefined);
        assert.ok(owned.length <= 1, `${owned.length} unsent payments have an owner after ${move}`);
        assert.ok(charged.length + owned.length <= 1, `one is charged and another could be after ${move}`);
      }
      taken += desk.holds.length;
    }),
    { seed: 1_302, numRuns: 3_000 },
  );
  assert.ok(taken > 3_000, `only ${taken} payments were taken`);
});
