/**
 * Base64 as formats section 12.1 asks: written in the standard alphabet with padding; read in the standard or
 * the URL-safe alphabet, padded or not, and in exactly one spelling of the bits (RFC 4648 sections 3.5, 4, 5).
 * A table instead of the platform: `atob` skips white space and ignores trailing bits, and
 * `Uint8Array.fromBase64` is missing from Node 22 and 24.
 */

import { encodeUtf8 } from './utf8.ts';

/** Why a text is no base64 that we read; each has a sentence in {@link base64Faults}. */
export type Base64Fault = 'character' | 'mixed_alphabets' | 'padding' | 'length' | 'trailing_bits';

/** The bytes, or the fault with the position of the character that shows it. */
export type Base64Result =
  | { readonly ok: true; readonly value: Uint8Array }
  | { readonly ok: false; readonly fault: Base64Fault; readonly at: number };

/** Each fault as a clause that may be shown to the sender. */
export const base64Faults: { readonly [fault in Base64Fault]: string } = {
  character: 'a character outside the base64 alphabets',
  mixed_alphabets: 'the standard and the URL-safe alphabet in one text',
  padding: 'padding that does not fit the length',
  length: 'a length that no bytes have',
  trailing_bits: 'last bits that are not zero',
};

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const standardOnly = 0x40;
const urlSafeOnly = 0x80;
const invalid = 0x100;

/** Character code -> six bits, with a flag where the character belongs to one alphabet only or to none. */
const meanings: Uint16Array = buildMeanings();
const characters: Uint8Array = encodeUtf8(alphabet);
const asciiDecoder = new TextDecoder('utf-8');

function buildMeanings(): Uint16Array {
  const table = new Uint16Array(128).fill(invalid);
  for (let bits = 0; bits < 64; bits += 1) {
    table[alphabet.charCodeAt(bits)] = bits < 62 ? bits : bits | standardOnly;
  }
  table['-'.charCodeAt(0)] = 62 | urlSafeOnly;
  table['_'.charCodeAt(0)] = 63 | urlSafeOnly;
  return table;
}

function meaningAt(text: string, at: number): number {
  return meanings[text.charCodeAt(at)] ?? invalid;
}

function isFaulty(seen: number): boolean {
  return seen >= invalid || (seen & (standardOnly | urlSafeOnly)) === (standardOnly | urlSafeOnly);
}

/** Finds again, slowly, the character that the fast loop saw. */
function locateCharacter(text: string, end: number): Base64Result {
  let seen = 0;
  for (let at = 0; at < end; at += 1) {
    const meaning = meaningAt(text, at);
    if (meaning >= invalid) return { ok: false, fault: 'character', at };
    seen |= meaning;
    if (isFaulty(seen)) return { ok: false, fault: 'mixed_alphabets', at };
  }
  return { ok: false, fault: 'length', at: end };
}

/** How many characters stand before the padding. */
function lengthWithoutPadding(text: string): number {
  if (text.endsWith('==')) return text.length - 2;
  return text.endsWith('=') ? text.length - 1 : text.length;
}

/** Decodes base64 of either alphabet, padded or not; anything that is not the one spelling of its bytes is refused. */
export function decodeBase64(text: string): Base64Result {
  const end = lengthWithoutPadding(text);
  const rest = end & 3;
  const full = end - rest;
  const bytes = new Uint8Array((full >> 2) * 3 + (rest === 0 ? 0 : rest - 1));
  let seen = 0;
  let out = 0;
  for (let at = 0; at < full; at += 4) {
    const a = meaningAt(text, at);
    const b = meaningAt(text, at + 1);
    const c = meaningAt(text, at + 2);
    const d = meaningAt(text, at + 3);
    seen |= a | b | c | d;
    const word = ((a & 63) << 18) | ((b & 63) << 12) | ((c & 63) << 6) | (d & 63);
    bytes[out] = word >> 16;
    bytes[out + 1] = word >> 8;
    bytes[out + 2] = word;
    out += 3;
  }
  const a = rest > 0 ? meaningAt(text, full) : 0;
  const b = rest > 1 ? meaningAt(text, full + 1) : 0;
  const c = rest > 2 ? meaningAt(text, full + 2) : 0;
  if (isFaulty(seen | a | b | c) || rest === 1) return locateCharacter(text, end);
  if (end < text.length && (text.length & 3) !== 0) return { ok: false, fault: 'padding', at: end };
  if ((rest === 2 && (b & 15) !== 0) || (rest === 3 && (c & 3) !== 0)) {
    return { ok: false, fault: 'trailing_bits', at: end - 1 };
  }
  const word = ((a & 63) << 18) | ((b & 63) << 12) | ((c & 63) << 6);
  if (rest > 1) bytes[out] = word >> 16;
  if (rest > 2) bytes[out + 1] = word >> 8;
  return { ok: true, value: bytes };
}

function characterFor(bits: number): number {
  return characters[bits & 63] ?? 0;
}

/** Encodes bytes in the standard alphabet with padding. */
export function encodeBase64(bytes: Uint8Array): string {
  const text = new Uint8Array(Math.ceil(bytes.length / 3) * 4).fill(0x3d);
  let out = 0;
  for (let at = 0; at < bytes.length; at += 3) {
    const left = bytes.length - at;
    const word = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
    text[out] = characterFor(word >> 18);
    text[out + 1] = characterFor(word >> 12);
    if (left > 1) text[out + 2] = characterFor(word >> 6);
    if (left > 2) text[out + 3] = characterFor(word);
    out += 4;
  }
  return asciiDecoder.decode(text);
}

/**
 * Encodes a text's UTF-8 bytes. Printable ASCII, which is nearly every header, goes through the platform's own
 * encoder, about ten times faster than the table; the result is the same.
 */
export function encodeBase64Text(text: string): string {
  return /[^ -~]/.test(text) ? encodeBase64(encodeUtf8(text)) : btoa(text);
}
