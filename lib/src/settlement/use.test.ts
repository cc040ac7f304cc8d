import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Asked,
  asset,
  cancel,
  hex,
  log,
  nonce,
  payer,
  payTo,
  question,
  receipt,
  type Script,
  scriptedRpc,
  settledAt,
  transaction,
  transfer,
  transferTopic,
  use,
  usedTopic,
  word,
} from '../../test/node.ts';
import type { Json, JsonObject } from '../wire/v2.ts';
import type { AuthorizationQuestion } from './chain.ts';
import type { Reading } from './state.ts';
import { readUse, type Use } from './use.ts';

function useOf(script: Script, asked: Partial<AuthorizationQuestion> = {}): Promise<Reading<Use>> {
  return readUse(scriptedRpc(script), { ...question, ...asked }, 110);
}

const settled: Use = { as: 'settled', transaction, block: 105 };

const notOurs: readonly (readonly [string, readonly JsonObject[]])[] = [
  ['of another value', [use({ index: 4 }), transfer({ index: 5 }, { value: 9_999n })]],
  ['of nothing', [use({ index: 4 }), transfer({ index: 5 }, { value: 0n })]],
  ['of a larger value', [use({ index: 4 }), transfer({ index: 5 }, { value: 10_001n })]],
  [
    'of a value beyond a double',
    [use({ index: 4 }), transfer({ index: 5 }, { value: 2n ** 200n + 10_000n })],
  ],
  [
    'that a token with a fee has made smaller, the fee beside it',
    [
      use({ index: 4 }),
      transfer({ index: 5 }, { value: 9_900n }),
      transfer({ index: 6 }, { to: asset, value: 100n }),
    ],
  ],
  [
    'whose fee goes out first',
    [
      use({ index: 4 }),
      transfer({ index: 5 }, { to: asset, value: 100n }),
      transfer({ index: 6 }, { value: 9_900n }),
    ],
  ],
  ['from somebody else', [use({ index: 4 }), transfer({ index: 5 }, { from: payTo })]],
  ['to somebody else', [use({ index: 4 }), transfer({ index: 5 }, { to: `0x${'33'.repeat(20)}` })]],
  ['of another token', [use({ index: 4 }), transfer({ index: 5 }, {}, { address: `0x${'b6'.repeat(20)}` })]],
  ['before the use', [transfer({ index: 3 }), use({ index: 4 })]],
  ['of no value at all', [use({ index: 4 })]],
  ['whose value is no word', [use({ index: 4 }), transfer({ index: 5 }, {}, { data: '0x2710' })]],
  ['whose topics are missing', [use({ index: 4 }), transfer({ index: 5 }, {}, { topics: [transferTopic] })]],
  [
    'of the next authorization in a batch',
    [use({ index: 4 }), log([usedTopic, word(payer), word(7n)], { index: 5 }), transfer({ index: 6 })],
  ],
  [
    'behind a smaller one that is listed after it',
    [use({ index: 4 }), transfer({ index: 6 }), transfer({ index: 5 }, { value: 1n })],
  ],
  [
    'behind a smaller one',
    [use({ index: 4 }), transfer({ index: 5 }, { value: 1n }), transfer({ index: 6 })],
  ],
];
for (const [name, logs] of notOurs) {
  test(`S07: a use with a transfer ${name} is not our settlement`, async () => {
    const read = await useOf({ receipt: receipt(logs) });
    assert.deepEqual(read, { ok: true, value: { ...settled, as: 'used_elsewhere' } });
  });
}

test('S07: a success of a token that does not revert on a used nonce shows the first use, and that is not ours', async () => {
  const first = word(1n);
  const at = { index: 4, block: 90, transaction: first };
  const read = await useOf({ logs: [use(at)], receipt: receipt([use(at), transfer({ ...at, index: 5 })]) });
  assert.deepEqual(read, { ok: true, value: { as: 'used_elsewhere', transaction: first, block: 90 } });
});

test('S07: a transaction that succeeded without a use of the authorization proves nothing', async () => {
  for (const logs of [[], [transfer({ index: 5 })]]) {
    assert.equal((await useOf({ receipt: receipt(logs) })).ok, false);
  }
});

test('hex digits may be written large, in logs, topics and receipts', async () => {
  const shout = (value: Json): Json =>
    JSON.parse(JSON.stringify(value).replace(/(?<=0x)[0-9a-f]+/g, (digits) => digits.toUpperCase()));
  const script = settledAt(105);
  assert.deepEqual(
    await useOf({ logs: shout(script.logs as Json), receipt: shout(script.receipt as Json) }),
    {
      ok: true,
      value: settled,
    },
  );
});

test('A03: in a batch of several authorizations each use is judged by its own transfer, in whatever order logs are listed', async () => {
  const other = `0x${'44'.repeat(20)}`;
  const logs = [
    transfer({ index: 9 }),
    log([usedTopic, word(other), word(7n)], { index: 2 }),
    use({ index: 8 }),
    transfer({ index: 3 }, { from: other, value: 1n }),
    log([usedTopic, word(payer), word(6n)], { index: 5 }),
    transfer({ index: 6 }, { value: 5n }),
    log(['0x1234'], { index: 7 }),
  ];
  assert.deepEqual(await useOf({ receipt: receipt(logs) }), { ok: true, value: settled });
});

