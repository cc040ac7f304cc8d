import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { deriveAccounts, listAccounts, MAX_BUYERS } from './accounts.ts';

describe('accounts of the local chain', () => {
  test('the accounts are the ones every local chain uses, in the same order', () => {
    const all = listAccounts(deriveAccounts());
    assert.equal(all.length, 10);
    assert.deepEqual(all.map((account) => account.address).slice(0, 5), [
      '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
      '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
      '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
      '0x90F79bf6EB2c4f870365E785982E1f101E93b906',
      '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65',
    ]);
    assert.equal(all[0]?.privateKey, '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80');
  });

  test('nobody has two roles', () => {
    const all = listAccounts(deriveAccounts(20));
    assert.equal(new Set(all.map((account) => account.address)).size, 24);
    assert.deepEqual(
      all.slice(0, 5).map((account) => account.role),
      ['deployer', 'relayer', 'operator', 'seller', 'buyer'],
    );
  });

  test('a wrong number of buyers is refused', () => {
    for (const wrong of [0, -1, 1.5, Number.NaN, MAX_BUYERS + 1]) {
      assert.throws(() => deriveAccounts(wrong), TypeError);
    }
  });
});
