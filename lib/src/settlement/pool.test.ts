import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  type Behind,
  hex,
  no,
  question,
  receipt,
  type Script,
  scriptedHttp,
  settledAt,
  transaction,
  transfer,
  use,
  word,
  yes,
} from '../../test/node.ts';
import type { Json } from '../wire/v2.ts';
import type { HttpRequest } from '../world.ts';
import { type AuthorizationFate, type ChainReader, createChainReader } from './chain.ts';
import type { Finality } from './finality.ts';
import { createRpcPool, heightLapseMs, mostEndpoints, type RpcEvent, type RpcPoolOptions } from './pool.ts';

type Scene = {
  readonly chain: ChainReader;
  readonly events: RpcEvent[];
  /** What stands behind endpoint `n`, counted from 0, from now on. */
  readonly become: (n: number, behind: Behind) => void;
  readonly advance: (ms: number) => void;
  /** The methods that endpoint `n` was asked. */
  readonly asked: (n: number) => readonly string[];
};

const urlOf = (n: number): string => `https://node${n}.example/key`;

function scene(nodes: readonly Behind[], more: Partial<RpcPoolOptions> = {}): Scene {
  const map = new Map(nodes.map((node, n) => [urlOf(n), node]));
  const requests: HttpRequest[] = [];
  const events: RpcEvent[] = [];
  let now = 0;
  const rpc = createRpcPool({
    network: 'eip155:8453',
    endpoints: nodes.map((_, n) => ({ url: urlOf(n) })),
    http: scriptedHttp(map, requests),
    monotonicMs: () => now,
    observe: (event) => events.push(event),
    ...more,
  });
  return {
    chain: createChainReader(rpc),
    events,
    become: (n, behind) => map.set(urlOf(n), behind),
    advance: (ms) => {
      now += ms;
    },
    asked: (n) =>
      requests
        .filter(({ url }) => url === urlOf(n))
        .map(({ body }) => JSON.parse(new TextDecoder().decode(body)).method),
  };
}

function fateOf(
  nodes: readonly Behind[],
  more: Partial<RpcPoolOptions> & { readonly at?: Finality } = {},
): Promise<AuthorizationFate> {
  const { at, ...options } = more;
  return scene(nodes, options).chain.fate(question, at);
}

const settled: AuthorizationFate = { kind: 'settled', transaction, block: 105, finality: 'latest' };
const unused: Script = { state: no, logs: [] };
/** Twenty blocks behind, where the payment has not happened. */
const lags: Script = { head: hex(90), state: no, logs: [], receipt: null };
const over: Script = { ...unused, final: { number: hex(108), timestamp: hex(2_000), hash: word(8n) } };

test('endpoints that say the same answer like one', async () => {
  for (let n = 1; n <= 5; n += 1) {
    assert.deepEqual(await fateOf(Array(n).fill({})), settled);
    assert.deepEqual(await fateOf(Array(n).fill(unused)), { kind: 'unused', block: 110 });
    assert.deepEqual(await fateOf(Array(n).fill(over)), { kind: 'expired', block: 108 });
  }
  const { chain } = scene([{}, {}, {}]);
  assert.equal(await chain.blockNumber(), 110);
  assert.deepEqual(await chain.head(), { block: 110, timeMs: 10_000_000 });
  assert.equal(await chain.hasCode(question.payer), false);
});

test('F10: an endpoint that lags behind is not heard about an authorization, wherever it stands in the list', async () => {
  for (const nodes of [
    [lags, {}, {}],
    [{}, lags, {}],
    [{}, {}, lags],
  ]) {
    const { chain, events, asked } = scene(nodes);
    assert.deepEqual(await chain.fate(question), settled);
    const n = nodes.indexOf(lags);
    assert.deepEqual(asked(n), ['eth_chainId', 'eth_getBlockByNumber']);
    const origin = `https://node${n}.example`;
    assert.deepEqual(events, [{ event: 'rpc_lag', endpoint: n, origin, blocks: 20 }]);
  }
  assert.deepEqual(await fateOf([lags, {}], { quorum: 1 }), settled);
});

