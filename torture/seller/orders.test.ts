import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createReader, writeEntry } from './journal.ts';
import { carriedOut, giveOrders, isOrdered, type Orders, takeOrder, withdrawOrders } from './orders.ts';

const orders: Orders = {
  round: 1,
  nonce: '0xaa',
  header: 'header',
  steps: [
    { point: 'working', act: 'die' },
    { point: 'kept', act: 'report' },
  ],
};

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-orders-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

test('an order is carried out once, by whoever is there first, and then comes the next one', (t) => {
  const folder = folderOf(t);
  giveOrders(folder, orders);
  const payment = 'eip155:1/eip3009/0x1/0x2/0xaa';
  assert.equal(takeOrder(folder, { point: 'kept', payment }), undefined);
  assert.equal(isOrdered(folder, { point: 'working', payment: 'header' }), true);
  assert.deepEqual(takeOrder(folder, { point: 'working', payment }), { act: 'die', nonce: '0xaa' });
  assert.equal(takeOrder(folder, { point: 'working', payment }), undefined);
  assert.deepEqual(carriedOut(folder, orders), orders.steps.slice(0, 1));
  assert.equal(isOrdered(folder, { point: 'kept', payment: 'header' }), true);
  assert.deepEqual(takeOrder(folder, { point: 'kept', payment: 'header' }), { act: 'report', nonce: '0xaa' });
  assert.equal(isOrdered(folder, { point: 'kept', payment: 'header' }), false);
  assert.deepEqual(carriedOut(folder, orders), orders.steps);
});

test('orders are about one payment, and are over when they are withdrawn', (t) => {
  const folder = folderOf(t);
  assert.equal(takeOrder(folder, { point: 'working', payment: 'header' }), undefined);
  giveOrders(folder, orders);
  assert.equal(takeOrder(folder, { point: 'working', payment: '0xbb' }), undefined);
  withdrawOrders(folder);
  withdrawOrders(folder);
  assert.equal(takeOrder(folder, { point: 'working', payment: '0xaa' }), undefined);
  giveOrders(folder, { ...orders, round: 2 });
  assert.notEqual(takeOrder(folder, { point: 'working', payment: '0xaa' }), undefined);
});

test('a journal is read on from where it was read before', async (t) => {
  const path = join(folderOf(t), 'journal');
  const read = createReader(path);
  assert.deepEqual(await read(), []);
  writeEntry(path, { who: 'p1', what: 'run', nonce: '0xaa', text: '1' });
  writeEntry(path, { who: 'p2', what: 'event', text: 'two' });
  const first = await read();
  assert.deepEqual(
    first.map(({ who, text }) => [who, text]),
    [
      ['p1', '1'],
      ['p2', 'two'],
    ],
  );
  assert.ok((first[1]?.atMs ?? 0) >= (first[0]?.atMs ?? 0));
  writeEntry(path, { who: 'p1', what: 'ran', text: '1' });
  assert.deepEqual(
    (await read()).map(({ what }) => what),
    ['ran'],
  );
});
