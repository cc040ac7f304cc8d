/**
 * Hex as EVM chains write it: `0x` and an even number of digits. Either case of digit is read and lower case is
 * kept, so that an address or a nonce has one spelling wherever it is compared (attack C05); `0X`, white space
 * and other lengths are refused.
 */

/** `0x` and lower-case digits. */
export type Hex = `0x${string}`;

const hexPattern = /^0x(?:[0-9a-fA-F]{2})*$/;
const addressPattern = /^0x[0-9a-fA-F]{40}$/;
const bytes32Pattern = /^0x[0-9a-fA-F]{64}$/;

/** Two digits for each byte. */
const pairs: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

function lowerCase(text: string): Hex {
  return `0x${text.slice(2).toLowerCase()}`;
}

/** Parses hex of exactly `length` bytes, or of any whole number of bytes without it; undefined where it is not that. */
export function parseHex(text: string, length?: number): Hex | undefined {
  if (length !== undefined && text.length !== 2 + length * 2) return undefined;
  return hexPattern.test(text) ? lowerCase(text) : undefined;
}

/** Parses a 20-byte EVM address to lower case; the EIP-55 case is not judged, since wallets and chains do not either. */
export function parseAddress(text: string): Hex | undefined {
  return addressPattern.test(text) ? lowerCase(text) : undefined;
}

/** Parses 32 bytes (a nonce, a hash) to lower case. */
export function parseBytes32(text: string): Hex | undefined {
  return bytes32Pattern.test(text) ? lowerCase(text) : undefined;
}

/** The value of one hex digit's character code, which the pattern has already admitted. */
function digit(code: number): number {
  return code < 0x3a ? code - 0x30 : (code | 0x20) - 0x57;
}

/** The bytes of hex, or undefined where the text is none. */
export function decodeHex(text: string): Uint8Array | undefined {
  if (!hexPattern.test(text)) return undefined;
  const bytes = new Uint8Array(text.length / 2 - 1);
  for (let index = 0; index < bytes.length; index += 1) {
    const at = 2 + index * 2;
    bytes[index] = (digit(text.charCodeAt(at)) << 4) | digit(text.charCodeAt(at + 1));
  }
  return bytes;
}

/** Bytes as `0x` and lower-case digits. */
export function encodeHex(bytes: Uint8Array): Hex {
  let digits = '';
  for (const byte of bytes) digits += pairs[byte] ?? '';
  return `0x${digits}`;
}
