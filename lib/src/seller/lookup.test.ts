import assert from 'node:assert/strict';
import { test } from 'node:test';
import { network, rest } from '../../test/rig.ts';
import { openTestShop } from '../../test/shop.ts';

test('many buyers who ask about one doubt make one chain look-up', async () => {
  const shop = openTestShop();
  const lost = await shop.payment();
  shop.rig.settles.push({ says: 'lost' });
  await shop.ask({ payment: lost });
  const newer = await Promise.all(Array.from({ length: 10 }, () => shop.payment()));
  shop.rig.calls.fate = 0;
  const seen = await Promise.all(newer.map((payment) => shop.ask({ payment })));
  assert.ok(seen.every(({ problem }) => problem.code === 'earlier_payment_unresolved'));
  assert.equal(shop.rig.calls.fate, 1);
});

test('a chain that does not answer within two seconds leaves the doubt, and the buyer is told so', async () => {
  const shop = openTestShop();
  const reader = shop.rig.options.chains?.[network];
  assert.ok(reader);
  const slow = shop.rig.another({
    chains: { [network]: { ...reader, fate: () => new Promise<never>(() => {}) } },
  });
  const payment = await shop.payment();
  shop.rig.settles.push({ lands: true, says: 'lost' });
  await shop.ask({ payment, seller: slow });
  const again = shop.ask({ payment, seller: slow });
  await rest();
  await shop.rig.clock.advance(2_000);
  assert.deepEqual([(await again).status, (await again).problem.code], [503, 'settlement_unknown']);
});

test('a chain that cannot say its height does not stop a sale', async () => {
  const shop = openTestShop();
  const reader = shop.rig.options.chains?.[network];
  assert.ok(reader);
  const seller = shop.rig.another({
    chains: { [network]: { ...reader, blockNumber: async () => undefined } },
  });
  assert.equal((await shop.ask({ payment: await shop.payment(), seller })).status, 200);
});
