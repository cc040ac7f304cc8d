/**
 * Whose address a request counts for: the peer's, or, behind a proxy of the seller's own, the one that this proxy says
 * it was asked from. X-Forwarded-For is read from the right, because only what our own proxies appended is theirs.
 */

import type { HeaderList, SellerRequest } from '../message.ts';
import { type Address, parseAddress, trustPeers } from '../peer.ts';

/** Hops that are looked at, from the nearest on; no honest path has so many proxies of one seller. */
const maxHops = 16;
/** Characters of one hop: the longest IPv6 address in brackets with a port. */
const maxHopLength = 64;
/** Reading an IPv6 address takes ten microseconds, and a buyer asks more than once. */
const maxRemembered = 4_096;
/** Peers in these ranges are no buyers of their own: a proxy that nobody declared stands there, or a test. */
const ownRanges: ReadonlySet<string> = new Set([
  'carrierGradeNat',
  'linkLocal',
  'loopback',
  'private',
  'uniqueLocal',
  'unspecified',
]);

type Arrival = Pick<SellerRequest, 'headers' | 'peer'>;

/**
 * Names the address that a request counts for: an IPv4 address, or an IPv6 /64, which is what one customer gets.
 * Undefined where nobody can say, or where a peer of a private network would stand for everybody behind it. Under `any`
 * the nearest proxy's word is taken and no further one, since there every hop before it may be the client's own.
 */
export function addressReader(
  trustProxy: readonly string[] | 'any',
): (arrival: Arrival) => string | undefined {
  const trusts = trustPeers(trustProxy);
  const remembered = new Map<string, string | undefined>();
  const nameOf = (text: string, direct: boolean): string | undefined => {
    if (text.length > maxHopLength) return undefined;
    const asked = direct ? text : `>${text}`;
    if (remembered.has(asked)) return remembered.get(asked);
    const name = readName(text, direct);
    if (remembered.size >= maxRemembered) remembered.clear();
    remembered.set(asked, name);
    return name;
  };
  return ({ peer, headers }) => {
    if (!trusts(peer)) return peer === undefined ? undefined : nameOf(peer, true);
    const hops = forwardedFor(headers);
    if (trustProxy === 'any') return hops[0] === undefined ? undefined : nameOf(hops[0], false);
    const client = hops.find((hop) => !trusts(hop));
    return client === undefined ? undefined : nameOf(client, false);
  };
}

/** The hops of X-Forwarded-For, the nearest first, without the ports that some proxies add. */
function forwardedFor(headers: HeaderList): readonly string[] {
  const hops: string[] = [];
  for (let at = headers.length - 1; at >= 0; at -= 1) {
    const [name, value = ''] = headers[at] ?? [];
    if (name !== 'x-forwarded-for') continue;
    hops.push(...value.split(',').slice(-maxHops).reverse().map(withoutPort));
    if (hops.length >= maxHops) break;
  }
  return hops.slice(0, maxHops);
}

function withoutPort(hop: string): string {
  const text = hop.trim();
  const bracketed = /^\[([^\]]*)\](?::[0-9]+)?$/.exec(text)?.[1];
  if (bracketed !== undefined) return bracketed;
  return /^[^:]*:[0-9]+$/.test(text) ? text.slice(0, text.indexOf(':')) : text;
}

function readName(text: string, direct: boolean): string | undefined {
  const address = parseAddress(text);
  if (address === undefined || (direct && ownRanges.has(address.range()))) return undefined;
  return address.kind() === 'ipv4' ? address.toString() : network64(address);
}

function network64(address: Address): string {
  const octets = address.toByteArray().slice(0, 8);
  return octets.map((octet) => octet.toString(16).padStart(2, '0')).join('');
}
