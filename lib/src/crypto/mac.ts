/** Short authenticators for what we hand out and want to know again, such as a quoted price. */
import { hkdf } from '@noble/hashes/hkdf.js';
import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';

/** 128 bits: nobody guesses that within a quote's life, and it costs 32 digits of a header. */
const macLength = 16;

/** A key for one purpose, derived from the seller's store key. */
export function deriveMacKey(storeKey: Uint8Array, purpose: string): Uint8Array {
  return hkdf(sha256, storeKey, undefined, utf8ToBytes(`counterfoil:mac:1:${purpose}`), 32);
}

/** HMAC-SHA256 of a text, cut to 16 octets. */
export function macOf(key: Uint8Array, text: string): Uint8Array {
  return hmac(sha256, key, utf8ToBytes(text)).subarray(0, macLength);
}

/** Compares without telling by its duration where the first difference is. */
export function sameMac(left: Uint8Array, right: Uint8Array): boolean {
  if (left.length !== right.length) return false;
  let difference = 0;
  for (const [at, octet] of left.entries()) difference |= octet ^ (right[at] ?? 0);
  return difference === 0;
}