test('S06: a use at or below the noted start is somebody else’s; one above it is ours, and so is any where none was noted', async () => {
  const as = async (block: number, asked: Partial<AuthorizationQuestion> = {}): Promise<string> => {
    const read = await useOf(settledAt(block), asked);
    return read.ok ? read.value.as : read.why;
  };
  assert.equal(await as(99), 'used_elsewhere');
  assert.equal(await as(100), 'used_elsewhere');
  assert.equal(await as(101), 'settled');
  assert.equal(await as(99, { startBlock: undefined }), 'settled');
});

test('after a reorg the place of a use is read from its receipt, not from the log that was found', async () => {
  const moved = [
    use({ index: 1, block: 106 }),
    transfer({ index: 2, block: 106 }),
    log([usedTopic, word(payer), word(9n)], { index: 4, block: 106 }),
    transfer({ index: 5, block: 106 }, { value: 1n }),
  ];
  assert.deepEqual(await useOf({ receipt: receipt(moved) }), { ok: true, value: { ...settled, block: 106 } });
});

test('a cancellation is one, whoever sent it and wherever it stands, if its transaction succeeded', async () => {
  const canceled = cancel({ index: 0, block: 90 });
  const script = { logs: [canceled], receipt: receipt([canceled]) };
  assert.deepEqual(await useOf(script), { ok: true, value: { as: 'canceled', transaction, block: 90 } });
  for (const wrong of [
    null,
    receipt([canceled], { status: '0x0' }),
    receipt([use({ index: 0, block: 90 })]),
  ]) {
    assert.equal((await useOf({ ...script, receipt: wrong })).ok, false);
  }
});

const both = [use({ index: 4 }), transfer({ index: 5 })];
const unreadable: readonly (readonly [string, Script])[] = [
  ['logs that are an object', { logs: {} }],
  ['logs that failed', { logs: new Error('range too wide') }],
  ['no log', { logs: [] }],
  ['a log that was removed', { logs: [use({ index: 4 }, { removed: true })] }],
  ['logs of nonsense', { logs: [null, 5, {}, { topics: 'x' }, { ...use({ index: 4 }), topics: [] }] }],
  ['a log without its block', { logs: [use({ index: 4 }, { blockNumber: null })] }],
  ['a log without its index', { logs: [use({ index: 4 }, { logIndex: 4 })] }],
  ['a log without its transaction', { logs: [use({ index: 4 }, { transactionHash: '0x5e' })] }],
  ['a log of another token', { logs: [use({ index: 4 }, { address: payTo })] }],
  ['a log of another payer', { logs: [log([usedTopic, word(payTo), nonce], { index: 4 })] }],
  ['a log of another nonce', { logs: [log([usedTopic, word(payer), word(1n)], { index: 4 })] }],
  ['a log of another event', { logs: [log([transferTopic, word(payer), nonce], { index: 4 })] }],
  ['a receipt that failed', { receipt: new Error('down') }],
  ['no receipt', { receipt: null }],
  ['a receipt of a reverted transaction', { receipt: receipt(both, { status: '0x0' }) }],
  ['a receipt whose status is a number', { receipt: receipt(both, { status: 1 }) }],
  ['a receipt without logs', { receipt: { status: '0x1', blockNumber: hex(105) } }],
  ['a receipt without the use', { receipt: receipt([transfer({ index: 5 })]) }],
  ['a receipt of another block than its logs', { receipt: receipt(both, { blockNumber: hex(106) }) }],
  ['a receipt without its block', { receipt: receipt(both, { blockNumber: null }) }],
  [
    'a receipt of another transaction',
    { receipt: receipt([use({ index: 4, transaction: word(9n) }), transfer({ index: 5 })]) },
  ],
];
for (const [name, script] of unreadable) {
  test(`F10: ${name} proves nothing`, async () => {
    assert.equal((await useOf(script)).ok, false);
  });
}

/** The ranges that a search in vain asks for. */
async function rangesOf(
  latest: number,
  startBlock: number | undefined,
): Promise<readonly (readonly number[])[]> {
  const calls: Asked[] = [];
  const read = await readUse(scriptedRpc({ logs: [] }, calls), { ...question, startBlock }, latest);
  assert.deepEqual(read, { ok: false, why: 'no log of the use' });
  return calls
    .map(([, [filter]]) => filter as JsonObject)
    .map(({ fromBlock, toBlock }) => [Number(fromBlock), Number(toBlock)]);
}

test('a search goes up from the noted block in steps of ten thousand, then a day of blocks back, and then ends', async () => {
  assert.deepEqual(await rangesOf(72_000, 50_000), [
    [50_001, 60_000],
    [60_001, 70_000],
    [70_001, 72_000],
    [40_001, 50_000],
    [30_001, 40_000],
    [20_001, 30_000],
    [10_001, 20_000],
    [6_800, 10_000],
  ]);
  assert.deepEqual(await rangesOf(12, 12), [[0, 12]]);
  assert.deepEqual(await rangesOf(12, 400), [[0, 12]]);
  assert.deepEqual(await rangesOf(12_000, undefined), [
    [2_001, 12_000],
    [0, 2_000],
  ]);
});
