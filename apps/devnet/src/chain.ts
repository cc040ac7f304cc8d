/**
 * What happened on the chain, read from its logs, and the few things a demonstration does to it.
 * Works in any process that knows the JSON-RPC address and the dollar, not only in the one that runs the devnet.
 */
import type { Address, Hex, LocalAccount } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { type Account, deriveAccounts } from './accounts.ts';
import { CHAIN_ID } from './anvil.ts';
import { type Clients, createClients } from './client.ts';
import { type Dollar, dollarAbi } from './dollar.ts';
import { createWriter, waitForReceipt } from './writer.ts';

/** One movement of a token: `value` in atomic units, `transaction` the hash that made it. */
export type Transfer = {
  readonly token: Address;
  readonly from: Address;
  readonly to: Address;
  readonly value: bigint;
  readonly transaction: Hex;
  readonly blockNumber: bigint;
  readonly logIndex: number;
};

/** One use or cancellation of an EIP-3009 authorization. */
export type AuthorizationEvent = {
  readonly authorizer: Address;
  readonly nonce: Hex;
  readonly transaction: Hex;
  readonly blockNumber: bigint;
  readonly logIndex: number;
};

/** Which transfers to read; all filters are optional and `fromBlock` starts at 0. */
export type TransferFilter = {
  readonly from?: Address;
  readonly to?: Address;
  readonly token?: Address;
  readonly fromBlock?: bigint;
};

/** Reads and controls of the local chain; amounts are atomic units of the dollar. */
export type DevnetChain = {
  transfers(filter?: TransferFilter): Promise<readonly Transfer[]>;
  authorizationsUsed(payer: Address, fromBlock?: bigint): Promise<readonly AuthorizationEvent[]>;
  authorizationsCanceled(payer: Address, fromBlock?: bigint): Promise<readonly AuthorizationEvent[]>;
  /** Whether this authorization can no longer be used: true after a transfer and after a cancellation. */
  authorizationState(payer: Address, nonce: Hex): Promise<boolean>;
  balanceOf(owner: Address): Promise<bigint>;
  blockNumber(): Promise<bigint>;
  /** Mines this many blocks at once (one when not said), whatever the mining mode. */
  mine(blocks?: number): Promise<void>;
  /** Turns automine off (false) and on again; a devnet with timed blocks is not meant for this. */
  setAutomine(automine: boolean): Promise<void>;
  snapshot(): Promise<Hex>;
  /** Goes back to a snapshot, which is used up by it; throws when the node does not know it. */
  revert(snapshot: Hex): Promise<void>;
  /** The payer signs a cancellation, the operator's account sends it; resolves with the mined hash. */
  cancelAuthorization(payer: LocalAccount, nonce: Hex): Promise<Hex>;
};

/** Connects to a devnet that may run in another process. */
export function connectChain(options: { readonly rpcUrl: string; readonly dollar: Dollar }): DevnetChain {
  const clients = createClients(options.rpcUrl);
  const { reader, control } = clients;
  const { dollar } = options;
  return {
    transfers: (filter = {}) => readTransfers(clients, dollar, filter),
    authorizationsUsed: (payer, fromBlock) =>
      readAuthorizations(clients, dollar, { eventName: 'AuthorizationUsed', payer, fromBlock }),
    authorizationsCanceled: (payer, fromBlock) =>
      readAuthorizations(clients, dollar, { eventName: 'AuthorizationCanceled', payer, fromBlock }),
    authorizationState: (payer, nonce) =>
      reader.readContract({
        address: dollar.address,
        abi: dollarAbi,
        functionName: 'authorizationState',
        args: [payer, nonce],
      }),
    balanceOf: (owner) =>
      reader.readContract({
        address: dollar.address,
        abi: dollarAbi,
        functionName: 'balanceOf',
        args: [owner],
      }),
    blockNumber: () => reader.getBlockNumber(),
    mine: (blocks = 1) => control.mine({ blocks }),
    setAutomine: (automine) => control.setAutomine(automine),
    snapshot: async () => control.snapshot(),
    revert: (id) => revertTo(clients, id),
    cancelAuthorization: createCanceller(clients, dollar),
  };
}

/** The account of a development key, as viem signs with it. */
export function signerOf(account: Account): LocalAccount {
  return privateKeyToAccount(account.privateKey);
}

/** viem drops the node's answer, which is `false` for a snapshot that is unknown or used up. */
async function revertTo(clients: Clients, id: Hex): Promise<void> {
  const done: unknown = await clients.control.request({ method: 'evm_revert', params: [id] });
  if (done !== true) throw new TypeError(`there is no snapshot ${id} to go back to`);
}

async function readTransfers(
  clients: Clients,
  dollar: Dollar,
  filter: TransferFilter,
): Promise<readonly Transfer[]> {
  const { from, to, token = dollar.address, fromBlock = 0n } = filter;
  const args = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
  const logs = await clients.reader.getContractEvents({
    address: token,
    abi: dollarAbi,
    eventName: 'Transfer',
    args,
    fromBlock,
    strict: true,
  });
  return logs.map((log) => ({
    token,
    from: log.args.from,
    to: log.args.to,
    value: log.args.value,
    transaction: log.transactionHash,
    blockNumber: log.blockNumber,
    logIndex: log.logIndex,
  }));
}

type AuthorizationFilter = {
  readonly eventName: 'AuthorizationUsed' | 'AuthorizationCanceled';
  readonly payer: Address;
  readonly fromBlock: bigint | undefined;
};

async function readAuthorizations(
  clients: Clients,
  dollar: Dollar,
  filter: AuthorizationFilter,
): Promise<readonly AuthorizationEvent[]> {
  const logs = await clients.reader.getContractEvents({
    address: dollar.address,
    abi: dollarAbi,
    eventName: filter.eventName,
    args: { authorizer: filter.payer },
    fromBlock: filter.fromBlock ?? 0n,
    strict: true,
  });
  return logs.map((log) => ({
    authorizer: log.args.authorizer,
    nonce: log.args.nonce,
    transaction: log.transactionHash,
    blockNumber: log.blockNumber,
    logIndex: log.logIndex,
  }));
}

function createCanceller(clients: Clients, dollar: Dollar): DevnetChain['cancelAuthorization'] {
  const writer = createWriter(privateKeyToAccount(deriveAccounts(1).operator.privateKey), clients);
  return async (payer, nonce) => {
    const signature = await payer.signTypedData({
      domain: {
        name: dollar.name,
        version: dollar.version,
        chainId: CHAIN_ID,
        verifyingContract: dollar.address,
      },
      types: {
        CancelAuthorization: [
          { name: 'authorizer', type: 'address' },
          { name: 'nonce', type: 'bytes32' },
        ],
      },
      primaryType: 'CancelAuthorization',
      message: { authorizer: payer.address, nonce },
    });
    const hash = await writer.writeContract({
      address: dollar.address,
      abi: dollarAbi,
      functionName: 'cancelAuthorization',
      args: [payer.address, nonce, signature],
    });
    const receipt = await waitForReceipt(clients, hash);
    if (receipt.status !== 'success') throw new Error(`The cancellation ${hash} was reverted.`);
    return hash;
  };
}
