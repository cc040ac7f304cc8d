import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  type Asked,
  asset,
  cancel,
  canceledTopic,
  hex,
  no,
  nonce,
  payer,
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
  yes,
} from '../../test/node.ts';
import {
  type AuthorizationFate,
  type AuthorizationQuestion,
  type ChainReader,
  createChainReader,
} from './chain.ts';
import type { Finality } from './finality.ts';

function scripted(script: Script, calls: Asked[] = []): ChainReader {
  return createChainReader(scriptedRpc(script, calls));
}

type Question = Partial<AuthorizationQuestion> & { readonly at?: Finality };

function fateOf(script: Script, { at, ...asked }: Question = {}): Promise<AuthorizationFate> {
  return scripted(script).fate({ ...question, ...asked }, at);
}

test('a use with the very transfer that was signed is settled, and each read is asked as the chain has it', async () => {
  const calls: Asked[] = [];
  const fate = await scripted({}, calls).fate(question);
  assert.deepEqual(fate, { kind: 'settled', transaction, block: 105, finality: 'latest' });
  assert.deepEqual(calls, [
    ['eth_getBlockByNumber', ['latest', false]],
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

const depths: readonly (readonly [Finality, block: number, kind: string])[] = [
  ['latest', 110, 'settled'],
  ['latest', 111, 'settled'],
  [1, 110, 'settled'],
  [1, 111, 'settled'],
  [2, 110, 'shallow'],
  [2, 109, 'settled'],
  [6, 105, 'settled'],
  [6, 106, 'shallow'],
  [1_000, 105, 'shallow'],
  ['safe', 110, 'shallow'],
  ['safe', 109, 'settled'],
  ['finalized', 109, 'shallow'],
  ['finalized', 108, 'settled'],
];
for (const [at, block, kind] of depths) {
  test(`S05: a settlement in block ${block} of 110, where 109 is safe and 108 final, is ${kind} for who asks for ${at}`, async () => {
    const fate = await fateOf(settledAt(block), { at });
    assert.deepEqual(
      fate,
      kind === 'settled'
        ? { kind, transaction, block, finality: at }
        : { kind, as: 'settled', transaction, block, confirmations: 111 - block },
    );
  });
}

test('S05: a cancellation and a use elsewhere are believed no earlier than a settlement', async () => {
  const at = { index: 0, block: 110 };
  const canceled: Script = { logs: [cancel(at)], receipt: receipt([cancel(at)]) };
  const elsewhere: Script = { ...settledAt(110), receipt: receipt([use({ index: 4, block: 110 })]) };
  for (const [script, as] of [
    [canceled, 'canceled'],
    [elsewhere, 'used_elsewhere'],
  ] as const) {
    assert.deepEqual(await fateOf(script), { kind: as, transaction, block: 110 });
    assert.deepEqual(await fateOf(script, { at: 1 }), { kind: as, transaction, block: 110 });
    for (const finality of [2, 'safe', 'finalized'] as const) {
      assert.deepEqual(await fateOf(script, { at: finality }), {
        kind: 'shallow',
        as,
        transaction,
        block: 110,
        confirmations: 1,
      });
    }
  }
});

test('S05: a payment that had settled and that a reorg took away is unused at the final block', async () => {
  assert.equal((await fateOf(settledAt(104), { at: 'finalized' })).kind, 'settled');
  assert.deepEqual(await fateOf({ state: no }, { at: 'finalized' }), { kind: 'unused', block: 108 });
  assert.deepEqual(await fateOf({ state: no }, { at: 'safe' }), { kind: 'unused', block: 109 });
  assert.deepEqual(await fateOf({ state: no }, { at: 3 }), { kind: 'unused', block: 108 });
  assert.deepEqual(await fateOf({ state: no, head: hex(1) }, { at: 3 }), { kind: 'unused', block: 0 });
});

test('S05: one that a reorg moved to a newer block is shallow again', async () => {
  assert.deepEqual(await fateOf(settledAt(110), { at: 'finalized' }), {
    kind: 'shallow',
    as: 'settled',
    transaction,
    block: 110,
    confirmations: 1,
  });
});

test('F10: an authorization that is unused at the newest block and used or unread at the final one is unread', async () => {
  for (const finalState of [yes, '0x', new Error('missing trie node')]) {
    for (const at of ['safe', 'finalized'] as const) {
      assert.equal((await fateOf({ state: no, finalState }, { at })).kind, 'unread');
    }
  }
});

test('F10: where a node cannot serve the safe or the final block, it is said why nothing is known', async () => {
  for (const absent of [null, new Error('unknown tag')]) {
    for (const [at, script] of [
      ['safe', { safe: absent }],
      ['finalized', { final: absent }],
    ] as const) {
      const fate = await fateOf(script, { at });
      assert.ok(fate.kind === 'unread' && fate.why.startsWith(`${at} block`));
    }
  }
});

test('F10: behind one address a final block above the newest one is the newest', async () => {
  const calls: Asked[] = [];
  const script = { head: hex(100), finalState: yes, ...settledAt(105) };
  const fate = await scripted(script, calls).fate(question, 'finalized');
  assert.deepEqual(fate, { kind: 'settled', transaction, block: 105, finality: 'finalized' });
  const [, state] = calls.find(([method]) => method === 'eth_call') ?? [];
  assert.equal(state?.[1], hex(108));
});

test('a canceled authorization is canceled, whoever sent the cancellation', async () => {
  const canceled = cancel({ index: 0 });
  assert.deepEqual(await fateOf({ logs: [canceled], receipt: receipt([canceled]) }), {
    kind: 'canceled',
    transaction,
    block: 105,
  });
});

test('an authorization whose state is false is unused, no log is searched for, and its end is not asked about before its time', async () => {
  const calls: Asked[] = [];
  const early = { state: no, headTime: hex(1_999) };
  assert.deepEqual(await scripted(early, calls).fate(question), { kind: 'unused', block: 110 });
  assert.deepEqual(
    calls.map(([method]) => method),
    ['eth_getBlockByNumber', 'eth_call'],
  );
});

test('F01: a settlement that was only told of is unused, and expires unused', async () => {
  assert.equal((await fateOf({ state: no, logs: [] })).kind, 'unused');
  const final = { number: hex(108), timestamp: hex(2_000) };
  assert.equal((await fateOf({ state: no, logs: [], final })).kind, 'expired');
});

test('S07: a settlement in which less arrived, or at another place, or of another token, is not ours at any depth', async () => {
  const lesser = [
    transfer({ index: 5 }, { value: 9_900n }),
    transfer({ index: 5 }, { to: asset }),
    transfer({ index: 5 }, {}, { address: payer }),
  ];
  for (const moved of lesser) {
    for (const at of ['latest', 6, 'finalized'] as const) {
      const fate = await fateOf({ receipt: receipt([use({ index: 4 }), moved]) }, { at });
      assert.deepEqual(fate, { kind: 'used_elsewhere', transaction, block: 105 });
    }
  }
});

test('expiry is believed only at a final block whose time has reached the end, with the nonce unused there', async () => {
  const at = (seconds: number, more: Script = {}): Script => ({
    state: no,
    final: { number: hex(108), timestamp: hex(seconds) },
    ...more,
  });
  for (const finality of ['latest', 1, 30, 'safe'] as const) {
    const asked = { at: finality };
    assert.deepEqual(await fateOf(at(2_000), asked), { kind: 'expired', block: 108 });
    assert.equal((await fateOf(at(1_999), asked)).kind, 'unused');
  }
  assert.deepEqual(await fateOf(at(2_000), { at: 'finalized' }), { kind: 'expired', block: 108 });
  assert.deepEqual(await fateOf(at(1_999), { at: 'finalized' }), { kind: 'unused', block: 108 });
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
});

test('F10: what cannot be read is said to be unread, and why', async () => {
  const why = async (script: Script): Promise<string | undefined> => {
    const fate = await fateOf(script);
    return fate.kind === 'unread' ? fate.why : undefined;
  };
  assert.equal(await why({ head: new Error('down') }), 'latest block: error');
  assert.equal(await why({ state: '0x' }), 'authorization state');
  assert.equal(await why({ logs: new Error('range too wide') }), 'logs: error');
  assert.equal(await why({ receipt: null }), 'receipt');
});

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
    {
      head: json,
      headTime: json,
      state: json,
      logs: json,
      receipt: json,
      final: json,
      finalState: json,
      code: json,
    },
    { requiredKeys: [] },
  );
  await fc.assert(
    fc.asyncProperty(answers, async (script) => {
      const reader = scripted(script as Script);
      for (const finality of ['latest', 'finalized', 12] as const) {
        assert.notEqual((await reader.fate(question, finality)).kind, 'canceled');
      }
      await reader.head();
      await reader.blockNumber();
      await reader.hasCode(payer);
    }),
    { numRuns: 2_000 },
  );
});

test('the head is told with its time, and not at all where it cannot be read', async () => {
  assert.deepEqual(await scripted({ head: hex(7), headTime: hex(1_800_000_000) }).head(), {
    block: 7,
    timeMs: 1_800_000_000_000,
  });
  for (const head of [null, 7, '7', new Error('down')])
    assert.equal(await scripted({ head }).head(), undefined);
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
