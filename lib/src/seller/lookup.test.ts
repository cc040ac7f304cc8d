import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pauseAt } from '../../test/pause.ts';
import { buyerOf, network, rest } from '../../test/rig.ts';
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
  await shop.ask({ payment });
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
    chains: {
      [network]: {
        ...reader,
        blockNumber: async () => undefined,
        fate: async () => ({ kind: 'unread', why: 'block number' }),
      },
    },
  });
  assert.equal((await shop.ask({ payment: await shop.payment(), seller })).status, 200);
});

test('a chain reader that never comes back does not occupy its key for ever, nor hold a contract wallet’s payment', async () => {
  const shop = openTestShop();
  const reader = shop.rig.options.chains?.[network];
  assert.ok(reader);
  let asked = 0;
  const never = () => {
    asked += 1;
    return new Promise<never>(() => {});
  };
  const hung = shop.rig.another({ chains: { [network]: { ...reader, fate: never, hasCode: never } } });
  const payment = await shop.payment();
  shop.rig.settles.push({ lands: true, says: 'lost' });
  await shop.ask({ payment });
  for (const turn of [1, 2]) {
    const seen = shop.ask({ payment, seller: hung });
    await rest();
    await shop.rig.clock.advance(61_000);
    assert.equal((await seen).problem.code, 'settlement_unknown');
    assert.equal(asked, turn);
  }
  const signed = await shop.payment({ buyer: buyerOf(0x22) });
  const contract = { ...signed, payload: { ...signed.payload, signature: `0x${'5a'.repeat(80)}` } };
  const served = shop.ask({ payment: contract, seller: hung });
  await rest();
  await shop.rig.clock.advance(4_000);
  assert.equal((await served).status, 200);
});

test('a chain reader that throws where it should reject is a chain that cannot be read, and no crash', async () => {
  const shop = openTestShop();
  const reader = shop.rig.options.chains?.[network];
  assert.ok(reader);
  const throws = () => {
    throw new Error('no endpoint');
  };
  const payment = await shop.payment();
  const pause = pauseAt(shop.rig.options.facilitator, 'verify', 'before');
  const seller = shop.rig.another({
    facilitator: pause.target,
    chains: { [network]: { ...reader, blockNumber: throws, fate: throws } },
  });
  const unhandled: unknown[] = [];
  const note = (fault: unknown): number => unhandled.push(fault);
  process.on('unhandledRejection', note);
  const seen = shop.ask({ payment, seller });
  await pause.reached;
  await rest();
  pause.resume();
  assert.equal((await seen).status, 200);
  process.off('unhandledRejection', note);
  assert.deepEqual(unhandled, []);
});
