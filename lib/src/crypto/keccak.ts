/**
 * Keccak-256 as Ethereum uses it (the padding before SHA-3 was standardised), and the one spelling of an
 * address that carries a check: EIP-55.
 */
import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

/** Hashes octets to 32 octets with Keccak-256. */
export function keccak256(bytes: Uint8Array): Uint8Array {
  return keccak_256(bytes);
}

/** Spells `0x` and 40 hex digits with the letter case of EIP-55; the caller has checked the shape. */
export function checksumAddress(address: string): string {
  const digits = address.slice(2).toLowerCase();
  const hash = bytesToHex(keccak_256(utf8ToBytes(digits)));
  let spelled = '0x';
  for (let index = 0; index < digits.length; index++) {
    const digit = digits.charAt(index);
    spelled += hash.charAt(index) >= '8' ? digit.toUpperCase() : digit;
  }
  return spelled;
}

/**
 * Says whether an address is spelled so that it cannot be a typing error unnoticed: all lower case, all upper
 * case (neither carries a check), or mixed case that fits EIP-55.
 */
export function plausibleAddress(address: string): boolean {
  const digits = address.slice(2);
  if (digits === digits.toLowerCase() || digits === digits.toUpperCase()) return true;
  return checksumAddress(address) === address;
}
