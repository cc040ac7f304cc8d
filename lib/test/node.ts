/**
 * A node that answers as it is told, for tests of what the library reads from a chain: one authorization of one token,
 * in blocks around 100.
 */
import type { AuthorizationQuestion, Rpc, RpcResult } from '../src/settlement/index.ts';
import type { Json, JsonObject } from '../src/wire/index.ts';
import type { Http, HttpRequest, HttpResult } from '../src/world.ts';

export const asset: string = `0x${'a5'.repeat(20)}`;
export const payer: string = `0x${'11'.repeat(20)}`;
export const payTo: string = `0x${'22'.repeat(20)}`;
export const nonce: string = `0x${'0e'.repeat(32)}`;
export const transaction: string = `0x${'5e'.repeat(32)}`;
export const question: AuthorizationQuestion = {
  asset,
  payer,
  nonce,
  payTo,
  amount: 10_000n,
  validBeforeMs: 2_000_000,
  startBlock: 100,
};

/** keccak256 of the signatures, as block explorers show them. */
export const usedTopic = '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5';
export const canceledTopic = '0x1cdd46ff242716cdaa72d159d339a485b3438398348d68f09d7c8c0a59353d81';
export const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

export function hex(n: number | bigint): string {
  return `0x${n.toString(16)}`;
}

export function word(value: string | bigint): string {
  return `0x${(typeof value === 'string' ? value.slice(2) : value.toString(16)).padStart(64, '0')}`;
}

export const yes: string = word(1n);
export const no: string = word(0n);

export type Place = { readonly index: number; readonly block?: number; readonly transaction?: string };

export function log(topics: readonly string[], place: Place, more: JsonObject = {}): JsonObject {
  return {
    address: asset,
    topics,
    data: '0x',
    blockNumber: hex(place.block ?? 105),
    logIndex: hex(place.index),
    transactionHash: place.transaction ?? transaction,
    removed: false,
    ...more,
  };
}

export function use(place: Place, more: JsonObject = {}): JsonObject {
  return log([usedTopic, word(payer), nonce], place, more);
}

export function cancel(place: Place): JsonObject {
  return log([canceledTopic, word(payer), nonce], place);
}

export type Moved = { readonly from?: string; readonly to?: string; readonly value?: bigint };

export function transfer(
  place: Place,
  { from = payer, to = payTo, value = 10_000n }: Moved = {},
  more: JsonObject = {},
): JsonObject {
  return log([transferTopic, word(from), word(to)], place, { data: word(value), ...more });
}

/** A receipt that succeeded, in the block of its first log. */
export function receipt(logs: readonly JsonObject[], more: JsonObject = {}): JsonObject {
  return { status: '0x1', blockNumber: logs[0]?.blockNumber ?? hex(105), logs, ...more };
}

/** What the node says; an Error is a call that fails, and a thing left out is as in {@link usual}. */
export type Script = {
  /** The number of the newest block, and its time in seconds. */
  readonly head?: Json | Error;
  readonly headTime?: Json;
  /** State at the newest block. */
  readonly state?: Json | Error;
  readonly logs?: Json | Error;
  readonly receipt?: Json | Error;
  readonly safe?: Json | Error;
  readonly final?: Json | Error;
  /** State at any block that is not the newest. */
  readonly finalState?: Json | Error;
  readonly code?: Json | Error;
  readonly chainId?: Json | Error;
};

/** Settled in block 105 of 110, where 108 is final. */
const usual: Required<Script> = {
  head: hex(110),
  headTime: hex(10_000),
  state: yes,
  logs: [use({ index: 4 })],
  receipt: receipt([use({ index: 4 }), transfer({ index: 5 })]),
  safe: { number: hex(109), timestamp: hex(1_500) },
  final: { number: hex(108), timestamp: hex(1_000) },
  finalState: no,
  code: '0x',
  chainId: '0x2105',
};

/** Settled in this block, with the head at 110. */
export function settledAt(block: number): Script {
  const at = { index: 4, block };
  return { logs: [use(at)], receipt: receipt([use(at), transfer({ ...at, index: 5 })]) };
}

export type Asked = readonly [method: string, params: readonly Json[]];

/** The node as an `Rpc`; what it is asked is written down in `calls`. */
export function scriptedRpc(script: Script, calls: Asked[] = []): Rpc {
  const said = { ...usual, ...script };
  return async (method, params): Promise<RpcResult> => {
    calls.push([method, params]);
    const value = resultOf(said, method, params);
    if (value === undefined || value instanceof Error) return { ok: false, why: 'error' };
    return { ok: true, value };
  };
}

function resultOf(said: Required<Script>, method: string, params: readonly Json[]): Json | Error | undefined {
  switch (method) {
    case 'eth_blockNumber':
      return said.head;
    case 'eth_chainId':
      return said.chainId;
    case 'eth_call':
      return params[1] === said.head ? said.state : said.finalState;
    case 'eth_getLogs':
      return said.logs;
    case 'eth_getTransactionReceipt':
      return said.receipt;
    case 'eth_getBlockByNumber':
      return blockOf(said, params[0]);
    case 'eth_getCode':
      return said.code;
    default:
      return undefined;
  }
}

function blockOf(said: Required<Script>, which: Json | undefined): Json | Error {
  const head =
    said.head instanceof Error ? said.head : { number: said.head, timestamp: said.headTime, hash: word(7n) };
  switch (which) {
    case 'latest':
      return head;
    case 'safe':
      return said.safe;
    case 'finalized':
      return said.final;
    default:
      return (
        [said.safe, said.final].find((block) => isNumbered(block, which)) ?? {
          number: which ?? null,
          timestamp: hex(900),
          hash: word(7n),
        }
      );
  }
}

function isNumbered(block: Json | Error, number: Json | undefined): boolean {
  return typeof block === 'object' && block !== null && 'number' in block && block.number === number;
}

/** What stands behind the addresses of a network; `down` is no node at all. */
export type Behind = Script | 'down';

/** The nodes as a network: each address leads to what the map says at the moment; `requests` sees them all. */
export function scriptedHttp(nodes: ReadonlyMap<string, Behind>, requests: HttpRequest[] = []): Http {
  return async (request): Promise<HttpResult> => {
    requests.push(request);
    const behind = nodes.get(request.url);
    if (behind === undefined || behind === 'down') return { ok: false, sent: false, why: 'connect' };
    const { method, params } = JSON.parse(new TextDecoder().decode(request.body));
    const told = await scriptedRpc(behind)(method, params);
    const body = told.ok
      ? { jsonrpc: '2.0', id: 1, result: told.value }
      : { jsonrpc: '2.0', id: 1, error: { code: 1 } };
    return {
      ok: true,
      status: 200,
      headers: new Map(),
      body: new TextEncoder().encode(JSON.stringify(body)),
    };
  };
}
