import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { answerOf, createRig, dollar, network, payTo, read, requestOf, rest } from '../../test/rig.ts';
import { openTestShop } from '../../test/shop.ts';
import type { ClaimStore } from '../claim/index.ts';
import type { Facilitator } from '../settlement/index.ts';
import { defineAsset } from '../terms/index.ts';
import { createSeller } from './seller.ts';

const mistakes: readonly (readonly [string, (options: ReturnType<typeof createRig>['options']) => object])[] =
  [
    ['an unknown option', (options) => ({ ...options, facilitatorUrl: 'x' })],
    ['a missing origin', ({ origin: _origin, ...options }) => ({ ...options, origin: '' })],
    ['an origin with a path', (options) => ({ ...options, origin: 'https://api.example.com/v1' })],
    ['a short store key', (options) => ({ ...options, storeKey: new Uint8Array(16) })],
    ['nothing accepted', (options) => ({ ...options, accepts: [] })],
    [
      'the zero address as payee',
      (options) => ({ ...options, accepts: [{ network, payTo: `0x${'0'.repeat(40)}` }] }),
    ],
    ['a lease shorter than its heartbeat', (options) => ({ ...options, lease: { leaseMs: 5_000 } })],
  ];
for (const [name, spoil] of mistakes) {
  test(`a seller with ${name} does not start`, () => {
    const { options } = createRig();
    assert.throws(() => createSeller(spoil(options) as typeof options), TypeError);
  });
}

test('S07: an asset that nobody defined cannot be accepted, and a payment in one is refused before any call', async () => {
  const { options } = createRig();
  const unknown = createSeller({ ...options, assets: [] });
  assert.throws(() => unknown.route({ method: 'GET', path: '/weather', price: '$0.01' }), TypeError);
  const shop = openTestShop();
  const payment = await shop.payment();
  const other = `0x${'ab'.repeat(20)}`;
  const seen = await shop.ask({ payment: { ...payment, accepted: { ...payment.accepted, asset: other } } });
  assert.deepEqual(
    [seen.status, seen.problem.code, seen.problem.fields],
    [402, 'requirement_mismatch', ['asset']],
  );
  assert.deepEqual([shop.rig.calls.verify, shop.runs()], [0, 0]);
});

/** Breaks one method of a store or a facilitator: it throws or rejects at its n-th call. */
type Break = {
  readonly part: 'store' | 'facilitator' | 'random' | 'chain';
  readonly method: string;
  readonly at: number;
  readonly how: 'throws' | 'rejects';
};

const breaks: fc.Arbitrary<Break> = fc.record({
  part: fc.constantFrom('store', 'facilitator', 'random', 'chain'),
  method: fc.constantFrom(
    'find',
    'take',
    'heartbeat',
    'keepAndBeginSend',
    'beginSend',
    'recordMoney',
    'startWork',
    'finish',
    'fail',
    'release',
    'deliver',
    'readAnswer',
    'readPayload',
    'supported',
    'verify',
    'settle',
    'blockNumber',
    'fate',
    'hasCode',
  ),
  at: fc.integer({ min: 1, max: 2 }),
  how: fc.constantFrom('throws', 'rejects'),
});

function broken<T extends object>(target: T, fault: Break): T {
  let calls = 0;
  return new Proxy(target, {
    get: (object, name) => {
      const value: unknown = Reflect.get(object, name);
      if (name !== fault.method || typeof value !== 'function') return value;
      return (...args: unknown[]) => {
        calls += 1;
        if (calls !== fault.at) return value.apply(object, args);
        if (fault.how === 'throws') throw new Error('secret of the inside');
        return Promise.reject(new Error('secret of the inside'));
      };
    },
  });
}

test('S5, F07: whatever breaks inside, the work never runs unpaid twice, no secret leaves, and no unknown is payable', async () => {
  await fc.assert(
    fc.asyncProperty(
      breaks,
      fc.constantFrom('authorization' as const, 'upfront' as const),
      async (fault, flow) => {
        const plain = createRig();
        const store: ClaimStore =
          fault.part === 'store' ? broken(plain.options.store, fault) : plain.options.store;
        const facilitator: Facilitator =
          fault.part === 'facilitator' ? broken(plain.options.facilitator, fault) : plain.options.facilitator;
        const chains = plain.options.chains?.[network];
        const seller = plain.another({
          store,
          facilitator,
          ...(fault.part === 'chain' && chains !== undefined
            ? { chains: { [network]: broken(chains, fault) } }
            : {}),
        });
        const route = seller.route({ method: 'GET', path: '/weather', price: '$0.01', flow });
        let runs = 0;
        const work = async () => {
          runs += 1;
          return answerOf('sunny');
        };
        const asked = await read(plain.seller.charge(route, requestOf(), work));
        assert.ok(asked.required);
        const unpaid = await read(seller.charge(route, requestOf(), work));
        assert.equal(runs, 0, 'an unpaid request ran the work');
        assert.ok(unpaid.status === 402 || unpaid.status >= 500);
        const payment = await plain.pay(asked.required);
        for (let turn = 0; turn < 4; turn += 1) {
          const answering = read(seller.charge(route, requestOf({ payment }), work));
          await rest();
          // What could not be written is written again a little later.
          await plain.clock.advance(5_000);
          const seen = await answering;
          assert.doesNotMatch(seen.text, /secret of the inside/);
          if (seen.text === 'sunny') assert.equal(plain.ledger.landed.size, 1, 'served without a settlement');
          if (plain.ledger.landed.size > 0)
            assert.equal(seen.required, undefined, 'asked for a second payment');
        }
        assert.ok(plain.ledger.landed.size <= 1);
        assert.ok(runs <= 2);
      },
    ),
    { numRuns: 150 },
  );
});

