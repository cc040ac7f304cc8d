import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { recoverTypedDataAddress } from 'viem';
import { deriveAccounts } from './accounts.ts';
import { signerOf } from './chain.ts';
import { requirementsFor, signPayment } from './payment.ts';
import { NETWORK } from './request.ts';

const DOLLAR = {
  address: '0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0',
  decimals: 6,
  symbol: 'LOCALUSD',
  name: 'Local USD',
  version: '2',
} as const;

describe('a payment as the stock client makes it', () => {
  test('it is signed by the buyer for exactly what the seller asks, with a fresh nonce each time', async () => {
    const accounts = deriveAccounts(1);
    const signer = signerOf(accounts.buyers[0] ?? accounts.operator);
    const requirements = requirementsFor({ network: NETWORK, dollar: DOLLAR, accounts }, 123_456n);
    const [first, second] = await Promise.all([
      signPayment(signer, requirements),
      signPayment(signer, requirements),
    ]);
    const signed = first.paymentPayload.payload as {
      authorization: {
        from: `0x${string}`;
        to: `0x${string}`;
        value: string;
        validAfter: string;
        validBefore: string;
        nonce: `0x${string}`;
      };
      signature: `0x${string}`;
    };
    assert.equal(signed.authorization.value, '123456');
    assert.equal(signed.authorization.to, accounts.seller.address);
    assert.notDeepEqual(
      first.paymentPayload.payload.authorization,
      second.paymentPayload.payload.authorization,
    );
    const recovered = await recoverTypedDataAddress({
      domain: { name: 'Local USD', version: '2', chainId: 31337, verifyingContract: DOLLAR.address },
      types: {
        TransferWithAuthorization: [
          { name: 'from', type: 'address' },
          { name: 'to', type: 'address' },
          { name: 'value', type: 'uint256' },
          { name: 'validAfter', type: 'uint256' },
          { name: 'validBefore', type: 'uint256' },
          { name: 'nonce', type: 'bytes32' },
        ],
      },
      primaryType: 'TransferWithAuthorization',
      message: {
        ...signed.authorization,
        value: BigInt(signed.authorization.value),
        validAfter: BigInt(signed.authorization.validAfter),
        validBefore: BigInt(signed.authorization.validBefore),
      },
      signature: signed.signature,
    });
    assert.equal(recovered, signer.address);
  });
});
