import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { createStandIn } from './facilitator.ts';
import { network } from './goods.ts';
import { beginProfile, hotOf } from './profile.ts';
import { readOrder } from './shop.ts';

const folder = mkdtempSync(join(tmpdir(), 'counterfoil-profile-'));
after(() => rmSync(folder, { recursive: true }));

const frame = (functionName: string, url = '') => {
  return { functionName, url, scriptId: '1', lineNumber: 9, columnNumber: 0 };
};

test('self time is summed by function, and waiting is no time', () => {
  const hot = hotOf({
    nodes: [
      { id: 1, callFrame: frame('(idle)') },
      { id: 2, callFrame: frame('work', 'file:///somewhere/lib/src/seller/charge.ts') },
      { id: 3, callFrame: frame('', 'file:///somewhere/lib/src/seller/charge.ts') },
      { id: 4, callFrame: frame('work', 'file:///somewhere/lib/src/seller/charge.ts') },
    ],
    samples: [1, 2, 3, 4],
    timeDeltas: [900, 30, 40, 30],
  });
  assert.deepEqual(hot, [
    { name: 'work seller/charge.ts:10', share: 0.6 },
    { name: '(anonymous) seller/charge.ts:10', share: 0.4 },
  ]);
});

test('a profile is written for a viewer', async () => {
  const profile = await beginProfile();
  const file = join(folder, 'a.cpuprofile');
  assert.ok(Array.isArray(await profile.end(file)));
  assert.ok(Array.isArray(JSON.parse(readFileSync(file, 'utf8')).nodes));
});

test('the stand-in says yes to everything, and like a chain it takes a nonce once', async () => {
  const standIn = createStandIn();
  const payment = { payload: { authorization: { from: '0xa', nonce: '0x1' } } };
  assert.equal((await standIn.getSupported()).kinds[0]?.network, network);
  assert.deepEqual(await standIn.verify(payment), { isValid: true, payer: '0xa' });
  const first = await standIn.settle(payment);
  assert.deepEqual([first.success, /^0x0{63}1$/.test(first.transaction)], [true, true]);
  const second = await standIn.settle(payment);
  assert.deepEqual(
    [second.success, second.transaction, second.errorReason],
    [false, '', 'invalid_exact_evm_nonce_already_used'],
  );
  await assert.rejects(standIn.verify({}), TypeError);
});

test('an order from the parent is read member by member', () => {
  const variant = { name: 'ours-node', maker: 'ours', framework: 'node', store: 'memory' };
  const goods = { pattern: '/weather', paths: ['/weather'], workMs: 0 };
  assert.deepEqual(readOrder({ variant, goods, folder }), { variant, goods, folder });
  assert.throws(() => readOrder({ variant: { ...variant, maker: 'mine' }, goods, folder }), TypeError);
  assert.throws(() => readOrder({ variant, goods: { ...goods, paths: [1] }, folder }), TypeError);
});
