/**
 * The URL of a request as it is bound (formats 10.1, http:1): our configured origin and the target as it was sent.
 * Nothing is normalised: `%2f` and `%2F`, or two orders of a query, are two resources. Host and the forwarding
 * headers choose among the configured origins (seller/place.ts) and never build one (B06).
 */
import type { Outcome } from '../problem.ts';
import { refuse, succeed } from '../problem.ts';

/** Octets; longer than any server in front of us lets through. */
export const maxUrlLength = 8192;
/** Octets: the longest name that DNS knows has 253, and a colon and five digits follow it. */
const maxAuthorityLength = 259;
const maxPort = 65_535;

const authorityPattern = /^([A-Za-z0-9._~!$&'()*+,;=-]+|\[[0-9A-Fa-f:.]+\])(?::([0-9]{1,5}))?$/;
const urlPattern = /^https?:\/\/([^/?]*)(?:[/?].*)?$/;
/** Printable ASCII without space, `#` and the backslash that URL parsers read as a slash. */
const targetCharacters = /^[!"$-[\]-~]*$/;
const brokenEscape = /%(?![0-9A-Fa-f]{2})/;

/** Whether a text has a percent sign that no two hex digits follow; two parsers would read it in two ways. */
export function hasBrokenEscape(text: string): boolean {
  return brokenEscape.test(text);
}

/** A host in lower case (an IPv6 address in its brackets), and the port where one is written. */
export type Authority = { readonly host: string; readonly port?: number };

/**
 * Reads the authority of an http or https URL or of a Host header (RFC 9110, 7.2): ASCII, no user, no escape, no
 * path, a port of at most 65535. Undefined for anything else, an internationalised name outside its ASCII form too.
 */
export function parseAuthority(text: string): Authority | undefined {
  const match = text.length > maxAuthorityLength ? null : authorityPattern.exec(text);
  const [, host, digits] = match ?? [];
  if (host === undefined) return undefined;
  if (digits === undefined) return { host: host.toLowerCase() };
  const port = Number(digits);
  return port > maxPort ? undefined : { host: host.toLowerCase(), port };
}

/** Whether a text is an absolute http or https URL that may be bound: ASCII, no user, no fragment, whole escapes. */
export function isBindableUrl(url: string): boolean {
  if (url.length > maxUrlLength || !targetCharacters.test(url) || hasBrokenEscape(url)) return false;
  const authority = urlPattern.exec(url)?.[1];
  return authority !== undefined && parseAuthority(authority) !== undefined;
}

/** Reads a configured public origin such as `https://api.example.com`; anything but its canonical form is a TypeError. */
export function parseOrigin(text: string): string {
  const canonical = URL.canParse(text) ? new URL(text).origin : undefined;
  if (canonical !== text || !isBindableUrl(text)) {
    throw new TypeError(`A public origin is written like https://api.example.com, not "${text}".`);
  }
  return text;
}

/** The bound URL of a request: `origin` from {@link parseOrigin}, `target` in origin form as it stood in the request. */
export function requestUrl(origin: string, target: string): Outcome<string> {
  const url = `${origin}${target}`;
  return target.startsWith('/') && isBindableUrl(url)
    ? succeed(url)
    : refuse('request_malformed', { fields: ['target'] });
}