test('C10: a store that is down refuses everything, uncharged, and nothing runs', async () => {
  const down = () => Promise.reject(new Error('connection refused'));
  const shop = openTestShop();
  const payment = await shop.payment();
  const seller = shop.rig.another({ store: { ...shop.rig.options.store, find: down, take: down } });
  const seen = await shop.ask({ payment, seller });
  assert.deepEqual(
    [seen.status, seen.problem.code, seen.problem.money, seen.problem.retry],
    [503, 'store_unavailable', 'unknown', 'same_payment'],
  );
  assert.ok(seen.header('retry-after'));
  assert.equal(seen.required, undefined);
  assert.deepEqual([shop.runs(), shop.rig.calls.verify, shop.rig.calls.settle], [0, 0, 0]);
});

test('an observer that throws changes nothing', async () => {
  const shop = openTestShop();
  const seller = shop.rig.another({
    observe: () => {
      throw new Error('metrics are down');
    },
  });
  assert.equal((await shop.ask({ payment: await shop.payment(), seller })).status, 200);
});

test('a full store says so before any work, and known payments are still answered', async () => {
  const { createMemoryStore } = await import('../stores/memory.ts');
  const probe = createRig();
  const shop = openTestShop({ seller: { store: createMemoryStore({ world: probe.world, capacity: 1 }) } });
  const first = await shop.payment();
  assert.equal((await shop.ask({ payment: first })).status, 200);
  const second = await shop.ask({ payment: await shop.payment() });
  assert.deepEqual(
    [second.status, second.problem.code, second.problem.money],
    [503, 'store_full', 'unmoved'],
  );
  assert.equal((await shop.ask({ payment: first })).text, 'sunny 1');
  assert.equal(shop.runs(), 1);
});

test('several networks stand in one 402, in the order in which they are accepted', async () => {
  const rig = createRig();
  const base = 'eip155:8453';
  const seller = rig.another({
    accepts: [
      { network: base, payTo },
      { network, payTo },
    ],
    facilitator: {
      ...rig.options.facilitator,
      supported: async () =>
        ({ kind: 'supported', kinds: [{ x402Version: 2, scheme: 'exact', network: 'eip155:*' }] }) as const,
    },
  });
  const route = seller.route({ method: 'GET', path: '/weather', price: '$0.01' });
  const seen = await read(seller.charge(route, requestOf(), async () => answerOf('')));
  assert.deepEqual(
    seen.required?.accepts.map((entry) => [entry.network, entry.amount]),
    [
      [base, 10_000n],
      [network, 10_000n],
    ],
  );
  assert.equal(seen.required?.accepts[1]?.asset, dollar.address);
});

test('I3: a payment in an asset that a new version sells no more is answered from its record', async () => {
  const shop = openTestShop();
  const payment = await shop.payment();
  shop.rig.settles.push({ lands: true, says: 'lost' });
  await shop.ask({ payment });
  const euro = defineAsset({
    network,
    address: `0x${'ee'.repeat(20)}`,
    symbol: 'LEUR',
    decimals: 6,
    name: 'Local Euro',
    version: '1',
    dollar: true,
  });
  const deployed = shop.rig.another({ assets: [euro] });
  const route = deployed.route({ method: 'GET', path: '/weather', price: '$0.01' });
  const present = (payment: Awaited<ReturnType<typeof shop.payment>>) =>
    read(deployed.charge(route, requestOf({ payment }), async () => answerOf('never')));
  const back = await present(payment);
  assert.deepEqual([back.status, back.text, back.required], [200, 'sunny 1', undefined]);
  const fresh = await present(await shop.payment());
  assert.deepEqual([fresh.status, fresh.problem.code], [402, 'requirement_mismatch']);
});

test('a store that throws at its housekeeping takes no paid answer with it', async () => {
  const shop = openTestShop();
  let prunes = 0;
  const prune = () => {
    prunes += 1;
    throw new Error('no room to think');
  };
  const seller = shop.rig.another({ store: { ...shop.rig.options.store, prune } });
  const payment = await shop.payment();
  for (let turn = 0; turn < 64; turn += 1) {
    assert.equal((await shop.ask({ payment, seller })).text, 'sunny 1');
  }
  assert.equal(prunes, 1);
});

test('a part that is missing, and a self-test that is none, are named', async () => {
  const { options, seller } = createRig();
  for (const name of ['world', 'store', 'facilitator'] as const) {
    for (const part of [undefined, 'https://facilitator.example', {}]) {
      assert.throws(() => createSeller({ ...options, [name]: part as never }), new RegExp(`needs a ${name}`));
    }
  }
  await assert.rejects(seller.ready({ prob: 1 } as never), /no option "prob"/);
  await assert.rejects(seller.ready({ probe: 'app' } as never), /probe of an adapter/);
});
