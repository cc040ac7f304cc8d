import assert from 'node:assert/strict';
import { test } from 'node:test';
import { holds } from '../part.ts';
import { finding, type Ledger } from './chain.ts';

const paid = { transaction: '0xAB', payer: '0xCD', amount: 10_000n };
const record = { transaction: '0xab', payer: '0xcd', amount: 10_000n, nonce: '0x01' };
const good: Ledger = { onChain: [paid], used: ['0x01'], settled: [record], unknown: 0, records: 2 };

test('S3: chain and records hold when both tell the same movements, in any letter case', () => {
  const found = finding(good);
  assert.equal(holds(found), true);
  assert.deepEqual(found.figures, { transfers: 1, authorizationUsed: 1, settled: 1, records: 2 });
  assert.equal(holds(finding({ onChain: [], used: [], settled: [], unknown: 0, records: 0 })), true);
});

test('a movement that only one side knows, knows otherwise, or knows twice does not hold', () => {
  const wrong: Partial<Ledger>[] = [
    { onChain: [] },
    { onChain: [paid, paid] },
    { settled: [] },
    { settled: [record, record] },
    { onChain: [{ ...paid, amount: 1n }] },
    { onChain: [{ ...paid, payer: '0xee' }] },
    { onChain: [{ ...paid, transaction: '0xff' }] },
    { used: [] },
    { used: ['0x02'] },
    { unknown: 1 },
  ];
  for (const change of wrong)
    assert.equal(holds(finding({ ...good, ...change })), false, Object.keys(change).join());
});
