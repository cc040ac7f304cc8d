/**
 * One writer for one account: transactions leave one at a time, in order, and the nonce moves only when the node
 * has taken one. A plain wallet settles 1 of 50 concurrent payments (every call takes the same nonce); a nonce
 * manager hangs behind the gap that a failed gas estimate leaves. This does neither.
 */
import {
  type Abi,
  type Address,
  concatHex,
  encodeFunctionData,
  type Hex,
  type PrivateKeyAccount,
  TransactionReceiptNotFoundError,
} from 'viem';
import { type Clients, devnetChain } from './client.ts';
import { DevnetError } from './failure.ts';

/** Waiting writes beyond this are refused: a thousand take several seconds, longer than callers wait. */
const MAX_WAITING = 1_000;

/** Room above the estimate, because an earlier transaction of the same block can make a later one dearer. */
const SPARE_GAS = 50_000n;

/** Far above any base fee a local chain reaches; what is above the block's price is not charged. */
const MAX_FEE_PER_GAS = 100_000_000_000n;
const PRIORITY_FEE_PER_GAS = 1_000_000_000n;

/** A receipt that does not come in this time is reported as pending, with its hash. */
const RECEIPT_LIMIT_MS = 30_000;

/** Receipts are asked for soon at first (automine takes about 2 ms), then at most ten times a second. */
const FIRST_POLL_MS = 3;
const SLOWEST_POLL_MS = 100;

/** A call of a contract, as the official facilitator hands it over. */
export type ContractCall = {
  readonly address: Address;
  readonly abi: Abi | readonly unknown[];
  readonly functionName: string;
  readonly args: readonly unknown[];
  readonly gas?: bigint;
  readonly dataSuffix?: Hex;
};

/** What is known of a transaction once it is mined. */
export type Receipt = Awaited<ReturnType<Clients['reader']['getTransactionReceipt']>>;

/** The only sender of an account; both methods resolve with the hash once the node has the transaction. */
export type Writer = {
  readonly address: Address;
  writeContract(call: ContractCall): Promise<Hex>;
  sendTransaction(call: { readonly to: Address; readonly data: Hex; readonly gas?: bigint }): Promise<Hex>;
};

/** Makes the writer of this account; make one for each account of a process, and no more. */
export function createWriter(account: PrivateKeyAccount, clients: Clients): Writer {
  const inTurn = createTurns();

  const send = async (to: Address, data: Hex, gas: bigint): Promise<Hex> => {
    // The node counts what waits for a block too, so this is right after a revert or a restart of the chain.
    const nonce = await clients.reader.getTransactionCount({ address: account.address, blockTag: 'pending' });
    const serializedTransaction = await account.signTransaction({
      chainId: devnetChain.id,
      type: 'eip1559',
      maxFeePerGas: MAX_FEE_PER_GAS,
      maxPriorityFeePerGas: PRIORITY_FEE_PER_GAS,
      to,
      data,
      gas,
      nonce,
    });
    return clients.sender.sendRawTransaction({ serializedTransaction });
  };

  return {
    address: account.address,
    writeContract: (call) =>
      inTurn(async () => {
        // The estimate runs the call, so what would be reverted is refused here, with its reason, unsent.
        const estimate = await clients.reader.estimateContractGas({ ...call, account });
        const data = concatHex([encodeFunctionData(call), call.dataSuffix ?? '0x']);
        return send(call.address, data, call.gas ?? estimate + SPARE_GAS);
      }),
    sendTransaction: (call) =>
      inTurn(async () => {
        const estimate = call.gas ?? (await clients.reader.estimateGas({ ...call, account }));
        return send(call.to, call.data, estimate + SPARE_GAS);
      }),
  };
}

/** Waits until a transaction is mined; rejects when that takes longer than `limitMs`. */
export async function waitForReceipt(
  clients: Clients,
  hash: Hex,
  limitMs: number = RECEIPT_LIMIT_MS,
): Promise<Receipt> {
  const until = performance.now() + limitMs;
  for (
    let pauseMs = FIRST_POLL_MS;
    performance.now() < until;
    pauseMs = Math.min(pauseMs * 1.5, SLOWEST_POLL_MS)
  ) {
    const receipt = await receiptIfMined(clients, hash);
    if (receipt !== undefined) return receipt;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  throw new Error(`The transaction ${hash} was not mined within ${limitMs} ms.`);
}

async function receiptIfMined(clients: Clients, hash: Hex): Promise<Receipt | undefined> {
  try {
    return await clients.reader.getTransactionReceipt({ hash });
  } catch (error) {
    if (error instanceof TransactionReceiptNotFoundError) return undefined;
    throw error;
  }
}

/** Runs tasks one after another in the order of asking; a failed one does not stop the next. */
function createTurns(): <T>(task: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  return async (task) => {
    if (waiting >= MAX_WAITING)
      throw new DevnetError('writer_busy', 'Too many transactions are waiting already.');
    waiting += 1;
    const turn = last.then(task);
    last = turn
      .catch(() => {})
      .finally(() => {
        waiting -= 1;
      });
    return turn;
  };
}
