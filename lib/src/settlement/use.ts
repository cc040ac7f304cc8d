/**
 * The one use or cancellation of an authorization: found by its log, judged by the receipt of its transaction. Ours is
 * only a successful transaction in which the token's own Transfer moved what was signed (attack S07).
 */
import { keccak256 } from '../crypto/keccak.ts';
import { encodeHex, parseAddress, parseBytes32 } from '../wire/hex.ts';
import { isJsonObject } from '../wire/json.ts';
import { encodeUtf8 } from '../wire/utf8.ts';
import type { Json, JsonObject } from '../wire/v2.ts';
import type { AuthorizationQuestion } from './chain.ts';
import type { Rpc } from './rpc.ts';
import { hexOf, quantity, type Reading, unreadable, word } from './state.ts';

/** What the receipt makes of a use, and where it stands. */
export type Use = {
  readonly as: 'settled' | 'canceled' | 'used_elsewhere';
  readonly transaction: string;
  readonly block: number;
};

const topic = (signature: string): string => encodeHex(keccak256(encodeUtf8(signature)));
const usedTopic = topic('AuthorizationUsed(address,bytes32)');
const canceledTopic = topic('AuthorizationCanceled(address,bytes32)');
const transferTopic = topic('Transfer(address,address,uint256)');

/** Blocks searched back from the start, or from the head where no start is known: a day of two-second blocks. */
const searchBack = 43_200;
/** Many endpoints refuse a wider range in one query. */
const searchStep = 10_000;

type UseLog = {
  readonly topic: string;
  readonly transaction: string;
  readonly block: number;
  readonly index: number;
};

/** Finds the use in blocks up to `latest` and judges it; for an authorization whose state there is true. */
export async function readUse(
  rpc: Rpc,
  question: AuthorizationQuestion,
  latest: number,
): Promise<Reading<Use>> {
  const found = await findUse(rpc, question, latest);
  return found.ok ? judgeUse(rpc, question, found.value) : found;
}

async function findUse(rpc: Rpc, question: AuthorizationQuestion, latest: number): Promise<Reading<UseLog>> {
  for (const [from, to] of searchRanges(question.startBlock, latest)) {
    const logs = await rpc('eth_getLogs', [
      {
        address: question.asset,
        fromBlock: hexOf(from),
        toBlock: hexOf(to),
        topics: [[usedTopic, canceledTopic], `0x${word(question.payer)}`, question.nonce],
      },
    ]);
    if (!logs.ok) return unreadable('logs', logs.why);
    if (!Array.isArray(logs.value)) return unreadable('logs');
    const found = useIn(logs.value, question);
    if (found !== undefined) return { ok: true, value: found };
  }
  return unreadable('no log of the use');
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
  return logs.map((log) => useOf(log, question)).find((log) => log !== undefined);
}

function useOf(log: Json, question: AuthorizationQuestion): UseLog | undefined {
  if (!isJsonObject(log) || log.removed === true || !isOf(log, question.asset)) return undefined;
  const [name, payer, nonce] = topicsOf(log);
  if (name !== usedTopic && name !== canceledTopic) return undefined;
  if (payer !== `0x${word(question.payer)}` || nonce !== `0x${word(question.nonce)}`) return undefined;
  const block = quantity(log.blockNumber);
  const index = quantity(log.logIndex);
  const transaction = typeof log.transactionHash === 'string' ? parseBytes32(log.transactionHash) : undefined;
  if (block === undefined || index === undefined || transaction === undefined) return undefined;
  return { topic: name, transaction, block, index };
}

function topicsOf(log: JsonObject): readonly string[] {
  if (!Array.isArray(log.topics)) return [];
  return log.topics.map((part) => (typeof part === 'string' ? part.toLowerCase() : ''));
}

function isOf(log: JsonObject, asset: string): boolean {
  return typeof log.address === 'string' && parseAddress(log.address) === parseAddress(asset);
}

/**
 * A cancellation is as much worth as a use: it lets the payer sign again, so it too needs a receipt that succeeded.
 * Place and neighbours of the use are taken from the receipt: after a reorg the transaction may stand elsewhere than
 * the log that was found.
 */
async function judgeUse(rpc: Rpc, question: AuthorizationQuestion, found: UseLog): Promise<Reading<Use>> {
  const receipt = await rpc('eth_getTransactionReceipt', [found.transaction]);
  if (!receipt.ok) return unreadable('receipt', receipt.why);
  if (!isJsonObject(receipt.value) || !Array.isArray(receipt.value.logs)) return unreadable('receipt');
  const { status, blockNumber, logs } = receipt.value;
  if (quantity(status) !== 1) return unreadable('receipt');
  const use = useIn(logs, question);
  if (use === undefined || use.topic !== found.topic || use.transaction !== found.transaction)
    return unreadable('receipt');
  if (quantity(blockNumber) !== use.block) return unreadable('receipt');
  const at = { transaction: use.transaction, block: use.block };
  if (use.topic === canceledTopic) return { ok: true, value: { as: 'canceled', ...at } };
  const before = question.startBlock !== undefined && use.block <= question.startBlock;
  const ours = !before && transferOfUse(logs, question, use.index);
  return { ok: true, value: { as: ours ? 'settled' : 'used_elsewhere', ...at } };
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
    const [name] = topicsOf(log);
    if (name === usedTopic) return false;
    if (name === transferTopic) return isTransfer(log, question);
  }
  return false;
}

function isTransfer(log: JsonObject, question: AuthorizationQuestion): boolean {
  if (typeof log.data !== 'string' || !/^0x[0-9a-fA-F]{64}$/.test(log.data)) return false;
  const [, from, to] = topicsOf(log);
  return (
    from === `0x${word(question.payer)}` &&
    to === `0x${word(question.payTo)}` &&
    BigInt(log.data) === question.amount
  );
}
