import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Json, JsonObject } from '../wire/v2.ts';
import { type AuthorizationFate, type AuthorizationQuestion, createChainReader } from './chain.ts';
import type { RpcResult } from './rpc.ts';

const asset = `0x${'a5'.repeat(20)}`;
const payer = `0x${'11'.repeat(20)}`;
const payTo = `0x${'22'.repeat(20)}`;
const nonce = `0x${'0e'.repeat(32)}`;
const transaction = `0x${'5e'.repeat(32)}`;
const question: AuthorizationQuestion = {
  asset,
  payer,
  nonce,
  payTo,
  amount: 10_000n,
  validBeforeMs: 2_000_000,
  startBlock: 100,
};

/** keccak256 of the signatures, as block explorers show them. */
const usedTopic = '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5';
const canceledTopic = '0x1cdd46ff242716cdaa72d159d339a485b3438398348d68f09d7c8c0a59353d81';
const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

const hex = (n: number | bigint): string => `0x${n.toString(16)}`;
const word = (value: string | bigint): string =>
  `0x${(typeof value === 'string' ? value.slice(2) : value.toString(16)).padStart(64, '0')}`;

type Place = { readonly index: number; readonly block?: number; readonly transaction?: string };

function log(topics: readonly string[], place: Place, more: JsonObject = {}): JsonObject {
  return {
    address: asset,
    topics,
    data: '0x',
    blockNumber: hex(place.block ?? 105),
    logIndex: hex(place.index),
    transactionHash: place.transaction ?? transaction,
    removed: false,
    ...more,
  };
}

function use(place: Place, more: JsonObject = {}): JsonObject {
  return log([usedTopic, word(payer), nonce], place, more);
}

type Moved = { readonly from?: string; readonly to?: string; readonly value?: bigint };

function transfer(
  place: Place,
  { from = payer, to = payTo, value = 10_000n }: Moved = {},
  more: JsonObject = {},
) {
  return log([transferTopic, word(from), word(to)], place, { data: word(value), ...more });
}

type Script = {
  readonly head?: Json | Error;
  readonly state?: Json | Error;
  readonly logs?: Json | Error;
  readonly receipt?: Json | Error;
  readonly final?: Json | Error;
  /** State at the final block. */
  readonly finalState?: Json;
  readonly code?: Json | Error;
};

const yes = word(1n);
const no = word(0n);
const usual: Script = {
  head: hex(110),
  state: yes,
  logs: [use({ index: 4 })],
  receipt: { status: '0x1', logs: [use({ index: 4 }), transfer({ index: 5 })] },
  final: { number: hex(108), timestamp: hex(1_000) },
  finalState: no,
  code: '0x',
};

type Call = readonly [method: string, params: readonly Json[]];

function scripted(script: Script, calls: Call[] = []): ReturnType<typeof createChainReader> {
  const said: Script = { ...usual, ...script };
  return createChainReader(async (method, params): Promise<RpcResult> => {
    calls.push([method, params]);
    const value = resultOf(said, method, params);
    if (value === undefined || value instanceof Error) return { ok: false, why: 'error' };
    return { ok: true, value };
  });
}

function resultOf(said: Script, method: string, params: readonly Json[]): Json | Error | undefined {
  switch (method) {
    case 'eth_blockNumber':
      return said.head;
    case 'eth_call':
      return params[1] === said.head ? said.state : said.finalState;
    case 'eth_getLogs':
      return said.logs;
    case 'eth_getTransactionReceipt':
      return said.receipt;
    case 'eth_getBlockByNumber':
      return said.final;
    case 'eth_getCode':
      return said.code;
    default:
      return undefined;
  }
}

async function fateOf(
  script: Script,
  asked: Partial<AuthorizationQuestion> = {},
): Promise<AuthorizationFate> {
  return scripted(script).fate({ ...question, ...asked });
}

test('a use with the very transfer that was signed is settled, and each read is asked as the chain has it', async () => {
  const calls: Call[] = [];
  const fate = await scripted({}, calls).fate(question);
  assert.deepEqual(fate, { kind: 'settled', transaction, block: 105 });
  assert.deepEqual(calls, [
    ['eth_blockNumber', []],
    ['eth_call', [{ to: asset, data: `0xe94a0102${word(payer).slice(2)}${nonce.slice(2)}` }, '0x6e']],
    [
      'eth_getLogs',
      [
        {
          address: asset,
          fromBlock: '0x65',
          toBlock: '0x6e',
          topics: [[usedTopic, canceledTopic], word(payer), nonce],
        },
      ],
    ],
    ['eth_getTransactionReceipt', [transaction]],
  ]);
});

