import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { answerOf, buyerOf, read, requestOf, rest, type Seen } from '../../../test/rig.ts';
import { openTestShop, type TestShop } from '../../../test/shop.ts';
import type { SellerRequest } from '../message.ts';
import { createQuota } from './quota.ts';

test('C08: whatever comes and goes, and in whatever order, nothing stays counted', () => {
  const steps = fc.array(fc.tuple(fc.constantFrom('a', 'b', undefined), fc.constantFrom('p', 'q')));
  fc.assert(
    fc.property(steps, fc.integer({ min: 1, max: 4 }), (visits, limit) => {
      const quota = createQuota({ perPayer: limit, perAddress: limit, total: limit + 2 });
      const under: (readonly [string | undefined, string | undefined])[] = [];
      for (const [address, payer] of visits) {
        if (quota.enter(address) !== undefined) {
          const first = under.shift();
          if (first !== undefined) leave(first);
          continue;
        }
        under.push([address, quota.enterPayer(payer) === undefined ? payer : undefined]);
      }
      function leave([address, payer]: readonly [string | undefined, string | undefined]): void {
        if (payer !== undefined) quota.leavePayer(payer);
        quota.leave(address);
      }
      assert.ok(quota.counted().total <= limit + 2);
      for (const one of under) leave(one);
      assert.deepEqual(quota.counted(), { total: 0, addresses: 0, payers: 0 });
    }),
    { numRuns: 300 },
  );
});

/** Work that waits until it is let go. */
function held(shop: TestShop): () => void {
  const gate = Promise.withResolvers<void>();
  shop.works(async () => {
    await gate.promise;
    return answerOf('sunny');
  });
  return gate.resolve;
}

function from(shop: TestShop, peer: string, payment: Parameters<typeof requestOf>[0] = {}): Promise<Seen> {
  const request: SellerRequest = { ...requestOf(payment), peer };
  return read(shop.rig.seller.charge(shop.route, request, async () => answerOf('never asked')));
}

test('C08, S13: a payer has so many payments under way and no more; the next is told to wait, and another payer is served', async () => {
  const shop = openTestShop({ seller: { limits: { perPayer: 3 } } });
  const letGo = held(shop);
  const payments = await Promise.all(Array.from({ length: 4 }, () => shop.payment()));
  const [first, , , fourth] = payments;
  assert.ok(first && fourth);
  const running = payments.slice(0, 3).map((payment) => shop.ask({ payment }));
  await rest();
  let bodies = 0;
  const unread: SellerRequest = {
    ...requestOf({ payment: fourth }),
    readBody: async () => {
      bodies += 1;
      return { kind: 'bytes', bytes: new Uint8Array() };
    },
  };
  const crowd = await read(shop.rig.seller.charge(shop.route, unread, async () => answerOf('never')));
  assert.deepEqual(
    [crowd.status, crowd.problem.code, crowd.problem.money, crowd.problem.retry, crowd.header('retry-after')],
    [429, 'too_many_requests', 'unknown', 'same_payment', '1'],
  );
  assert.deepEqual([bodies, crowd.required], [0, undefined], 'refused before a body is read');
  const copy = await shop.ask({ payment: first });
  assert.equal(
    copy.problem.code,
    'payment_in_progress',
    'a copy of what is under way is told so, and not counted',
  );
  const other = shop.ask({ payment: await shop.payment({ buyer: buyerOf(0x22) }) });
  await rest();
  assert.equal(shop.runs(), 4);
  letGo();
  assert.deepEqual(
    (await Promise.all([...running, other])).map(({ status }) => status),
    [200, 200, 200, 200],
  );
  assert.equal((await shop.ask({ payment: fourth })).status, 200, 'there is room again');
});