test('F10: where too few have the newest block, nothing is said of the authorization', async () => {
  const { chain, become } = scene([{}, {}, lags]);
  assert.deepEqual(await chain.fate(question), settled);
  become(0, 'down');
  const fate = await chain.fate(question);
  assert.deepEqual(fate, { kind: 'unread', why: 'latest block: endpoints lag behind' });
});

test('F10: a pool never goes back to a block before one it has seen, not even with a single endpoint', async () => {
  const { chain, become } = scene([{}]);
  assert.deepEqual(await chain.fate(question), settled);
  become(0, lags);
  for (const at of ['latest', 5, 'finalized'] as const) {
    assert.deepEqual(await chain.fate(question, at), {
      kind: 'unread',
      why: 'latest block: endpoints lag behind',
    });
  }
  become(0, { head: hex(111) });
  assert.equal((await chain.fate(question)).kind, 'settled');
});

/** A head, and what else is said there. */
const headAt = (block: number): Script => ({ head: hex(block), finalState: yes });

test('F10: a height that was never true holds a pool up for ten minutes, not until it is restarted', async () => {
  const { chain, become, advance, events } = scene([headAt(50_000_000)]);
  assert.equal(await chain.blockNumber(), 50_000_000);
  const told = async (block: number, passMs: number): Promise<number | undefined> => {
    become(0, headAt(block));
    advance(passMs);
    return chain.blockNumber();
  };
  assert.equal(await told(110, 0), undefined);
  assert.equal(await told(409, heightLapseMs - 1), undefined);
  assert.deepEqual(events.slice(1), []);
  assert.equal(await told(410, 1), 410);
  const lapsed = { event: 'rpc_height_lapsed', tag: 'latest', from: 50_000_000, to: 410 };
  assert.deepEqual(
    events.filter(({ event }) => event === 'rpc_height_lapsed'),
    [lapsed],
  );
  assert.equal(await told(409, 0), undefined, 'and the new height holds as the old one did');
});

test('F10: a height that any endpoint still reaches, and one that only a standstill is below, never lapse', async () => {
  const { chain, become, advance } = scene([headAt(200), headAt(200)]);
  assert.equal(await chain.blockNumber(), 200);
  for (let turn = 0; turn < 5; turn += 1) {
    become(0, headAt(100 + turn));
    become(1, headAt(201 + turn));
    advance(heightLapseMs);
    assert.equal(await chain.blockNumber(), undefined);
  }
  for (let turn = 0; turn < 3; turn += 1) {
    become(1, headAt(104));
    advance(heightLapseMs);
    assert.equal(await chain.blockNumber(), undefined, 'nobody moves');
  }
  become(1, headAt(300));
  assert.equal(await chain.blockNumber(), undefined);
  become(0, headAt(300));
  assert.equal(await chain.blockNumber(), 300);
});

test('F10: a final block that was never true lapses as well', async () => {
  const final = (block: number): Script => ({
    ...over,
    final: { number: hex(block), timestamp: hex(2_000) },
  });
  const { chain, become, advance, events } = scene([final(50_000_000)]);
  const kindAt = async (block: number, passMs: number): Promise<string> => {
    become(0, final(block));
    advance(passMs);
    return (await chain.fate(question, 'finalized')).kind;
  };
  await kindAt(50_000_000, 0);
  assert.equal(await kindAt(107, 0), 'unread');
  assert.equal(await kindAt(108, heightLapseMs), 'expired');
  const lapsed = { event: 'rpc_height_lapsed', tag: 'finalized', from: 50_000_000, to: 108 };
  assert.deepEqual(events, [lapsed]);
});

test('F10: a final block that goes back is not believed either', async () => {
  const { chain, become } = scene([over]);
  assert.equal((await chain.fate(question, 'finalized')).kind, 'expired');
  become(0, { ...over, final: { number: hex(107), timestamp: hex(2_000) } });
  assert.equal((await chain.fate(question, 'finalized')).kind, 'unread');
});

