/**
 * What became of an EIP-3009 authorization, read from the chain: `authorizationState`, the AuthorizationUsed or
 * AuthorizationCanceled log, and the Transfer that belongs to it. `unread` is said whenever the chain's answer does
 * not prove more. A use is believed at the newest block, expiry only at a final one. Source: EIP-3009.
 */
import { keccak256 } from '../crypto/keccak.ts';
import { encodeHex, parseAddress, parseBytes32 } from '../wire/hex.ts';
import { isJsonObject } from '../wire/json.ts';
import { encodeUtf8 } from '../wire/utf8.ts';
import type { Json, JsonObject } from '../wire/v2.ts';
import type { Rpc } from './rpc.ts';

/** Which authorization, and what it must have moved. */
export type AuthorizationQuestion = {
  readonly asset: string;
  readonly payer: string;
  readonly nonce: string;
  readonly payTo: string;
  readonly amount: bigint;
  /** Unix milliseconds; at and after this block time the authorization is dead. */
  readonly validBeforeMs: number;
  /** The block noted before the first send; ours was mined after it. */
  readonly startBlock?: number | undefined;
};

export type AuthorizationFate =
  /** Not used and not canceled at this block. */
  | { readonly kind: 'unused'; readonly block: number }
  /** Used, with the very transfer that was signed, in one transaction after `startBlock`. */
  | { readonly kind: 'settled'; readonly transaction: string; readonly block: number }
  /** Not used at a final block whose time is past the authorization: it can never move money. */
  | { readonly kind: 'expired'; readonly block: number }
  | { readonly kind: 'canceled'; readonly transaction: string; readonly block: number }
  /** Used before our first send, or without our transfer. */
  | { readonly kind: 'used_elsewhere'; readonly transaction: string; readonly block: number }
  | { readonly kind: 'unread'; readonly why: string };

export type ChainReader = {
  readonly blockNumber: () => Promise<number | undefined>;
  /** The newest block and its time, Unix milliseconds. */
  readonly head: () => Promise<{ readonly block: number; readonly timeMs: number } | undefined>;
  readonly fate: (question: AuthorizationQuestion) => Promise<AuthorizationFate>;
  /** True where code exists at the address; undefined when it could not be read. */
  readonly hasCode: (address: string) => Promise<boolean | undefined>;
};

const selector = (signature: string): string =>
  encodeHex(keccak256(encodeUtf8(signature)).subarray(0, 4)).slice(2);
const topic = (signature: string): string => encodeHex(keccak256(encodeUtf8(signature)));

const stateCall = selector('authorizationState(address,bytes32)');
const usedTopic = topic('AuthorizationUsed(address,bytes32)');
const canceledTopic = topic('AuthorizationCanceled(address,bytes32)');
const transferTopic = topic('Transfer(address,address,uint256)');

const codeShape = /^0x(?:[0-9a-fA-F]{2})*$/;

/** Blocks searched back from the start, or from the head where no start is known: a day of two-second blocks. */
const searchBack = 43_200;
/** Many endpoints refuse a wider range in one query. */
const searchStep = 10_000;

/** Reads one chain through one endpoint. */
export function createChainReader(rpc: Rpc): ChainReader {
  return {
    blockNumber: async () => {
      const result = await rpc('eth_blockNumber', []);
      return result.ok ? quantity(result.value) : undefined;
    },
    head: () => readHead(rpc, 'latest'),
    hasCode: async (address) => {
      const result = await rpc('eth_getCode', [address, 'latest']);
      if (!result.ok || typeof result.value !== 'string' || !codeShape.test(result.value)) return undefined;
      return result.value.length > 2;
    },
    fate: (question) => readFate(rpc, question),
  };
}

async function readHead(
  rpc: Rpc,
  which: 'latest' | 'finalized',
): Promise<{ readonly block: number; readonly timeMs: number } | undefined> {
  const head = await rpc('eth_getBlockByNumber', [which, false]);
  if (!head.ok || !isJsonObject(head.value)) return undefined;
  const block = quantity(head.value.number);
  const seconds = quantity(head.value.timestamp);
  return block === undefined || seconds === undefined ? undefined : { block, timeMs: seconds * 1000 };
}

async function readFate(rpc: Rpc, question: AuthorizationQuestion): Promise<AuthorizationFate> {
  const head = await rpc('eth_blockNumber', []);
  const latest = head.ok ? quantity(head.value) : undefined;
  if (latest === undefined) return { kind: 'unread', why: 'block number' };
  const used = await readState(rpc, question, tag(latest));
  if (used === undefined) return { kind: 'unread', why: 'authorization state' };
  if (!used) return (await readExpiry(rpc, question)) ?? { kind: 'unused', block: latest };
  const log = await findUse(rpc, question, latest);
  if (log === undefined) return { kind: 'unread', why: 'no log of the use' };
  if (log.topic === canceledTopic)
    return { kind: 'canceled', transaction: log.transaction, block: log.block };
  return judgeUse(rpc, question, log);
}

/** `authorizationState`: true once used or canceled; undefined when it could not be read. */
async function readState(
  rpc: Rpc,
  question: AuthorizationQuestion,
  block: string,
): Promise<boolean | undefined> {
  const data = `0x${stateCall}${word(question.payer)}${word(question.nonce)}`;
  const state = await rpc('eth_call', [{ to: question.asset, data }, block]);
  if (!state.ok || typeof state.value !== 'string' || !/^0x[0-9a-f]{64}$/i.test(state.value))
    return undefined;
  return BigInt(state.value) !== 0n;
}

