/**
 * The URL of a request as it is bound (formats 10.1, http:1): our configured origin and the target as it was sent.
 * Nothing is normalised: `%2f` and `%2F`, or two orders of a query, are two resources. Host and the forwarding
 * headers are only compared with the origin and never build it (B06).
 */
import type { Outcome } from '../problem.ts';
import { refuse, succeed } from '../problem.ts';

/** Octets; longer than any server in front of us lets through. */
const maxUrlLength = 8192;
const maxPort = 65_535;

const authority = String.raw`(?:[A-Za-z0-9._~!$&'()*+,;=-]+|\[[0-9A-Fa-f:.]+\])(?::([0-9]{1,5}))?`;
const authorityPattern = new RegExp(`^${authority}$`);
const urlPattern = new RegExp(`^https?://${authority}(?:[/?].*)?$`);
/** Printable ASCII without space, `#` and the backslash that URL parsers read as a slash. */
const targetCharacters = /^[!"$-[\]-~]*$/;
const brokenEscape = /%(?![0-9A-Fa-f]{2})/;

/** Whether a text is an absolute http or https URL that may be bound: ASCII, no user, no fragment, whole escapes. */
export function isBindableUrl(url: string): boolean {
  if (url.length > maxUrlLength || !targetCharacters.test(url) || brokenEscape.test(url)) return false;
  const match = urlPattern.exec(url);
  return match !== null && Number(match[1] ?? 0) <= maxPort;
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

/** `ours`: a header names our origin's host. `malformed`: one is no pure authority or scheme. Else `foreign`. */
export type AuthorityFinding = 'ours' | 'foreign' | 'malformed';

/**
 * Compares Host and :authority with the public origin, and X-Forwarded-Host and X-Forwarded-Proto where they stand
 * among the lines: the caller passes those two only if a proxy of its own sets them.
 */
export function compareAuthority(
  origin: string,
  headerLines: Iterable<readonly [string, string]>,
): AuthorityFinding {
  const own = new URL(origin);
  let finding: AuthorityFinding = 'foreign';
  let hosts = 0;
  for (const [header, value] of headerLines) {
    const name = header.toLowerCase();
    if (name === 'x-forwarded-proto') {
      if (!hops(value).every((hop) => /^https?$/i.test(hop))) return 'malformed';
    } else if (name === 'host' || name === ':authority' || name === 'x-forwarded-host') {
      if (name === 'host') hosts += 1;
      const candidates = name === 'x-forwarded-host' ? hops(value) : [value];
      if (hosts > 1 || !candidates.every(isAuthority)) return 'malformed';
      if (candidates.some((candidate) => comparable(candidate, own.protocol) === own.host)) finding = 'ours';
    }
  }
  return finding;
}

function hops(value: string): readonly string[] {
  return value.split(',').map((hop) => hop.replace(/^[ \t]+|[ \t]+$/g, ''));
}

function isAuthority(text: string): boolean {
  const match = authorityPattern.exec(text);
  return match !== null && Number(match[1] ?? 0) <= maxPort;
}

/** `URL.host` is lower case and leaves the scheme's own port out. */
function comparable(text: string, protocol: string): string {
  const lower = text.toLowerCase();
  const ownPort = protocol === 'https:' ? ':443' : ':80';
  return lower.endsWith(ownPort) ? lower.slice(0, -ownPort.length) : lower;
}
