import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Behind, scriptedHttp } from '../../test/node.ts';
import type { Http, HttpRequest } from '../world.ts';
import { createEndpoint, type Endpoint } from './endpoint.ts';
import type { RpcEvent } from './pool.ts';

const url = 'https://user:secret@rpc.example/key/abc';

type Scene = {
  readonly endpoint: Endpoint;
  readonly events: RpcEvent[];
  readonly methods: () => readonly string[];
  readonly become: (behind: Behind) => void;
  readonly advance: (ms: number) => void;
};

function scene(behind: Behind, wrap: (http: Http) => Http = (http) => http): Scene {
  const nodes = new Map([[url, behind]]);
  const requests: HttpRequest[] = [];
  const events: RpcEvent[] = [];
  let now = 0;
  const endpoint = createEndpoint({
    place: 2,
    url,
    chainId: 8453,
    http: wrap(scriptedHttp(nodes, requests)),
    monotonicMs: () => now,
    observe: (event) => events.push(event),
  });
  return {
    endpoint,
    events,
    methods: () => requests.map(({ body }) => JSON.parse(new TextDecoder().decode(body)).method),
    become: (next) => nodes.set(url, next),
    advance: (ms) => {
      now += ms;
    },
  };
}

const name = { endpoint: 2, origin: 'https://rpc.example' };

test('an endpoint is asked for its chain once, and then for what is wanted', async () => {
  const { endpoint, methods, events } = scene({});
  const asked = await Promise.all([1, 2, 3].map(() => endpoint.ask('eth_blockNumber', [])));
  assert.ok(asked.every(({ ok }) => ok));
  assert.deepEqual(
    methods().filter((method) => method === 'eth_chainId'),
    ['eth_chainId'],
  );
  assert.deepEqual(events, []);
});

test('F10: an endpoint of another chain is asked nothing else, and again only after a minute', async () => {
  for (const chainId of ['0x1', '0x02105x', '', null, 8453]) {
    const { endpoint, methods, events, advance, become } = scene({ chainId });
    assert.deepEqual(await endpoint.ask('eth_blockNumber', []), { ok: false, why: 'another chain' });
    assert.deepEqual(methods(), ['eth_chainId']);
    assert.deepEqual(events, [{ event: 'rpc_refused', ...name }]);
    advance(59_999);
    assert.equal(endpoint.awake(), false);
    advance(1);
    become({});
    assert.equal(endpoint.awake(), true);
    assert.equal((await endpoint.ask('eth_blockNumber', [])).ok, true);
  }
});

test('F10: after an error the chain is asked for again, since another node may stand behind the address', async () => {
  const { endpoint, methods, become } = scene({});
  await endpoint.ask('eth_blockNumber', []);
  become({ head: new Error('header not found') });
  assert.equal((await endpoint.ask('eth_blockNumber', [])).ok, false);
  become({ chainId: '0x1' });
  assert.equal((await endpoint.ask('eth_blockNumber', [])).ok, false);
  assert.deepEqual(methods(), ['eth_chainId', 'eth_blockNumber', 'eth_blockNumber', 'eth_chainId']);
});

test('an endpoint that fails rests ever longer, up to a minute, and is well again with its first answer', async () => {
  const { endpoint, events, become, advance } = scene('down');
  const rests: number[] = [];
  for (let turn = 0; turn < 10; turn += 1) {
    await endpoint.ask('eth_blockNumber', []);
    const down = events.at(-1);
    assert.ok(down?.event === 'rpc_down');
    rests.push(down.restMs);
    advance(down.restMs - 1);
    assert.equal(endpoint.awake(), false);
    advance(1);
    assert.equal(endpoint.awake(), true);
  }
  assert.deepEqual(rests, [500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]);
  become({});
  await endpoint.ask('eth_blockNumber', []);
  assert.deepEqual(events.at(-1), { event: 'rpc_up', ...name });
  become('down');
  await endpoint.ask('eth_blockNumber', []);
  assert.deepEqual(events.at(-1), { event: 'rpc_down', ...name, restMs: 500 });
});

test('calls that fail together are one failure', async () => {
  const { endpoint, events, become } = scene({});
  await endpoint.ask('eth_blockNumber', []);
  become('down');
  await Promise.all([1, 2, 3].map(() => endpoint.ask('eth_blockNumber', [])));
  assert.deepEqual(events, [{ event: 'rpc_down', ...name, restMs: 500 }]);
});

test('a call that a node declines is no failure of the node', async () => {
  const { endpoint, events } = scene({ logs: new Error('range too wide') });
  assert.equal((await endpoint.ask('eth_getLogs', [])).ok, false);
  assert.equal(endpoint.awake(), true);
  assert.deepEqual(events, []);
});

test('F10: how far an endpoint is behind is told when it changes', () => {
  const { endpoint, events } = scene({});
  assert.equal(endpoint.head(), -1);
  for (const [block, highest] of [
    [110, 110],
    [108, 110],
    [109, 111],
    [112, 112],
  ] as const) {
    endpoint.sawHead(block, highest);
    assert.equal(endpoint.head(), block);
  }
  assert.deepEqual(events, [
    { event: 'rpc_lag', ...name, blocks: 2 },
    { event: 'rpc_lag', ...name, blocks: 0 },
  ]);
});

test('the keys in an address are in no event', async () => {
  const { endpoint, events, become, advance } = scene('down');
  await endpoint.ask('eth_blockNumber', []);
  advance(500);
  become({ chainId: '0x1' });
  await endpoint.ask('eth_blockNumber', []);
  endpoint.sawHead(1, 9);
  assert.equal(new Set(events.map(({ event }) => event)).size, 4);
  assert.doesNotMatch(JSON.stringify([events, endpoint.origin]), /secret|user|abc|key/);
});