const lies: readonly (readonly [string, Script])[] = [
  ['a stale unused', { state: no, logs: [] }],
  ['another log', { logs: [use({ index: 4, transaction: word(9n) })] }],
  ['no log', { logs: [] }],
  ['no receipt', { receipt: null }],
  ['a failed receipt', { receipt: receipt([use({ index: 4 }), transfer({ index: 5 })], { status: '0x0' }) }],
  ['another value', { receipt: receipt([use({ index: 4 }), transfer({ index: 5 }, { value: 1n })]) }],
  ['another place', settledAt(104)],
];
for (const [name, lie] of lies) {
  test(`F10: where two of two or of three disagree by ${name}, nothing is known, and it is said who they are`, async () => {
    for (const nodes of [
      [{}, lie],
      [lie, {}],
      [{}, lie, {}],
      [lie, {}, {}],
    ]) {
      const { chain, events } = scene(nodes);
      const fate = await chain.fate(question);
      assert.ok(fate.kind === 'unread' && fate.why.endsWith(': endpoints disagree'));
      const [said, ...others] = events;
      assert.ok(said?.event === 'rpc_disagreement');
      assert.deepEqual(said.origins, ['https://node0.example', 'https://node1.example']);
      assert.deepEqual(others, []);
    }
  });
}

test('F10: of two forks of one height neither is believed', async () => {
  const { chain, events } = scene([{}, { headTime: hex(9_999) }, {}]);
  assert.deepEqual(await chain.fate(question), {
    kind: 'unread',
    why: 'latest block: endpoints disagree',
  });
  assert.deepEqual(
    events.map(({ event }) => event),
    ['rpc_disagreement'],
  );
});

test('F10: one endpoint of several can neither settle, nor expire, nor cancel, nor free a payment', async () => {
  const scripts: readonly Script[] = [{}, unused, over, settledAt(101), { logs: [], state: yes }];
  const pairs = scripts.flatMap((truth) => scripts.map((lie) => ({ truth, lie })));
  let doubts = 0;
  for (const { truth, lie } of pairs.filter((pair) => pair.truth !== pair.lie)) {
    const honest = await fateOf([truth]);
    for (const nodes of [
      [truth, lie],
      [lie, truth, truth],
      [truth, truth, lie],
    ]) {
      const fate = await fateOf(nodes);
      if (fate.kind === 'unread') doubts += 1;
      // What is not learnt of the end of a payment is left open.
      else if (fate.kind === 'unused') assert.ok(honest.kind === 'unused' || honest.kind === 'expired');
      else assert.deepEqual(fate, honest);
    }
  }
  assert.ok(doubts > 0);
});

test('F10: a liar about the final block’s time or number ends no payment', async () => {
  const early: Script = { ...unused, final: { number: hex(108), timestamp: hex(1_000), hash: word(8n) } };
  const ahead: Script = { ...unused, final: { number: hex(110), timestamp: hex(9_999), hash: word(8n) } };
  for (const at of ['latest', 'finalized'] as const) {
    for (const nodes of [
      [over, early],
      [over, early, early],
      [early, over, early],
      [ahead, early, early],
      [ahead, early],
    ]) {
      assert.notEqual((await fateOf(nodes, { at })).kind, 'expired');
    }
  }
});

test('F10: where only one endpoint names the final block of the quorum, its time is asked of the others too', async () => {
  const final = (block: number): Script => ({
    ...unused,
    final: { number: hex(block), timestamp: hex(1_000), hash: word(8n) },
  });
  const { chain, events } = scene([final(109), over, final(107)]);
  assert.deepEqual(await chain.fate(question, 'finalized'), {
    kind: 'unread',
    why: 'finalized block: endpoints disagree',
  });
  assert.equal(events.length, 1);
});

