import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTestShop } from '../../test/shop.ts';

test('F07: until the facilitator says what it settles, a priced route is closed to everybody', async () => {
  const shop = openTestShop();
  let up = false;
  const facilitator = {
    ...shop.rig.options.facilitator,
    supported: async () =>
      up ? shop.rig.options.facilitator.supported() : ({ kind: 'unavailable', why: 'status 308' } as const),
  };
  const seller = shop.rig.another({ facilitator });
  await assert.rejects(seller.ready(), /status 308/);
  const closed = await shop.ask({ seller });
  assert.deepEqual(
    [closed.status, closed.problem.code, closed.required],
    [503, 'seller_not_ready', undefined],
  );
  const paid = await shop.ask({ seller, payment: await shop.payment() });
  assert.deepEqual([paid.status, shop.runs()], [503, 0]);
  up = true;
  await shop.rig.clock.advance(60_000);
  await seller.ready();
  assert.equal((await shop.ask({ seller })).status, 402);
});

test('a facilitator that does not settle what is accepted is named at start-up', async () => {
  const shop = openTestShop();
  const facilitator = {
    ...shop.rig.options.facilitator,
    supported: async () =>
      ({ kind: 'supported', kinds: [{ x402Version: 2, scheme: 'exact', network: 'eip155:1' }] }) as const,
  };
  await assert.rejects(shop.rig.another({ facilitator }).ready(), /eip155:31337/);
});

test('a facilitator that names a whole namespace covers its networks', async () => {
  const shop = openTestShop();
  const facilitator = {
    ...shop.rig.options.facilitator,
    supported: async () =>
      ({ kind: 'supported', kinds: [{ x402Version: 2, scheme: 'exact', network: 'eip155:*' }] }) as const,
  };
  await shop.rig.another({ facilitator }).ready();
});

test('/supported is asked once at a time, and not again before its pause is over', async () => {
  const shop = openTestShop();
  let asked = 0;
  const facilitator = {
    ...shop.rig.options.facilitator,
    supported: async () => {
      asked += 1;
      return { kind: 'unavailable', why: 'status 500' } as const;
    },
  };
  const seller = shop.rig.another({ facilitator });
  await Promise.all(Array.from({ length: 20 }, () => shop.ask({ seller })));
  assert.equal(asked, 1);
  await shop.rig.clock.advance(501);
  await shop.ask({ seller });
  assert.equal(asked, 2);
  await shop.rig.clock.advance(501);
  await shop.ask({ seller });
  assert.equal(asked, 2);
});