/** The token compares its block's time with validBefore, so unused at a final block past it is unused for ever. */
async function readExpiry(rpc: Rpc, question: AuthorizationQuestion): Promise<AuthorizationFate | undefined> {
  const final = await readHead(rpc, 'finalized');
  if (final === undefined || final.timeMs < question.validBeforeMs) return undefined;
  const used = await readState(rpc, question, tag(final.block));
  return used === false ? { kind: 'expired', block: final.block } : undefined;
}

type UseLog = {
  readonly topic: string;
  readonly transaction: string;
  readonly block: number;
  readonly index: number;
};

async function findUse(
  rpc: Rpc,
  question: AuthorizationQuestion,
  latest: number,
): Promise<UseLog | undefined> {
  for (const [from, to] of searchRanges(question.startBlock, latest)) {
    const logs = await rpc('eth_getLogs', [
      {
        address: question.asset,
        fromBlock: tag(from),
        toBlock: tag(to),
        topics: [[usedTopic, canceledTopic], `0x${word(question.payer)}`, question.nonce],
      },
    ]);
    if (!logs.ok || !Array.isArray(logs.value)) return undefined;
    const found = useIn(logs.value, question);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * Up from the noted block, since ours was mined soon after it, however long ago that is; then back from there, where
 * somebody else may have used it.
 */
function* searchRanges(startBlock: number | undefined, latest: number): Generator<readonly [number, number]> {
  const start = Math.min(startBlock ?? latest, latest);
  for (let from = start + 1; from <= latest; from += searchStep) {
    yield [from, Math.min(latest, from + searchStep - 1)];
  }
  const lowest = Math.max(0, start - searchBack);
  for (let to = start; to >= lowest; to -= searchStep) yield [Math.max(lowest, to - searchStep + 1), to];
}

/** The use or cancellation of this very authorization among logs, whatever else an endpoint put there. */
function useIn(logs: readonly Json[], question: AuthorizationQuestion): UseLog | undefined {
  return logs.map((log) => readUse(log, question)).find((log) => log !== undefined);
}

function readUse(log: Json, question: AuthorizationQuestion): UseLog | undefined {
  if (!isJsonObject(log) || log.removed === true || !Array.isArray(log.topics)) return undefined;
  if (!isOf(log, question.asset)) return undefined;
  const [name, payer, nonce] = log.topics.map((part) => (typeof part === 'string' ? part.toLowerCase() : ''));
  if (name !== usedTopic && name !== canceledTopic) return undefined;
  if (payer !== `0x${word(question.payer)}` || nonce !== `0x${word(question.nonce)}`) return undefined;
  const block = quantity(log.blockNumber);
  const index = quantity(log.logIndex);
  const transaction = typeof log.transactionHash === 'string' ? parseBytes32(log.transactionHash) : undefined;
  if (block === undefined || index === undefined || transaction === undefined) return undefined;
  return { topic: name, transaction, block, index };
}

function isOf(log: JsonObject, asset: string): boolean {
  return typeof log.address === 'string' && parseAddress(log.address) === parseAddress(asset);
}

/**
 * Ours only if the receipt succeeded and the use's own Transfer moved what was signed. Place and neighbours of the use
 * are taken from the receipt: after a reorg the transaction may stand elsewhere than the log that was found.
 */
async function judgeUse(
  rpc: Rpc,
  question: AuthorizationQuestion,
  found: UseLog,
): Promise<AuthorizationFate> {
  const receipt = await rpc('eth_getTransactionReceipt', [found.transaction]);
  if (!receipt.ok || !isJsonObject(receipt.value)) return { kind: 'unread', why: 'receipt' };
  if (quantity(receipt.value.status) !== 1 || !Array.isArray(receipt.value.logs))
    return { kind: 'unread', why: 'receipt' };
  const use = useIn(receipt.value.logs, question);
  if (use === undefined || use.topic !== usedTopic || use.transaction !== found.transaction)
    return { kind: 'unread', why: 'receipt' };
  const at = { transaction: use.transaction, block: use.block };
  const before = question.startBlock !== undefined && use.block <= question.startBlock;
  const moved = transferOfUse(receipt.value.logs, question, use.index);
  return moved && !before ? { kind: 'settled', ...at } : { kind: 'used_elsewhere', ...at };
}

/** The token's next Transfer after the use, and before another use in the same transaction (a batch). */
function transferOfUse(logs: readonly Json[], question: AuthorizationQuestion, useIndex: number): boolean {
  const after = logs
    .filter(isJsonObject)
    .filter((log) => isOf(log, question.asset))
    .map((log) => ({ log, index: quantity(log.logIndex) ?? -1 }))
    .filter(({ index }) => index > useIndex)
    .sort((a, b) => a.index - b.index);
  for (const { log } of after) {
    const name = Array.isArray(log.topics) ? log.topics[0] : undefined;
    if (name === usedTopic) return false;
    if (name === transferTopic) return isTransfer(log, question);
  }
  return false;
}

function isTransfer(log: JsonObject, question: AuthorizationQuestion): boolean {
  if (!Array.isArray(log.topics) || typeof log.data !== 'string' || !/^0x[0-9a-fA-F]{64}$/.test(log.data))
    return false;
  const [, from, to] = log.topics;
  return (
    from === `0x${word(question.payer)}` &&
    to === `0x${word(question.payTo)}` &&
    BigInt(log.data) === question.amount
  );
}

function word(hex: string): string {
  return hex.slice(2).toLowerCase().padStart(64, '0');
}

function tag(block: number): string {
  return `0x${block.toString(16)}`;
}

function quantity(value: Json | undefined): number | undefined {
  if (typeof value !== 'string' || !/^0x[0-9a-fA-F]{1,13}$/.test(value)) return undefined;
  return Number.parseInt(value.slice(2), 16);
}