test('F10: a height that one endpoint makes up moves no pool that has a quorum', async () => {
  const { chain } = scene([{ head: hex(1_000_000), finalState: yes }, {}, {}]);
  assert.deepEqual(await chain.fate(question), settled);
  assert.equal(await chain.blockNumber(), 110);
});

test('the newest block of endpoints that stand a block apart is the one that a quorum has', async () => {
  const heads = [hex(112), hex(111), hex(110)].map((head): Script => ({ head, finalState: yes }));
  const { chain, asked } = scene(heads);
  assert.equal(await chain.blockNumber(), 111);
  assert.deepEqual(await chain.fate(question), settled);
  assert.ok(!asked(2).includes('eth_call'));
});

test('F10: where the quorum lags, one endpoint that is ahead denies that an authorization is unused', async () => {
  for (const nodes of [
    [lags, {}],
    [lags, lags, {}],
    [{}, lags, lags],
  ]) {
    const { chain, events } = scene(nodes);
    assert.deepEqual(await chain.fate(question), {
      kind: 'unread',
      why: 'authorization state: endpoints disagree',
    });
    const last = events.at(-1);
    assert.ok(last?.event === 'rpc_disagreement');
    assert.deepEqual(last.origins, [`https://node${nodes.findIndex((node) => node !== lags)}.example`]);
  }
  const ahead: Script = { ...unused, head: hex(111) };
  assert.deepEqual(await fateOf([unused, unused, ahead]), { kind: 'unused', block: 110 });
  const madeUp: Script = { state: new Error('header not found'), head: hex(1_000_000), finalState: no };
  assert.deepEqual(await fateOf([unused, unused, madeUp]), { kind: 'unused', block: 110 });
});

test('F10: one that was ahead and is down now denies nothing and is not asked', async () => {
  const { chain, become, asked } = scene([unused, unused, { ...unused, head: hex(111) }]);
  await chain.fate(question);
  become(2, 'down');
  for (let turn = 0; turn < 3; turn += 1) {
    assert.deepEqual(await chain.fate(question), { kind: 'unused', block: 110 });
  }
  const calls = ['eth_chainId', 'eth_getBlockByNumber', 'eth_call', 'eth_getBlockByNumber'];
  assert.deepEqual(asked(2), [...calls, 'eth_getBlockByNumber'], 'all but the last before it was down');
});

test('F10: an endpoint of another chain takes no part', async () => {
  const other: Script = { ...unused, chainId: '0x1', head: hex(9_999) };
  for (const nodes of [
    [other, {}, {}],
    [{}, {}, other],
  ]) {
    const { chain, events, asked } = scene(nodes);
    assert.deepEqual(await chain.fate(question), settled);
    const n = nodes.indexOf(other);
    assert.deepEqual(asked(n), ['eth_chainId']);
    assert.deepEqual(events, [{ event: 'rpc_refused', endpoint: n, origin: `https://node${n}.example` }]);
  }
  const alone = await fateOf([other]);
  assert.deepEqual(alone, { kind: 'unread', why: 'latest block: too few endpoints answer' });
});

test('F10: with one of three down the others answer; it rests, and is asked again later', async () => {
  const { chain, events, asked, become, advance } = scene(['down', {}, {}]);
  assert.deepEqual(await chain.fate(question), settled);
  assert.deepEqual(await chain.fate(question), settled);
  assert.equal(asked(0).length, 1);
  const name = { endpoint: 0, origin: 'https://node0.example' };
  assert.deepEqual(events, [{ event: 'rpc_down', ...name, restMs: 500 }]);
  become(0, {});
  advance(500);
  assert.deepEqual(await chain.fate(question), settled);
  assert.ok(asked(0).includes('eth_call'));
  assert.deepEqual(events.slice(1), [{ event: 'rpc_up', ...name }]);
});

test('F10: one that fails in the middle is replaced by the next', async () => {
  const declines: Script = { logs: new Error('range too wide'), receipt: new Error('rate limited') };
  assert.deepEqual(await fateOf([declines, {}, {}]), settled);
  assert.deepEqual(await fateOf([declines, {}], { quorum: 1 }), settled);
  const without = await fateOf([declines, {}]);
  assert.deepEqual(without, { kind: 'unread', why: 'logs: too few endpoints answer' });
});