test('C08: a payer’s room cannot be filled by others who send its name under signatures of their own', async () => {
  const shop = openTestShop({ seller: { limits: { perPayer: 2 } } });
  const honest = await shop.payment();
  const gate = Promise.withResolvers<void>();
  const slow = Array.from({ length: 20 }, async () => {
    const target = await shop.payment();
    const { payload } = await shop.payment({ buyer: buyerOf(0x66) });
    const forged = { ...target, payload: { ...target.payload, signature: String(payload.signature) } };
    const request = requestOf({ payment: forged });
    const readBody: SellerRequest['readBody'] = async (limits) => {
      await gate.promise;
      return request.readBody(limits);
    };
    return read(shop.rig.seller.charge(shop.route, { ...request, readBody }, async () => answerOf('never')));
  });
  await rest();
  assert.equal((await shop.ask({ payment: honest })).status, 200);
  gate.resolve();
  const codes = new Set((await Promise.all(slow)).map(({ problem }) => problem.code));
  assert.deepEqual(
    [...codes].sort(),
    ['signature_invalid', 'too_many_requests'],
    'they crowd one another out',
  );
});

test('C08: an address has so many payments under way, whoever pays; requests without a payment are not counted', async () => {
  const shop = openTestShop({ seller: { limits: { perAddress: 2 } } });
  const gate = Promise.withResolvers<void>();
  const work = async () => {
    await gate.promise;
    return answerOf('sunny');
  };
  const come = async (octet: number, peer: string): Promise<Seen> => {
    const payment = await shop.payment({ buyer: buyerOf(octet) });
    return read(shop.rig.seller.charge(shop.route, { ...requestOf({ payment }), peer }, work));
  };
  const running = [come(0x21, '2001:db8::1'), come(0x22, '2001:db8::2')];
  await rest();
  assert.equal((await come(0x23, '2001:db8::3')).status, 429);
  assert.equal((await from(shop, '2001:db8::3')).status, 402, 'asking is free');
  const elsewhere = come(0x24, '2001:db8:0:1::1');
  await rest();
  gate.resolve();
  assert.deepEqual(
    (await Promise.all([...running, elsewhere])).map(({ status }) => status),
    [200, 200, 200],
  );
  assert.equal((await come(0x23, '2001:db8::3')).status, 200);
});

test('C08: a process that has enough to do says 503 to everybody, and goes on with what it has', async () => {
  const shop = openTestShop({ seller: { limits: { total: 2 } } });
  const letGo = held(shop);
  const running = [0x21, 0x22].map(async (octet) =>
    shop.ask({ payment: await shop.payment({ buyer: buyerOf(octet) }) }),
  );
  await rest();
  const third = await shop.payment({ buyer: buyerOf(0x23) });
  const full = await shop.ask({ payment: third });
  assert.deepEqual(
    [full.status, full.problem.code, full.problem.money, full.problem.retry],
    [503, 'too_many_requests', 'unknown', 'same_payment'],
  );
  letGo();
  assert.deepEqual(
    (await Promise.all(running)).map(({ status }) => status),
    [200, 200],
  );
  assert.equal((await shop.ask({ payment: third })).status, 200);
});

test('C08: whatever goes wrong with a request, its place is free again', async () => {
  const limits = { perPayer: 1, perAddress: 1, total: 1 };
  const shop = openTestShop({ seller: { limits } });
  const peer = '198.51.100.7';
  const payment = await shop.payment();
  const wrong: readonly Partial<SellerRequest>[] = [
    { readBody: async () => ({ kind: 'too_large' }) },
    { readBody: () => Promise.reject(new Error('reset')) },
    { target: '/weather#nothing' },
  ];
  for (const bent of wrong) {
    const request = { ...requestOf({ payment }), peer, ...bent };
    assert.notEqual(
      (await read(shop.rig.seller.charge(shop.route, request, async () => answerOf('')))).status,
      429,
    );
  }
  assert.equal((await from(shop, peer, { payment: 'e30=' })).status, 400);
  const down = () => Promise.reject(new Error('down'));
  const seller = shop.rig.another({ limits, store: { ...shop.rig.options.store, find: down } });
  for (let turn = 0; turn < 2; turn += 1) {
    assert.equal((await shop.ask({ payment, seller })).problem.code, 'store_unavailable');
  }
  shop.works(() => Promise.reject(new Error('inside')));
  for (let turn = 0; turn < 2; turn += 1)
    assert.equal((await shop.ask({ payment })).problem.code, 'work_failed');
  assert.equal((await shop.ask({ payment })).problem.code, 'attempts_exhausted');
});
