import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exampleHex, examplePurchase, exampleTake, exampleNowMs as now } from '../../claim/example.ts';
import { olderLimit, payerName } from '../../claim/index.ts';
import { operate } from '../operations.ts';
import type { Sight } from './remote.ts';
import { createScene } from './scene.ts';

const nothing = { nowMs: now, record: () => undefined };
const purchase = examplePurchase(1, { alias: exampleHex(7) });
const request = exampleTake(purchase, { exposure: { unpaid: 3, open: 5 } });

test('a guess is that nothing stands in the way, and all that was looked at is named with it', () => {
  const scene = createScene(undefined, nothing);
  assert.equal(operate(scene.table, 'take', request).kind, 'taken');
  const { asks, expected, writes } = scene.attempt();
  const { network, payer, payTo, fingerprint } = purchase;
  assert.deepEqual(asks, {
    keys: [purchase.key],
    older: { twins: { network, payer, payTo, fingerprint }, limit: olderLimit },
    aliased: { alias: exampleHex(7), limit: 2 },
    exposure: { payer: payerName(purchase), limits: { unpaid: 3, open: 5 } },
    room: true,
  });
  assert.deepEqual(expected, {
    nowMs: now,
    records: new Map([[purchase.key, undefined]]),
    older: [],
    aliased: [],
    mustPayFirst: false,
    full: false,
  });
  assert.deepEqual(
    writes.map(({ key }) => key),
    [purchase.key],
  );
});

test('what the server said goes before every guess, its time included', () => {
  const first = createScene(undefined, nothing);
  operate(first.table, 'take', request);
  const record = first.attempt().writes[0]?.record;
  assert.ok(record);
  const sight: Sight = { nowMs: now + 5, records: new Map([[purchase.key, { record, version: '9' }]]) };
  const scene = createScene(sight, nothing);
  const outcome = operate(scene.table, 'take', request);
  assert.deepEqual([outcome.kind, outcome.nowMs], ['known', now + 5]);
  const { writes, expected } = scene.attempt();
  assert.deepEqual(writes, []);
  assert.equal(expected.records.get(purchase.key)?.version, '9');
  const owing = createScene({ nowMs: now, records: new Map(), mustPayFirst: true, full: false }, nothing);
  assert.equal(operate(owing.table, 'take', request).kind, 'pay_first');
  const full = createScene({ nowMs: now, records: new Map(), full: true }, nothing);
  assert.equal(operate(full.table, 'take', request).kind, 'full');
});

test('a record that the server says is not there is not guessed back', () => {
  const first = createScene(undefined, nothing);
  operate(first.table, 'take', request);
  const record = first.attempt().writes[0]?.record;
  assert.ok(record);
  const remembered = { nowMs: now, record: () => ({ record, version: '1' }) };
  const sight: Sight = { nowMs: now, records: new Map([[purchase.key, undefined]]) };
  assert.equal(operate(createScene(sight, remembered).table, 'take', request).kind, 'taken');
  assert.equal(operate(createScene(undefined, remembered).table, 'take', request).kind, 'known');
});