const notOurs: readonly (readonly [string, readonly JsonObject[]])[] = [
  ['of another value', [use({ index: 4 }), transfer({ index: 5 }, { value: 9_999n })]],
  ['of a larger value', [use({ index: 4 }), transfer({ index: 5 }, { value: 10_001n })]],
  [
    'of a value beyond a double',
    [use({ index: 4 }), transfer({ index: 5 }, { value: 2n ** 200n + 10_000n })],
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
    const fate = await fateOf({ receipt: { status: '0x1', logs } });
    assert.deepEqual(fate, { kind: 'used_elsewhere', transaction, block: 105 });
  });
}

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
  assert.equal((await fateOf({ receipt: { status: '0x1', logs } })).kind, 'settled');
});

test('a use at or before the block of our first send is somebody else’s; one after it is ours', async () => {
  const at = (block: number): Script => ({
    logs: [use({ index: 4, block })],
    receipt: { status: '0x1', logs: [use({ index: 4, block }), transfer({ index: 5, block })] },
  });
  assert.equal((await fateOf(at(99))).kind, 'used_elsewhere');
  assert.equal((await fateOf(at(100))).kind, 'used_elsewhere');
  assert.equal((await fateOf(at(101))).kind, 'settled');
  assert.equal((await fateOf(at(99), { startBlock: undefined })).kind, 'settled');
});

test('after a reorg the place of a use is read from its receipt, not from the log that was found', async () => {
  const moved = [
    use({ index: 1, block: 106 }),
    transfer({ index: 2, block: 106 }),
    log([usedTopic, word(payer), word(9n)], { index: 4, block: 106 }),
    transfer({ index: 5, block: 106 }, { value: 1n }),
  ];
  assert.deepEqual(await fateOf({ receipt: { status: '0x1', logs: moved } }), {
    kind: 'settled',
    transaction,
    block: 106,
  });
});

test('a canceled authorization is canceled, whoever sent the cancellation', async () => {
  const canceled = log([canceledTopic, word(payer), nonce], { index: 0 });
  assert.deepEqual(await fateOf({ logs: [canceled], receipt: new Error('not asked') }), {
    kind: 'canceled',
    transaction,
    block: 105,
  });
});

test('an authorization whose state is false is unused, and no log is searched for', async () => {
  const calls: Call[] = [];
  assert.deepEqual(await scripted({ state: no }, calls).fate(question), { kind: 'unused', block: 110 });
  assert.deepEqual(
    calls.map(([method]) => method),
    ['eth_blockNumber', 'eth_call', 'eth_getBlockByNumber'],
  );
});

test('expiry is believed only at a final block whose time has reached the end, with the nonce unused there', async () => {
  const at = (seconds: number, more: Script = {}): Script => ({
    state: no,
    final: { number: hex(108), timestamp: hex(seconds) },
    ...more,
  });
  assert.deepEqual(await fateOf(at(2_000)), { kind: 'expired', block: 108 });
  assert.deepEqual(await fateOf(at(1_999)), { kind: 'unused', block: 110 });
  assert.deepEqual(await fateOf(at(9_999, { finalState: yes })), { kind: 'unused', block: 110 });
  assert.deepEqual(await fateOf(at(9_999, { finalState: '0x' })), { kind: 'unused', block: 110 });
  for (const final of [null, {}, { number: hex(1) }, { number: 5, timestamp: 5 }, new Error('unknown tag')]) {
    assert.deepEqual(await fateOf({ state: no, final }), { kind: 'unused', block: 110 });
  }
});

test('F10: an endpoint that lags behind shows an authorization as unused or not at all, never as refused', async () => {
  assert.equal((await fateOf({ head: hex(90), state: no })).kind, 'unused');
  assert.equal((await fateOf({ state: new Error('header not found') })).kind, 'unread');
  assert.equal((await fateOf({ logs: [] })).kind, 'unread');
  assert.equal((await fateOf({ receipt: null })).kind, 'unread');
  assert.equal((await fateOf({ logs: [use({ index: 4 }, { removed: true })] })).kind, 'unread');
});

