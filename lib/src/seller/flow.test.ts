import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTestShop } from '../../test/shop.ts';

test('what is kept of an answer and of a payment cannot be read without a key', async () => {
  const shop = openTestShop();
  const payment = await shop.payment();
  shop.rig.settles.push({ says: 'lost' });
  await shop.ask({ payment });
  const { store } = shop.rig.options;
  const [record] = await store.list({ limit: 1 });
  assert.ok(record);
  const kept = [await store.readAnswer(record.key), await store.readPayload(record.key)];
  for (const bytes of kept) {
    assert.ok(bytes !== undefined && bytes.length > 60);
    const text = new TextDecoder('latin1').decode(bytes);
    assert.doesNotMatch(text, /sunny|authorization|signature/);
  }
});

test('an answer kept under another store key is an alarm and never somebody else’s octets', async () => {
  const shop = openTestShop();
  const payment = await shop.payment();
  shop.rig.settles.push({ says: 'unsent' });
  await shop.ask({ payment });
  const other = shop.rig.another({ storeKey: new Uint8Array(32).fill(9) });
  const seen = await shop.ask({ payment, seller: other });
  assert.deepEqual([seen.status, seen.required], [503, undefined]);
  assert.equal(shop.rig.ledger.landed.size, 0);
});

test('the payload is kept from the send until the money is known, and not longer', async () => {
  const shop = openTestShop();
  const payment = await shop.payment();
  shop.rig.settles.push({ says: 'lost' });
  await shop.ask({ payment });
  const { store } = shop.rig.options;
  const key = (await store.list({ limit: 1 }))[0]?.key ?? '';
  assert.ok(await store.readPayload(key));
  await shop.ask({ payment });
  assert.equal(await store.readPayload(key), undefined);
});
