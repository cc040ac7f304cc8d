import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hex, no, question, type Script, scriptedRpc, yes } from '../../test/node.ts';
import { hexOf, quantity, readBlock, readUsed, word } from './state.ts';

test('a block is read with its time, under each of its names', async () => {
  const rpc = scriptedRpc({ final: { number: hex(7), timestamp: hex(1_800_000_000) } });
  assert.deepEqual(await readBlock(rpc, 'finalized'), {
    ok: true,
    value: { block: 7, timeMs: 1_800_000_000_000 },
  });
  assert.deepEqual(await readBlock(rpc, 'safe'), { ok: true, value: { block: 109, timeMs: 1_500_000 } });
  assert.deepEqual(await readBlock(rpc, 'latest'), { ok: true, value: { block: 110, timeMs: 10_000_000 } });
});

const noBlocks = [
  null,
  {},
  [],
  5,
  { number: hex(7) },
  { timestamp: hex(7) },
  { number: 7, timestamp: 7 },
  { number: '110', timestamp: hex(7) },
  { number: '0x', timestamp: hex(7) },
  { number: `0x${'f'.repeat(16)}`, timestamp: hex(7) },
  new Error('unknown tag'),
];
test('F10: what is no block is none, and it is said which one is missing', async () => {
  for (const final of noBlocks) {
    const read = await readBlock(scriptedRpc({ final }), 'finalized');
    assert.ok(!read.ok && read.why.startsWith('finalized block'));
  }
});

test('the state of an authorization is one word, of nothing or of something', async () => {
  const used = (state: Script['state']) => readUsed(scriptedRpc({ state: state ?? null }), question, 110);
  assert.deepEqual(await used(yes), { ok: true, value: true });
  assert.deepEqual(await used(no), { ok: true, value: false });
  for (const state of ['0x', `0x${'0'.repeat(62)}`, true, null, 1, '0x1', new Error('header not found')]) {
    assert.equal((await used(state)).ok, false);
  }
});

test('the state is asked of the block that is named and of no other', async () => {
  const read = await readUsed(scriptedRpc({ state: yes, finalState: no }), question, 109);
  assert.deepEqual(read, { ok: true, value: false });
});

test('words, block numbers and quantities are written and read as JSON-RPC has them', () => {
  assert.equal(word('0xAB'), 'ab'.padStart(64, '0'));
  assert.equal(hexOf(110), '0x6e');
  assert.equal(quantity('0x6E'), 110);
  assert.equal(quantity('0xfffffffffffff'), 2 ** 52 - 1);
  for (const wrong of ['0x', '6e', '', 110, null, undefined, `0x${'0'.repeat(14)}`]) {
    assert.equal(quantity(wrong), undefined);
  }
});
