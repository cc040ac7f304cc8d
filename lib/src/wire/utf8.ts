/**
 * UTF-8 to text and back without replacement characters: bytes that are not UTF-8 are refused and a byte
 * order mark stays visible, so that two byte strings never become one text.
 */

const strictDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();

/** The text of UTF-8 bytes, or undefined where they are not valid UTF-8; a byte order mark is kept. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return strictDecoder.decode(bytes);
  } catch {
    return undefined;
  }
}

/** The UTF-8 bytes of a text; a lone surrogate is a caller's mistake and throws TypeError. */
export function encodeUtf8(text: string): Uint8Array {
  if (!text.isWellFormed()) throw new TypeError('a text with a lone surrogate has no UTF-8 form');
  return encoder.encode(text);
}

/** True where the first `length` bytes hold no invalid sequence, though they may end inside one. */
function startsValid(bytes: Uint8Array, length: number): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, length), { stream: true });
    return true;
  } catch {
    return false;
  }
}

/** Where invalid UTF-8 shows: the index of the first byte that cannot follow, or the length where a sequence is cut. */
export function utf8FaultAt(bytes: Uint8Array): number {
  let valid = 0;
  let invalid = bytes.length + 1;
  while (invalid - valid > 1) {
    const middle = (valid + invalid) >> 1;
    if (startsValid(bytes, middle)) valid = middle;
    else invalid = middle;
  }
  return valid;
}
