/** C08: a store that is full is said before any work, whichever framework stands around the seller. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRig } from '../../test/rig.ts';
import { createMemoryStore } from '../stores/memory.ts';
import { doors } from './rig/door.ts';
import { codeOf, openShop, paying } from './rig/shop.ts';

for (const door of doors) {
  test(`C08: ${door.name}, at capacity a new payment gets 503 before anything is asked or done, and what was sold is delivered again`, async (t) => {
    let runs = 0;
    const store = createMemoryStore({ world: createRig().world, capacity: 1 });
    const shop = await openShop(
      t,
      (seller, route) =>
        door.open(seller, route, () => {
          runs += 1;
          return { parts: ['sunny'] };
        }),
      {},
      { store },
    );
    const sold = await shop.payment();
    assert.equal((await shop.ask(paying(sold))).status, 200);
    const { verify, settle } = shop.rig.calls;
    for (let turn = 0; turn < 3; turn += 1) {
      const full = await shop.buy();
      assert.deepEqual([full.status, codeOf(full)], [503, 'store_full']);
      assert.ok(full.header('retry-after'));
      assert.equal(full.header('payment-required'), undefined);
    }
    assert.deepEqual([shop.rig.calls.verify, shop.rig.calls.settle, runs], [verify, settle, 1]);
    const again = await shop.ask(paying(sold));
    assert.deepEqual([again.status, again.text, runs], [200, 'sunny', 1]);
  });

  test(`C08: ${door.name}, a payer and an address that have too much under way get 429 with Retry-After`, async (t) => {
    const gate = Promise.withResolvers<void>();
    const started = Promise.withResolvers<void>();
    const shop = await openShop(
      t,
      (seller, route) =>
        door.open(seller, route, async () => {
          started.resolve();
          await gate.promise;
          return { parts: ['sunny'] };
        }),
      {},
      { limits: { perPayer: 1 } },
    );
    const first = shop.ask(paying(await shop.payment()));
    await started.promise;
    const crowd = await shop.ask(paying(await shop.payment()));
    assert.deepEqual(
      [crowd.status, codeOf(crowd), crowd.header('retry-after')],
      [429, 'too_many_requests', '1'],
    );
    gate.resolve();
    assert.equal((await first).status, 200);
  });
}
