import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rest } from '../../test/rig.ts';
import { openTestShop, type ShopOptions, type TestShop } from '../../test/shop.ts';
import type { ClaimStore } from '../claim/index.ts';
import type { Seller } from './seller.ts';

type Method = 'recordMoney' | 'keepAndBeginSend' | 'take';
const flows = ['authorization', 'upfront'] as const;

/** A shop without a chain to read, as most are. */
function open(flow: (typeof flows)[number], more: ShopOptions = {}): TestShop {
  return openTestShop({ route: { flow }, seller: { chains: {} }, ...more });
}

/** A seller whose store fails so many calls of one method, before or after it has done what was asked. */
function failing(
  shop: TestShop,
  fault: { readonly method: Method; readonly times: number; readonly applied: boolean },
): Seller {
  const { store } = shop.rig.options;
  let left = fault.times;
  const faulty =
    <Args extends readonly unknown[], Result>(real: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      if (left === 0) return real(...args);
      left -= 1;
      if (fault.applied) await real(...args);
      throw new Error('the line is cut');
    };
  const broken: { readonly [method in Method]: Partial<ClaimStore> } = {
    recordMoney: { recordMoney: faulty(store.recordMoney) },
    keepAndBeginSend: { keepAndBeginSend: faulty(store.keepAndBeginSend) },
    take: { take: faulty(store.take) },
  };
  return shop.rig.another({ store: { ...store, ...broken[fault.method] }, chains: {} });
}

test('S3: what became of a send is written again where nobody confirmed it, and the buyer is served', async () => {
  for (const flow of flows) {
    for (const applied of [false, true]) {
      const shop = open(flow);
      const seller = failing(shop, { method: 'recordMoney', times: 2, applied });
      const asked = shop.ask({ payment: await shop.payment(), seller });
      await rest();
      await shop.rig.clock.advance(2_000);
      assert.equal((await asked).status, 200, `${flow}, ${applied}`);
      assert.deepEqual([shop.runs(), shop.rig.ledger.landed.size], [1, 1]);
    }
  }
});

test('S3: a settlement that could not be written while its buyer waited is written when the store is back', async () => {
  for (const flow of flows) {
    const shop = open(flow);
    const seller = failing(shop, { method: 'recordMoney', times: 6, applied: false });
    const payment = await shop.payment();
    const asked = shop.ask({ payment, seller });
    await rest();
    await shop.rig.clock.advance(31_000);
    assert.equal((await asked).problem.code, 'store_unavailable');
    await shop.rig.clock.advance(120_000);
    const again = await shop.ask({ payment });
    assert.deepEqual([again.status, shop.runs(), shop.rig.calls.settle], [200, 1, 1], flow);
  }
});

test('S3: a send whose beginning nobody confirmed never began: the same payment goes on, and no other waits behind it', async () => {
  const methods = { authorization: 'keepAndBeginSend', upfront: 'take' } as const;
  for (const flow of flows) {
    for (const applied of [false, true]) {
      const shop = open(flow);
      const payment = await shop.payment();
      const seller = failing(shop, { method: methods[flow], times: 1, applied });
      const seen = await shop.ask({ payment, seller });
      assert.deepEqual([seen.problem.code, shop.rig.calls.settle], ['store_unavailable', 0]);
      await shop.rig.clock.advance(40_000);
      const again = await shop.ask({ payment });
      assert.deepEqual([again.status, shop.rig.ledger.landed.size], [200, 1], `${flow}, ${applied}`);
    }
  }
});