test('F10: with two of three down, or with all of one, nothing is known', async () => {
  assert.equal((await fateOf(['down', 'down', {}])).kind, 'unread');
  assert.equal((await fateOf(['down'])).kind, 'unread');
  assert.deepEqual(await fateOf(['down', 'down', {}], { quorum: 1 }), settled);
});

test('an observer that throws changes no answer', async () => {
  const observe = (): never => {
    throw new Error('a metric of somebody else');
  };
  assert.deepEqual(await fateOf(['down', lags, {}], { quorum: 1, observe }), settled);
});

test('each endpoint is sent its own headers, and every call is limited in time', async () => {
  const seen: HttpRequest[] = [];
  const rpc = createRpcPool({
    network: 'eip155:8453',
    endpoints: [{ url: urlOf(0), headers: { authorization: 'Bearer 0' } }, { url: urlOf(1) }],
    http: scriptedHttp(
      new Map([
        [urlOf(0), {}],
        [urlOf(1), {}],
      ]),
      seen,
    ),
    monotonicMs: () => 0,
    timeoutMs: 700,
  });
  await rpc('eth_blockNumber', []);
  for (const { url, headers, timeoutMs } of seen) {
    assert.equal(timeoutMs, 700);
    assert.equal(headers.authorization, url === urlOf(0) ? 'Bearer 0' : undefined);
  }
});

test('whatever one of three endpoints answers, a pool says the truth or nothing', async () => {
  const word1 = fc.constantFrom<Json>(yes, no, '0x', null, hex(110), hex(109), hex(200), 5, [], {});
  const block = fc.record({ number: word1, timestamp: word1, hash: word1 });
  const logs = fc.constantFrom<Json>([], null, [use({ index: 4 })], [use({ index: 4, block: 90 })]);
  const script = fc.record(
    { head: word1, headTime: word1, state: word1, logs, receipt: word1, final: block, finalState: word1 },
    { requiredKeys: [] },
  );
  const places = fc.integer({ min: 0, max: 2 });
  const finalities = fc.constantFrom<Finality>('latest', 3, 'finalized');
  await fc.assert(
    fc.asyncProperty(script, places, finalities, async (lie, place, at) => {
      for (const truth of [{}, over] as const) {
        const nodes: Behind[] = [truth, truth, truth];
        nodes[place] = lie;
        const fate = await fateOf(nodes, { at });
        if (fate.kind === 'unread') continue;
        const honest = await fateOf([truth], { at });
        // What a pool does not learn about the end of a payment it leaves open.
        if (fate.kind === 'unused') assert.ok(honest.kind === 'unused' || honest.kind === 'expired');
        else assert.deepEqual(fate, honest);
      }
    }),
    { numRuns: 500 },
  );
});

const wrong: readonly (readonly [string, Partial<RpcPoolOptions> & Record<string, unknown>])[] = [
  ['no endpoints', { endpoints: [] }],
  ['too many endpoints', { endpoints: Array(mostEndpoints + 1).fill({ url: urlOf(0) }) }],
  ['an endpoint that is no address', { endpoints: [{ url: 'rpc.example' }] }],
  ['a network that is not EVM', { network: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1' }],
  ['a quorum of none', { quorum: 0 }],
  ['a quorum of more than there are', { quorum: 2 }],
  ['half a quorum', { quorum: 0.5 }],
  ['an unknown option', { quorun: 1 }],
];
for (const [name, change] of wrong) {
  test(`${name} is a mistake of the program`, () => {
    const options = {
      network: 'eip155:8453',
      endpoints: [{ url: urlOf(0) }],
      http: scriptedHttp(new Map()),
      monotonicMs: () => 0,
      ...change,
    };
    assert.throws(() => createRpcPool(options), TypeError);
  });
}
