/**
 * Under which of our public origins a request was asked for. An origin is configuration: Host and the forwarding
 * headers choose one of the list and never build one, because an origin that a stranger writes would be signed for
 * (R02, B06). Only a proxy of our own is believed when it says what it was asked (H10).
 */
import { parseAuthority, parseOrigin } from '../payment/index.ts';
import { type Outcome, refuse, succeed } from '../problem.ts';
import type { HeaderList, SellerRequest } from './message.ts';
import { trustPeers } from './peer.ts';

export type PlaceOptions = {
  /** Every public origin that this seller answers under, such as `https://api.example.com`; the first is the main one. */
  readonly origins: readonly string[];
  /**
   * The proxies in front of this seller: addresses and CIDR ranges. `any` is for platforms that let no request in but
   * through a proxy of theirs. Such a proxy must write X-Forwarded-Host itself or delete it.
   */
  readonly trustProxy?: readonly string[] | 'any';
};

export type Places = {
  /** The main origin. */
  readonly origin: string;
  /** One of the configured origins, or `foreign_host`, or `request_malformed` with the header's name in `fields`. */
  readonly locate: (arrival: Pick<SellerRequest, 'headers' | 'peer'>) => Outcome<string>;
};

const optionNames: ReadonlySet<string> = new Set(['origins', 'trustProxy']);
/** Proxies in a row that one header may name; no honest path has so many. */
const maxHops = 16;
/** A shop with two hosts under two schemes is named whole; a platform does not list its tenants to a stranger. */
const maxNamedOrigins = 4;

/**
 * Makes the finder of origins; an origin that is not canonical or stands twice, a proxy that is no address, or an
 * unknown option is a TypeError.
 *
 * Host or :authority is looked up among the origins. A trusted proxy's X-Forwarded-Host replaces it, of several hops
 * the rightmost, which the nearest proxy wrote; its X-Forwarded-Proto chooses between two origins that differ in
 * nothing but their scheme, of which the earlier one is taken where nobody says. A trusted proxy that names neither,
 * as nginx does by itself, speaks for the only origin, and of a chain any hop may name that one. `Forwarded` (RFC 7239) is never read: the common proxies do
 * not write it and hand a client's own on as it came, so that believing it would be believing the client.
 */
export function createPlaces(options: PlaceOptions): Places {
  for (const name of Object.keys(options)) {
    if (!optionNames.has(name)) throw new TypeError(`Places have no option "${name}".`);
  }
  const origins = checkOrigins(options.origins);
  const [origin] = origins;
  const trusts = trustPeers(options.trustProxy ?? []);
  const find = finder(origins);
  const foreign = refuse('foreign_host', { detail: `This seller answers under ${nameSome(origins)}.` });
  return Object.freeze({
    origin,
    locate: ({ peer, headers }) => {
      const lines = readLines(headers);
      if (lines.repeated !== undefined) return malformed(lines.repeated);
      const asked = lines.host === undefined ? none : find(lines.host);
      if (asked === undefined) return malformed(lines.hostName);
      const forwarded = lines.forwardedHost !== undefined || lines.forwardedProto !== undefined;
      const [place] = asked;
      if (!forwarded && place !== undefined) return succeed(place);
      if (!trusts(peer)) return place === undefined ? foreign : succeed(place);
      const told = behindProxy(lines, asked, find);
      if (typeof told === 'string') return malformed(told);
      if (told[0] !== undefined) return succeed(told[0]);
      if (origins.length > 1) return foreign;
      // With one origin there is nothing to confuse: any hop may name it, and so may silence.
      const unnamed = lines.host !== undefined && lines.forwardedHost === undefined;
      const named = hops(lines.forwardedHost ?? '').some((hop) => (find(hop) ?? none).length > 0);
      return unnamed || named ? succeed(origin) : foreign;
    },
  } satisfies Places);
}

const none: readonly string[] = [];

function malformed(header: string): ReturnType<typeof refuse> {
  return refuse('request_malformed', { fields: [header] });
}

function checkOrigins(origins: readonly string[]): readonly [string, ...string[]] {
  const [first, ...others] = Array.isArray(origins) ? origins.map(parseOrigin) : [];
  if (first === undefined) throw new TypeError('origins is a list with at least one public origin.');
  const seen = new Set([first]);
  for (const other of others) {
    if (seen.has(other)) throw new TypeError(`The public origin "${other}" is listed twice.`);
    seen.add(other);
  }
  return [first, ...others];
}

