/**
 * Which peers are proxies of the seller's own: addresses and ranges from its configuration. Only they may say how a
 * request reached them (H10).
 */
import ipaddr from 'ipaddr.js';

/** An address of either kind, as `ipaddr.js` has it. */
export type Address = ReturnType<typeof ipaddr.parse>;
type Range = { readonly first: Address; readonly bits: number };

const rangePattern = /^([0-9A-Fa-f.:]+)(?:\/(0|[1-9][0-9]{0,2}))?$/;
/** The package takes the deprecated `::127.0.0.1`, which is another address than 127.0.0.1, for a mapped one. */
const compatible = /^::[0-9]+\./;
/** Characters: an IPv6 address has 45 at most, and the name of a network interface may follow it. */
const maxPeerLength = 64;
/** Reading an IPv6 address takes ten microseconds and a seller has few proxies, so that the last answers are kept. */
const maxRemembered = 256;

/**
 * A test of peer addresses against IPv4 and IPv6 addresses and CIDR ranges; an entry that is neither is a TypeError.
 * IPv4 addresses inside IPv6 (`::ffff:127.0.0.1`) are IPv4. `any` trusts every peer, an unknown one too.
 */
export function trustPeers(entries: readonly string[] | 'any'): (peer: string | undefined) => boolean {
  if (entries === 'any') return () => true;
  if (!Array.isArray(entries)) throw new TypeError('trustProxy is a list of addresses and ranges, or "any".');
  const ranges = entries.map(parseRange);
  if (ranges.length === 0) return () => false;
  const remembered = new Map<string, boolean>();
  return (peer) => {
    if (peer === undefined || peer.length > maxPeerLength) return false;
    const known = remembered.get(peer);
    if (known !== undefined) return known;
    const address = parseAddress(peer);
    const trusted = address !== undefined && ranges.some((range) => contains(range, address));
    if (remembered.size >= maxRemembered) remembered.clear();
    remembered.set(peer, trusted);
    return trusted;
  };
}

function parseRange(entry: unknown): Range {
  const [, text = '', prefix] = (typeof entry === 'string' && rangePattern.exec(entry)) || [];
  const address = parseAddress(text);
  if (address !== undefined) {
    // A range of IPv4 addresses written inside IPv6 counts the 96 bits before them too.
    const outside = address.kind() === 'ipv4' && text.includes(':') ? 96 : 0;
    const width = address.kind() === 'ipv4' ? 32 : 128;
    const bits = prefix === undefined ? width : Number(prefix) - outside;
    if (bits >= 0 && bits <= width) return { first: address, bits };
  }
  throw new TypeError(`trustProxy has no address or CIDR range in "${String(entry)}".`);
}

/** Reads an address; IPv4 inside IPv6 is IPv4. The older spellings of IPv4 (`127.1`, octal, hexadecimal) are none. */
export function parseAddress(text: string): Address | undefined {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  if (compatible.test(text) || !ipaddr.IPv6.isValid(text)) return undefined;
  const address = ipaddr.IPv6.parse(text);
  return address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}

function contains({ first, bits }: Range, address: Address): boolean {
  if (address instanceof ipaddr.IPv4) return first instanceof ipaddr.IPv4 && address.match(first, bits);
  return first instanceof ipaddr.IPv6 && address.match(first, bits);
}
