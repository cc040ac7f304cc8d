/**
 * One payment is one key (formats 12.2): whatever spelling, header encoding or route it comes by. The nonce alone
 * would let a stranger occupy somebody's nonce, the route would let one payment be used on two (C06).
 */

/** The key of an EIP-3009 authorization; every part canonical: CAIP-2, and hex in lower case. */
export function eip3009Key(parts: {
  readonly network: string;
  readonly asset: string;
  readonly from: string;
  readonly nonce: string;
}): string {
  return `${parts.network}/eip3009/${parts.asset}/${parts.from}/${parts.nonce}`;
}
