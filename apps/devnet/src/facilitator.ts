/**
 * A real facilitator: the official x402Facilitator with the official exact scheme for EVM chains, over a signer
 * that lets one transaction leave at a time. It can be called in process and over HTTP (`service.ts`).
 */
import { x402Facilitator } from '@x402/core/facilitator';
import type { FacilitatorEvmSigner } from '@x402/evm';
import { ExactEvmScheme } from '@x402/evm/exact/facilitator';
import { hashTypedData, isHex, type TypedDataDomain } from 'viem';
import type { Clients } from './client.ts';
import { NETWORK } from './request.ts';
import { type Writer, waitForReceipt } from './writer.ts';

/** The official facilitator of this chain, paying gas from the writer's account. */
export function createFacilitator(clients: Clients, writer: Writer): x402Facilitator {
  return new x402Facilitator().register(NETWORK, new ExactEvmScheme(createSigner(clients, writer)));
}

function createSigner(clients: Clients, writer: Writer): FacilitatorEvmSigner {
  const { reader } = clients;
  return {
    getAddresses: () => [writer.address],
    readContract: (call) => reader.readContract({ ...call, args: call.args ?? [] }),
    verifyTypedData: ({ address, signature, domain, types, primaryType, message }) => {
      const hash = hashTypedData({ domain: domainOf(domain), types, primaryType, message });
      return reader.verifyHash({ address, hash, signature });
    },
    getCode: (call) => reader.getCode(call),
    writeContract: writer.writeContract,
    sendTransaction: writer.sendTransaction,
    waitForTransactionReceipt: async ({ hash, timeout }) => {
      const receipt = await waitForReceipt(clients, hash, timeout);
      return { status: receipt.status, logs: receipt.logs };
    },
  };
}

/** The four members that the domain of a token has; the official type says only that it is a record. */
function domainOf({ name, version, chainId, verifyingContract }: Record<string, unknown>): TypedDataDomain {
  return {
    ...(typeof name === 'string' ? { name } : {}),
    ...(typeof version === 'string' ? { version } : {}),
    ...(typeof chainId === 'number' ? { chainId } : {}),
    ...(isHex(verifyingContract) ? { verifyingContract } : {}),
  };
}