const unreadable: readonly (readonly [string, Script])[] = [
  ['no block number', { head: new Error('down') }],
  ['a block number that is a number', { head: 110 }],
  ['a block number beyond a double', { head: `0x${'f'.repeat(16)}` }],
  ['a block number in decimal', { head: '110' }],
  ['an empty block number', { head: '0x' }],
  ['a state of no octets, as of an address without code', { state: '0x' }],
  ['a state of 31 octets', { state: `0x${'0'.repeat(62)}` }],
  ['a state that is a boolean', { state: true }],
  ['a state that is null', { state: null }],
  ['logs that are an object', { logs: {} }],
  ['logs that failed', { logs: new Error('range too wide') }],
  ['logs of nonsense', { logs: [null, 5, {}, { topics: 'x' }, { ...use({ index: 4 }), topics: [] }] }],
  ['a log without its block', { logs: [use({ index: 4 }, { blockNumber: null })] }],
  ['a log without its index', { logs: [use({ index: 4 }, { logIndex: 4 })] }],
  ['a log without its transaction', { logs: [use({ index: 4 }, { transactionHash: '0x5e' })] }],
  ['a log of another token', { logs: [use({ index: 4 }, { address: payTo })] }],
  ['a log of another payer', { logs: [log([usedTopic, word(payTo), nonce], { index: 4 })] }],
  ['a log of another nonce', { logs: [log([usedTopic, word(payer), word(1n)], { index: 4 })] }],
  ['a log of another event', { logs: [log([transferTopic, word(payer), nonce], { index: 4 })] }],
  ['a receipt that failed', { receipt: new Error('down') }],
  [
    'a receipt of a reverted transaction',
    { receipt: { status: '0x0', logs: [use({ index: 4 }), transfer({ index: 5 })] } },
  ],
  [
    'a receipt whose status is a number',
    { receipt: { status: 1, logs: [use({ index: 4 }), transfer({ index: 5 })] } },
  ],
  ['a receipt without logs', { receipt: { status: '0x1' } }],
  ['a receipt without the use', { receipt: { status: '0x1', logs: [transfer({ index: 5 })] } }],
  [
    'a receipt of another transaction',
    { receipt: { status: '0x1', logs: [use({ index: 4, transaction: word(9n) }), transfer({ index: 5 })] } },
  ],
];
for (const [name, script] of unreadable) {
  test(`F10: ${name} proves nothing`, async () => {
    assert.equal((await fateOf(script)).kind, 'unread');
  });
}

test('whatever an endpoint answers, a fate is told and nothing is thrown', async () => {
  const texts = fc.constantFrom(
    '0x',
    '0x1',
    yes,
    no,
    usedTopic,
    transferTopic,
    asset,
    transaction,
    word(payer),
    nonce,
  );
  const { json } = fc.letrec((tie) => ({
    json: fc.oneof(
      { maxDepth: 4 },
      texts,
      fc.jsonValue({ maxDepth: 1 }),
      fc.array(tie('json'), { maxLength: 3 }),
      fc.record(
        {
          status: tie('json'),
          logs: tie('json'),
          topics: tie('json'),
          address: tie('json'),
          number: tie('json'),
          blockNumber: tie('json'),
          logIndex: tie('json'),
          transactionHash: tie('json'),
          data: tie('json'),
        },
        { requiredKeys: [] },
      ),
    ),
  }));
  const answers = fc.record(
    { head: json, state: json, logs: json, receipt: json, final: json, finalState: json, code: json },
    { requiredKeys: [] },
  );
  await fc.assert(
    fc.asyncProperty(answers, async (script) => {
      const reader = scripted(script as Script);
      assert.notEqual((await reader.fate(question)).kind, 'canceled');
      await reader.head();
      await reader.blockNumber();
      await reader.hasCode(payer);
    }),
    { numRuns: 2_000 },
  );
});

/** The ranges that a search in vain asks for. */
async function rangesOf(
  head: number,
  startBlock: number | undefined,
): Promise<readonly (readonly number[])[]> {
  const calls: Call[] = [];
  assert.equal(
    (await scripted({ head: hex(head), logs: [] }, calls).fate({ ...question, startBlock })).kind,
    'unread',
  );
  return calls
    .filter(([method]) => method === 'eth_getLogs')
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

test('the head is told with its time, and not at all where it cannot be read', async () => {
  assert.deepEqual(await scripted({ final: { number: hex(7), timestamp: hex(1_800_000_000) } }).head(), {
    block: 7,
    timeMs: 1_800_000_000_000,
  });
  for (const final of [null, {}, { number: hex(7) }, { timestamp: hex(7) }, new Error('down')]) {
    assert.equal(await scripted({ final }).head(), undefined);
  }
  assert.equal(await scripted({}).blockNumber(), 110);
  assert.equal(await scripted({ head: new Error('down') }).blockNumber(), undefined);
});

test('G05: code at an address is told apart from none, and both from an answer that cannot be read', async () => {
  assert.equal(await scripted({ code: '0x' }).hasCode(payer), false);
  assert.equal(await scripted({ code: '0x6080' }).hasCode(payer), true);
  for (const code of ['', '0', 'x', '0x0', '0xzz', null, 5, new Error('down')]) {
    assert.equal(await scripted({ code }).hasCode(payer), undefined);
  }
});