function nameSome(origins: readonly string[]): string {
  const named = origins.slice(0, maxNamedOrigins).join(', ');
  return origins.length > maxNamedOrigins ? `${named} and others` : named;
}

/** The origins of an authority, in configured order: none where it is foreign; undefined where it is no authority. */
type Find = (authority: string) => readonly string[] | undefined;

/** The default port of an origin's scheme may be written or left out; of two schemes it may be another one. */
function finder(origins: readonly string[]): Find {
  const table = new Map<string, string[]>();
  const add = (authority: string, origin: string): void => {
    const others = table.get(authority);
    if (others === undefined) table.set(authority, [origin]);
    else others.push(origin);
  };
  for (const origin of origins) {
    const [scheme, authority = ''] = origin.split('://');
    add(authority, origin);
    // A canonical origin with a port has another one than its scheme's.
    if (parseAuthority(authority)?.port === undefined) {
      add(`${authority}:${scheme === 'https' ? 443 : 80}`, origin);
    }
  }
  return (text) => {
    const exact = table.get(text);
    if (exact !== undefined) return exact;
    const authority = parseAuthority(text);
    if (authority === undefined) return undefined;
    const { host, port } = authority;
    return table.get(port === undefined ? host : `${host}:${port}`) ?? none;
  };
}

type Lines = {
  readonly host: string | undefined;
  /** `host` or `:authority`, whichever was sent. */
  readonly hostName: string;
  readonly forwardedHost: string | undefined;
  readonly forwardedProto: string | undefined;
  /** A header that may stand once and stands twice. */
  readonly repeated: string | undefined;
};

/** The lines that count, of a list that may hold a hundred. */
function readLines(headers: HeaderList): Lines {
  let host: string | undefined;
  let authority: string | undefined;
  let forwardedHost: string | undefined;
  let forwardedProto: string | undefined;
  let repeated: string | undefined;
  for (const [name, value] of headers) {
    switch (name) {
      case 'host':
        if (host !== undefined) repeated = name;
        host = value;
        break;
      case ':authority':
        if (authority !== undefined) repeated = name;
        authority = value;
        break;
      case 'x-forwarded-host':
        forwardedHost = forwardedHost === undefined ? value : `${forwardedHost},${value}`;
        break;
      case 'x-forwarded-proto':
        forwardedProto = forwardedProto === undefined ? value : `${forwardedProto},${value}`;
        break;
    }
  }
  // HTTP/2 may carry both, and then they must name the same (RFC 9113, 8.3.1).
  if (host !== undefined && authority !== undefined && host.toLowerCase() !== authority.toLowerCase()) {
    repeated = 'host';
  }
  const hostName = host === undefined ? ':authority' : 'host';
  return { host: host ?? authority, hostName, forwardedHost, forwardedProto, repeated };
}

/** What a trusted proxy says it was asked, best first; the name of a header that cannot be read. */
function behindProxy(lines: Lines, asked: readonly string[], find: Find): readonly string[] | string {
  const hosts = lines.forwardedHost === undefined ? [asked] : hops(lines.forwardedHost).map(find);
  const nearest = hosts.includes(undefined) ? undefined : hosts.at(-1);
  if (nearest === undefined || hosts.length > maxHops) return 'x-forwarded-host';
  if (lines.forwardedProto === undefined) return nearest;
  const schemes = hops(lines.forwardedProto).map((hop) => hop.toLowerCase());
  const known =
    schemes.length <= maxHops && schemes.every((scheme) => scheme === 'https' || scheme === 'http');
  if (!known) return 'x-forwarded-proto';
  const preferred = nearest.find((origin) => origin.startsWith(`${schemes.at(-1)}://`));
  return preferred === undefined ? nearest : [preferred];
}

/** Blanks around a hop are no part of it; a hop of two words stays one that nobody can read. */
function hops(value: string): readonly string[] {
  return value.split(',', maxHops + 1).map((hop) =>
    hop
      .split(/[ \t]/)
      .filter((word) => word !== '')
      .join(' '),
  );
}
