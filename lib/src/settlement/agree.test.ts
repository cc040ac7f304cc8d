import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { hex, receipt, transfer, use, word } from '../../test/node.ts';
import type { Json, JsonObject } from '../wire/v2.ts';
import { essence } from './agree.ts';

const same = (method: string, one: Json, other: Json): boolean =>
  JSON.stringify(essence(method, one)) === JSON.stringify(essence(method, other));

const logs = [use({ index: 4 }), transfer({ index: 5 })];
const blockHash = word(7n);

test('nodes that add fields, list logs in another order or write hex large still agree', () => {
  const decorated = logs.map((log) => ({ ...log, blockTimestamp: hex(9), transactionIndex: hex(1) }));
  const shouted: Json = JSON.parse(
    JSON.stringify(logs).replace(/(?<=0x)[0-9a-f]+/g, (digits) => digits.toUpperCase()),
  );
  for (const other of [decorated, logs.toReversed(), shouted]) {
    assert.ok(same('eth_getLogs', logs, other));
    assert.ok(
      same('eth_getTransactionReceipt', receipt(logs), receipt(logs, { logs: other, gasUsed: '0x1' })),
    );
  }
  const block = { number: hex(7), timestamp: hex(8), hash: blockHash };
  assert.ok(same('eth_getBlockByNumber', block, { ...block, size: '0x1', hash: blockHash.toUpperCase() }));
  assert.ok(same('eth_call', '0xAB', '0xab'));
});

const changes: readonly JsonObject[] = [
  { address: `0x${'b6'.repeat(20)}` },
  { topics: [word(1n)] },
  { topics: null },
  { data: word(9n) },
  { blockNumber: hex(106) },
  { blockHash },
  { logIndex: hex(9) },
  { transactionHash: word(9n) },
  { removed: true },
];
test('F10: whatever a reader looks at in a log, nodes must agree about it', () => {
  for (const change of changes) {
    const other = [{ ...use({ index: 4 }), ...change }, transfer({ index: 5 })];
    assert.ok(!same('eth_getLogs', logs, other), JSON.stringify(change));
    assert.ok(!same('eth_getTransactionReceipt', receipt(logs), receipt(logs, { logs: other })));
  }
  assert.ok(!same('eth_getLogs', logs, logs.slice(1)));
  assert.ok(!same('eth_getLogs', logs, null));
});

test('F10: the same of a receipt and of a block', () => {
  for (const change of [{ status: '0x0' }, { blockNumber: hex(9) }, { blockHash }, { logs: null }]) {
    assert.ok(!same('eth_getTransactionReceipt', receipt(logs), receipt(logs, change)));
  }
  assert.ok(!same('eth_getTransactionReceipt', receipt(logs), null));
  const block = { number: hex(7), timestamp: hex(8), hash: blockHash };
  for (const change of [{ number: hex(8) }, { timestamp: hex(9) }, { hash: word(8n) }]) {
    assert.ok(!same('eth_getBlockByNumber', block, { ...block, ...change }));
  }
});

test('of any answer there is an essence, and it is its own', () => {
  const methods = fc.constantFrom(
    'eth_getLogs',
    'eth_getTransactionReceipt',
    'eth_getBlockByNumber',
    'eth_call',
  );
  fc.assert(
    fc.property(methods, fc.jsonValue(), (method, value) => {
      const once = essence(method, value as Json);
      assert.deepEqual(essence(method, once), once);
    }),
  );
});
