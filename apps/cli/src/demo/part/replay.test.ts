import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodePaymentResponse } from 'counterfoil/wire';
import type { Reply } from '../buyer/client.ts';
import { holds } from '../part.ts';
import { finding, isSame, type Replay } from './replay.ts';

const good: Replay = { handlerRuns: 0, settles: 0, statuses: '10 x 200', strange: 0 };

test('S1: a replay holds when nothing ran, nothing moved, and every answer was the kept one or a 409', () => {
  assert.equal(holds(finding(good)), true);
  for (const change of [{ handlerRuns: 1 }, { settles: 1 }, { strange: 1 }])
    assert.equal(holds(finding({ ...good, ...change })), false, JSON.stringify(change));
});

function reply(status: number, body: string, digit = '1'): Reply {
  const transaction = `0x${digit.repeat(64)}`;
  const header = encodePaymentResponse({ success: true, transaction, network: 'eip155:1' });
  return { status, body, headers: new Map([['payment-response', header]]), startMs: 0, endMs: 0 };
}

test('only the same words under the same transaction are the kept answer', () => {
  const bought = reply(200, 'sunny');
  assert.equal(isSame(bought, reply(200, 'sunny')), true);
  assert.equal(isSame(bought, reply(200, 'rainy')), false);
  assert.equal(isSame(bought, reply(200, 'sunny', '2')), false);
  assert.equal(isSame(bought, reply(402, 'sunny')), false);
  assert.equal(isSame(bought, reply(409, '{"code":"payment_already_used"}')), true);
  assert.equal(isSame(bought, reply(409, '{"code":"settlement_reversed"}')), false);
});
