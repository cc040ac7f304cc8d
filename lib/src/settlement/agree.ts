/**
 * What two endpoints must agree about. Nodes differ in the fields they add to an answer, in their order and in the case
 * of hex digits; only what a reader uses is compared, and only what was compared is passed on.
 */
import { isJsonObject } from '../wire/json.ts';
import type { Json, JsonObject } from '../wire/v2.ts';
import { quantity } from './state.ts';

const blockFields = ['number', 'hash', 'timestamp'] as const;
const receiptFields = ['status', 'transactionHash', 'blockNumber', 'blockHash'] as const;
const logFields = ['address', 'data', 'blockNumber', 'blockHash', 'logIndex', 'transactionHash'] as const;

/** The part of an answer that counts, in one spelling; answers agree where these are equal as JSON. */
export function essence(method: string, value: Json): Json {
  switch (method) {
    case 'eth_getLogs':
      return logsOf(value);
    case 'eth_getTransactionReceipt':
      return isJsonObject(value)
        ? { ...pick(value, receiptFields), logs: logsOf(value.logs ?? null) }
        : value;
    case 'eth_getBlockByNumber':
      return isJsonObject(value) ? pick(value, blockFields) : value;
    default:
      return lower(value);
  }
}

function logsOf(value: Json): Json {
  if (!Array.isArray(value)) return value;
  return value.map(logOf).sort((a, b) => placeOf(a) - placeOf(b));
}

function logOf(log: Json): Json {
  if (!isJsonObject(log)) return log;
  const topics = Array.isArray(log.topics) ? log.topics.map(lower) : null;
  return { ...pick(log, logFields), topics, removed: log.removed === true };
}

/** Logs stand in the order of the chain; an index is unique within a block, and a block holds fewer than this. */
const logsPerBlock = 100_000;

function placeOf(log: Json): number {
  if (!isJsonObject(log)) return -1;
  return (quantity(log.blockNumber) ?? 0) * logsPerBlock + (quantity(log.logIndex) ?? 0);
}

function pick(value: JsonObject, fields: readonly string[]): JsonObject {
  return Object.fromEntries(fields.map((field) => [field, lower(value[field] ?? null)]));
}

function lower(value: Json): Json {
  return typeof value === 'string' ? value.toLowerCase() : value;
}
