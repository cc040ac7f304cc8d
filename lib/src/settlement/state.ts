/**
 * The two pinned questions that everything else rests on: which block, and was the authorization used there. Every
 * answer comes from a stranger: what is not exactly of the asked form is no answer. Source: EIP-3009, Ethereum JSON-RPC.
 */
import { keccak256 } from '../crypto/keccak.ts';
import { encodeHex } from '../wire/hex.ts';
import { isJsonObject } from '../wire/json.ts';
import { encodeUtf8 } from '../wire/utf8.ts';
import type { Json } from '../wire/v2.ts';
import type { Rpc } from './rpc.ts';

/** A reading, or why there is none, in words of ours. */
export type Reading<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly why: string };

/** A block and its time, Unix milliseconds. */
export type BlockTime = { readonly block: number; readonly timeMs: number };

const stateCall = encodeHex(keccak256(encodeUtf8('authorizationState(address,bytes32)')).subarray(0, 4));

/** The block that a tag names, in one answer with its time. */
export async function readBlock(
  rpc: Rpc,
  which: 'latest' | 'safe' | 'finalized',
): Promise<Reading<BlockTime>> {
  const read = await rpc('eth_getBlockByNumber', [which, false]);
  if (!read.ok) return unreadable(`${which} block`, read.why);
  if (!isJsonObject(read.value)) return unreadable(`${which} block`);
  const block = quantity(read.value.number);
  const seconds = quantity(read.value.timestamp);
  if (block === undefined || seconds === undefined) return unreadable(`${which} block`);
  return { ok: true, value: { block, timeMs: seconds * 1000 } };
}

/** `authorizationState` as of one block: true once used or canceled. */
export async function readUsed(
  rpc: Rpc,
  authorization: { readonly asset: string; readonly payer: string; readonly nonce: string },
  block: number,
): Promise<Reading<boolean>> {
  const data = `${stateCall}${word(authorization.payer)}${word(authorization.nonce)}`;
  const state = await rpc('eth_call', [{ to: authorization.asset, data }, hexOf(block)]);
  if (!state.ok) return unreadable('authorization state', state.why);
  if (typeof state.value !== 'string' || !/^0x[0-9a-f]{64}$/i.test(state.value))
    return unreadable('authorization state');
  return { ok: true, value: BigInt(state.value) !== 0n };
}

/** A reading that failed: what was asked for and, where it is known, why. */
export function unreadable(what: string, why?: string): { readonly ok: false; readonly why: string } {
  return { ok: false, why: why === undefined ? what : `${what}: ${why}` };
}

/** An address or nonce as one word of a call or topic, 64 hex digits without their prefix. */
export function word(hex: string): string {
  return hex.slice(2).toLowerCase().padStart(64, '0');
}

/** A block number as JSON-RPC writes it. */
export function hexOf(block: number): string {
  return `0x${block.toString(16)}`;
}

/** A JSON-RPC quantity that a double holds exactly, or undefined. */
export function quantity(value: Json | undefined): number | undefined {
  if (typeof value !== 'string' || !/^0x[0-9a-fA-F]{1,13}$/.test(value)) return undefined;
  return Number.parseInt(value.slice(2), 16);
}
