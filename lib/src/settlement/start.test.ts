import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hex, no, question, type Script, scriptedRpc, settledAt, transaction } from '../../test/node.ts';
import { createChainReader } from './chain.ts';
import { startBlockOf, startSlack } from './start.ts';

const reader = (script: Script) => createChainReader(scriptedRpc(script));

test('S06: the start of an unused authorization lies below the newest block, so that a reorg cannot move our landing under it', async () => {
  const startBlock = await startBlockOf(reader({ head: hex(1_000), state: no }), question);
  assert.equal(startBlock, 1_000 - startSlack);
  const landed = reader({ head: hex(1_000), ...settledAt(998) });
  assert.equal((await landed.fate({ ...question, startBlock })).kind, 'settled');
  const bare = await landed.fate({ ...question, startBlock: 1_000 });
  assert.equal(bare.kind, 'used_elsewhere', 'as it would be from the bare height');
});

test('S06: an authorization that was spent a block ago is not ours by any tolerance', async () => {
  const spent = reader(settledAt(110));
  const startBlock = await startBlockOf(spent, question);
  assert.equal(startBlock, 110);
  const later = reader({ head: hex(111), ...settledAt(110) });
  assert.deepEqual(await later.fate({ ...question, startBlock }), {
    kind: 'used_elsewhere',
    transaction,
    block: 110,
  });
});

test('a young chain starts at its first block', async () => {
  assert.equal(await startBlockOf(reader({ head: hex(3), state: no }), question), 0);
});

test('where the state cannot be read the bare height is noted, and nothing where that cannot be read either', async () => {
  assert.equal(await startBlockOf(reader({ state: new Error('down') }), question), 110);
  assert.equal(await startBlockOf(reader({ head: new Error('down') }), question), undefined);
});

test('a spent one keeps the block of its use where the height is lost meanwhile', async () => {
  const chain = {
    blockNumber: async () => undefined,
    fate: async () => ({ kind: 'settled', transaction, block: 105 }) as const,
  };
  assert.equal(await startBlockOf(chain, question), 105);
});
