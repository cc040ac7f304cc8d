import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClaimRecord } from 'counterfoil/claim';
import pc from 'picocolors';
import { base, hash } from './rig/record.ts';
import { listTable, rowOf, showJson, showText } from './view.ts';

const plain = pc.createColors(false);
const lostSettle: ClaimRecord = {
  ...base,
  work: { state: 'done', partial: false },
  money: { state: 'sending', phase: 'pay', n: 1 },
  lease: { owner: 'a:1', fence: 1, untilMs: 60_000 },
  attempts: 1,
  sends: 1,
  answerBytes: 120,
  sendLog: [
    { atMs: 2_000, n: 1, phase: 'pay', said: 'begun', by: 'seller' },
    {
      atMs: 2_250,
      n: 1,
      phase: 'pay',
      said: 'unknown',
      by: 'facilitator',
      reason: 'timeout',
      transaction: hash,
    },
  ],
};

test('a payment is one row, with the amount in the decimals of its token and the money as it must be read now', () => {
  assert.deepEqual(listTable([lostSettle], 61_000, plain).split('\n')[1]?.split(/ {2,}/), [
    '0x0123456789',
    'GET /weather',
    '0xa1a1a1…a1a1',
    '0.01 USDC',
    'unknown',
    '-',
    'done',
    '1/2',
    '-',
    '1 min',
  ]);
  assert.equal(rowOf(lostSettle, 59_000).money, 'sending');
  assert.equal(rowOf(lostSettle, 60_000).money, 'unknown');
});

test('money is painted by what it means', () => {
  const colors = pc.createColors(true);
  const settled = {
    ...base,
    money: { state: 'settled', transaction: hash, amount: 1n, rank: 'chain' },
  } as const;
  assert.ok(listTable([settled], 0, colors).includes(colors.green('settled')));
  assert.ok(listTable([lostSettle], 99_000, colors).includes(colors.yellow('unknown')));
  const refused = {
    ...base,
    money: { state: 'refused', why: 'expired', reason: 'x', rank: 'chain' },
  } as const;
  assert.ok(listTable([refused], 0, colors).includes(colors.red('refused')));
});

test('a payment is shown with both axes, its sends as a timeline, and what happens next', () => {
  const text = showText(lostSettle, 61_000, plain);
  assert.match(text, /money +unknown \(pay, send 1\)\n/);
  assert.match(text, /work +done, attempt 1 of 2\n/);
  assert.match(text, /lease +a:1, fence 1, over since 1970-01-01T00:01:00Z\n/);
  assert.match(text, /valid +until 1970-01-01T00:05:00Z\n/);
  assert.match(text, /answer +120 octets kept, sealed, never delivered whole\n/);
  assert.match(text, /00:00:02Z +pay 1 +begun \(seller\)\n/);
  assert.match(text, /00:00:02Z +\+250 ms +pay 1 +unknown \(facilitator\) +timeout 0xcd/);
  assert.match(text, /next\n {2}The chain is asked/);
});

test('every state of the money has its line', () => {
  const states: readonly [ClaimRecord['money'], RegExp][] = [
    [{ state: 'none' }, /nothing was ever sent/],
    [{ state: 'held', transaction: hash, rank: 'chain' }, /held in 0xcd/],
    [{ state: 'settled', transaction: hash, amount: 1n, rank: 'chain' }, /settled in 0xcd.*, chain latest/],
    [
      { state: 'settled', transaction: hash, amount: 1n, rank: 'chain', block: 12, finality: 3 },
      /settled in 0xcd.*, block 12, chain 3\n/,
    ],
    [
      { state: 'settled', transaction: hash, amount: 1n, rank: 'facilitator' },
      /settled in 0xcd.*, facilitator-asserted\n/,
    ],
    [{ state: 'refused', why: 'expired', reason: 'late', rank: 'chain' }, /refused: expired, late/],
    [{ state: 'voided', transaction: hash }, /voided, 0xcd/],
    [{ state: 'reversed', transaction: hash }, /reversed, 0xcd/],
    [{ state: 'refunded', reference: 'ticket 7' }, /refunded, ticket 7/],
  ];
  for (const [money, pattern] of states) assert.match(showText({ ...base, money }, 0, plain), pattern);
  const linked = showText(
    { ...base, supersededBy: 'older', servedTo: 'newer', abandoned: true, deliveredAtMs: 1, keepUntilMs: 2 },
    0,
    plain,
  );
  assert.match(linked, /served by +older\nserved to +newer/);
  assert.match(linked, /delivered 1970.*kept until.*not answered yet/);
});

test('P06: what a stranger put into a record cannot move the cursor', () => {
  const hostile = {
    ...lostSettle,
    route: 'GET \u001b[2J',
    resourceUrl: 'https://x/\u202e',
    lease: { owner: '\u0007', fence: 1, untilMs: 0 },
  };
  for (const text of [showText(hostile, 0, plain), listTable([hostile], 0, plain)])
    assert.ok(!/[\p{Cc}\u202e]/u.test(text.replaceAll('\n', '')));
});

test('for a program the record is whole, with the money as it must be read now', () => {
  const json = showJson(lostSettle, 61_000) as Record<string, unknown>;
  assert.deepEqual(json.moneyNow, { state: 'unknown', phase: 'pay', n: 1 });
  assert.equal(json.leaseAlive, false);
  assert.equal(json.sends, 1);
});

test('F01: whoever reads a record learns on whose word it must rest, and whether it is final', () => {
  const money = {
    state: 'settled',
    transaction: hash,
    amount: 1n,
    rank: 'chain',
    finality: 'latest',
  } as const;
  const shown = (change: Partial<ClaimRecord>): string => showText({ ...base, ...change }, 0, plain);
  const sure = /settlement +will be believed on the word of: facilitator-asserted\n/;
  for (const open of [{ state: 'none' }, { state: 'unknown', phase: 'pay', n: 1 }] as const)
    assert.match(shown({ money: open }), sure);
  assert.match(shown({ money }), /settlement +believed on the word of: facilitator-asserted; not final/);
  assert.match(shown({ money, assurance: 2 }), /chain 2; not final, looked at again at the next pass\n/);
  assert.match(shown({ money, proveAtMs: 60_000 }), /looked at again from 1970-01-01T00:01:00Z\n/);
  const final = { ...money, finality: 'finalized' } as const;
  assert.match(shown({ money: final }), /final, it is not looked at again\n/);
  assert.equal(rowOf({ ...base, money: final }, 0).basis, 'chain finalized');
});

test('what is owed and what an operator has closed stand out in a list', () => {
  const money = { state: 'settled', transaction: hash, amount: 1n, rank: 'facilitator' } as const;
  const owed: ClaimRecord = { ...base, money, work: { state: 'exhausted' } };
  const closed = { ...owed, closed: { atMs: 1_000, reference: 'ticket 7' } };
  assert.match(listTable([owed], 0, plain), /facilitator-asserted +exhausted, owed/);
  assert.match(listTable([closed], 0, plain), /exhausted, closed/);
  assert.deepEqual(
    [rowOf(owed, 0).owed, rowOf(closed, 0).owed, rowOf(closed, 0).closed],
    [true, false, 'ticket 7'],
  );
  assert.match(showText(closed, 0, plain), /closed +1970-01-01T00:00:01Z, ticket 7\n/);
});
