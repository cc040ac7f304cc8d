import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Reply } from '../buyer/client.ts';
import { holds } from '../part.ts';
import { finding, present, type Redelivery } from './redelivery.ts';

const good: Redelivery = { octetsRead: 0, status: 200, charged: 0, handlerRuns: 1, presentations: 2 };

test('S4: a lost answer holds when the same payment fetches it, without a charge and without a second run', () => {
  assert.equal(holds(finding(good)), true);
  for (const change of [
    { octetsRead: 9 },
    { status: 409 },
    { charged: 1 },
    { handlerRuns: 2 },
    { handlerRuns: 0 },
  ])
    assert.equal(holds(finding({ ...good, ...change })), false, JSON.stringify(change));
});

function reply(status: number, headers: Record<string, string> = {}): Reply {
  return { status, headers: new Map(Object.entries(headers)), body: '', startMs: 0, endMs: 0 };
}

test('the same payment is presented while the seller says to come back, and not after', async () => {
  const replies = [reply(402, { 'retry-after': '1' }), reply(503, { 'retry-after': '5' }), reply(200)];
  const sent: (string | undefined)[] = [];
  const get = async (_url: string, payment?: string): Promise<Reply> => {
    sent.push(payment);
    return replies[sent.length - 1] ?? reply(500);
  };
  const { reply: last, presentations } = await present({ get }, 'http://127.0.0.1/', 'signed');
  assert.deepEqual([last.status, presentations, sent], [200, 3, ['signed', 'signed', 'signed']]);
});
