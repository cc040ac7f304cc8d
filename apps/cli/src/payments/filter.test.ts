import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClaimRecord, ListQuery } from 'counterfoil/claim';
import { MisuseError } from '../io.ts';
import { type FilterOptions, filterOf, findPage } from './filter.ts';
import { base, hash } from './rig/record.ts';

const nowMs = 1_000_000;
const settled = { state: 'settled', transaction: hash, amount: 1n, rank: 'facilitator' } as const;
const records: Readonly<Record<string, ClaimRecord>> = {
  plain: base,
  lost: {
    ...base,
    money: { state: 'sending', phase: 'pay', n: 1 },
    lease: { owner: 'a', fence: 1, untilMs: nowMs },
  },
  owed: { ...base, flow: 'upfront', money: settled, work: { state: 'exhausted' } },
  busy: { ...base, money: settled, lease: { owner: 'a', fence: 1, untilMs: nowMs + 1 } },
  closed: { ...base, money: settled, closed: { atMs: 1, reference: 'ticket' } },
  delivered: { ...base, money: settled, work: { state: 'done', partial: false }, deliveredAtMs: 5 },
  canceled: { ...base, money: { state: 'refused', why: 'canceled', reason: 'x', rank: 'chain' } },
  expired: { ...base, money: { state: 'refused', why: 'expired', reason: 'x', rank: 'chain' } },
  reversed: { ...base, money: { state: 'reversed', transaction: hash } },
  elsewhere: {
    ...base,
    network: 'eip155:8453',
    payer: `0x${'cc'.repeat(20)}`,
    route: 'POST /chat',
    createdAtMs: nowMs - 3_600_000,
  },
};

const cases: readonly (readonly [FilterOptions, readonly string[]])[] = [
  [{}, Object.keys(records)],
  [{ unknown: true }, ['lost']],
  [{ money: 'unknown' }, ['lost']],
  [{ owed: true }, ['owed']],
  [{ canceled: true }, ['canceled']],
  [{ reversed: true }, ['reversed']],
  [{ money: 'refused' }, ['canceled', 'expired']],
  [{ work: 'done' }, ['delivered']],
  [{ flow: 'upfront' }, ['owed']],
  [{ network: 'eip155:8453' }, ['elsewhere']],
  [{ payer: '0xCCcc' }, ['elsewhere']],
  [{ route: '/chat' }, ['elsewhere']],
  [{ since: '30min' }, Object.keys(records).filter((name) => name !== 'elsewhere')],
  [{ since: '2h', route: 'POST' }, ['elsewhere']],
  [{ since: '1970-01-01T00:16' }, []],
  [{ owed: true, flow: 'authorization' }, []],
];
for (const [options, names] of cases) {
  test(`payments that fit ${JSON.stringify(options)} are ${names.length > 3 ? names.length : names.join(', ') || 'none'}`, () => {
    const { fits } = filterOf(options, nowMs);
    const found = Object.entries(records).filter(([, record]) => fits(record, nowMs));
    assert.deepEqual(
      found.map(([name]) => name),
      names,
    );
  });
}

test('what nobody could mean is wrong use', () => {
  const wrong: readonly FilterOptions[] = [
    { money: 'lost' },
    { work: 'over' },
    { flow: 'later' },
    { since: 'yesterday' },
    { since: '7' },
    { since: '2026-13-45' },
    { unknown: true, reversed: true },
    { money: 'settled', canceled: true },
  ];
  for (const options of wrong)
    assert.throws(() => filterOf(options, nowMs), MisuseError, JSON.stringify(options));
});

/** A store in the order of its keys; counts what was asked of it. */
function storeOf(held: readonly ClaimRecord[]) {
  const asked: ListQuery[] = [];
  return {
    asked,
    list: async (query: ListQuery) => {
      asked.push(query);
      const start = query.after === undefined ? 0 : held.findIndex(({ key }) => key === query.after) + 1;
      return held.slice(start, start + query.limit);
    },
    due: async (limit: number) => held.toReversed().slice(0, limit),
  };
}

const many = Array.from({ length: 1_200 }, (_, index) => ({
  ...base,
  key: String(index).padStart(5, '0'),
  route: index % 100 === 0 ? 'GET /rare' : 'GET /common',
}));

test('a page is filled with what fits, over as many pages of the store as it takes, and names the next one', async () => {
  const store = storeOf(many);
  const filter = filterOf({ route: '/rare', work: 'idle' }, nowMs);
  const first = await findPage(store, filter, { limit: 7, nowMs });
  assert.deepEqual([first.records.length, first.next, store.asked[0]?.work], [7, '00600', 'idle']);
  const rest = await findPage(store, filter, { limit: 7, nowMs, after: first.next });
  assert.deepEqual(
    rest.records.map(({ key }) => key),
    ['00700', '00800', '00900', '01000', '01100'],
  );
  assert.equal(rest.next, undefined);
});

test('what is owed is taken from what the store has ready, in the order of the keys, and not searched for', async () => {
  const owed = many.slice(0, 900).map((record) => ({ ...record, money: settled }));
  const store = storeOf(owed);
  const filter = filterOf({ owed: true, route: '/rare' }, nowMs);
  const { records: found, next } = await findPage(store, filter, { limit: 2, nowMs, after: '00000' });
  assert.deepEqual([found.map(({ key }) => key), next, store.asked], [['00100', '00200'], '00200', []]);
  const crowd = storeOf(many.map((record) => ({ ...record, money: settled })));
  const late = await findPage(crowd, filter, { limit: 2, nowMs, after: '00800' });
  assert.deepEqual(
    late.records.map(({ key }) => key),
    ['00900', '01000'],
  );
});
