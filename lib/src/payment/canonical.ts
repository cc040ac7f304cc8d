/**
 * When two URLs are one resource: the syntax-based and scheme-based normalisation of RFC 3986 (6.2.2 and 6.2.3) and
 * no step more. An honest buyer that spells our URL in another way still buys (B07), while whatever a server may tell
 * apart stays apart: the URL parser of the web platform is not used here because it merges what is not equal, such as
 * a backslash and a slash, or a host in Unicode and one in ASCII.
 */
import { hasBrokenEscape, maxUrlLength, parseAuthority } from './url.ts';

/** The split of RFC 3986, appendix B, for the two schemes that are sold. The fragment is left behind. */
const components = /^(https?):\/\/([^/?#]*)([^?#]*)(\?[^#]*)?(?:#.*)?$/i;
/** Printable ASCII without space and backslash. Characters that ought to be escaped and are not stay as they are. */
const characters = /^[!-[\]-~]*$/;
const triplet = /%[0-9A-Fa-f]{2}/g;
const unreserved = /^[A-Za-z0-9._~-]$/;

/**
 * The one spelling of all equal spellings of an http or https URL; a canonical URL is its own canonical form.
 * Undefined for a text that is none: a user, an escape in the host, a backslash, white space, a control or non-ASCII
 * character, a broken escape, more than 8192 octets.
 */
export function canonicalUrl(url: string): string | undefined {
  if (url.length > maxUrlLength || !characters.test(url) || hasBrokenEscape(url)) return undefined;
  const [, scheme = '', written = '', path = '', query = ''] = components.exec(url) ?? [];
  // A colon without a port is the default port (RFC 3986, 6.2.3).
  const bare = written.endsWith(':');
  const authority = parseAuthority(bare ? written.slice(0, -1) : written);
  if (authority === undefined || (bare && authority.port !== undefined)) return undefined;
  const { host, port } = authority;
  const own = scheme.toLowerCase();
  const foreignPort = port === undefined || port === (own === 'https' ? 443 : 80) ? '' : `:${port}`;
  const canonical = `${own}://${host}${foreignPort}${withoutDots(plain(path))}${plain(query)}`;
  // Only the slash of an empty path makes it longer than it was written.
  return canonical.length > maxUrlLength ? undefined : canonical;
}

/** Whether two texts are spellings of one URL. What has no canonical form equals nothing, not even itself. */
export function sameUrl(left: string, right: string): boolean {
  const canonical = canonicalUrl(left);
  // Nearly every buyer echoes what it read, octet for octet.
  return canonical !== undefined && (left === right || canonical === canonicalUrl(right));
}

/** Escapes of unreserved characters are those characters, all others have upper-case digits (6.2.2.1 and 6.2.2.2). */
function plain(text: string): string {
  return text.replace(triplet, (written) => {
    const character = characterOf(written);
    return unreserved.test(character) ? character : written.toUpperCase();
  });
}

/** The octet that three characters such as `%7E` stand for, as a character. */
function characterOf(written: string): string {
  return String.fromCharCode(Number.parseInt(written.slice(1), 16));
}

/** Removes dot segments (5.2.4); an empty path is the root. Empty segments are segments like any other. */
function withoutDots(path: string): string {
  const segments = path.split('/').slice(1);
  const kept: string[] = [];
  for (const [at, segment] of segments.entries()) {
    if (segment !== '.' && segment !== '..') {
      kept.push(segment);
      continue;
    }
    if (segment === '..') kept.pop();
    // The path ends in the directory that is left.
    if (at === segments.length - 1) kept.push('');
  }
  return `/${kept.join('/')}`;
}

const encoder = new TextEncoder();

/**
 * The URL without the query parameters that a route declares free (B02), all else octet for octet; `names` are
 * decoded names, so that `trace` also stands for `%74race`. Where nothing of the query is left, neither is its mark.
 */
export function withoutParameters(url: string, names: readonly string[]): string {
  const fragment = url.indexOf('#');
  const end = fragment < 0 ? url.length : fragment;
  const mark = url.indexOf('?');
  if (names.length === 0 || mark < 0 || mark > end) return url;
  const free = new Set(names.map((name) => String.fromCharCode(...encoder.encode(name))));
  const parameters = url.slice(mark + 1, end).split('&');
  const kept = parameters.filter((parameter) => !isFree(parameter, free));
  if (kept.length === parameters.length) return url;
  const query = kept.length === 0 ? '' : `?${kept.join('&')}`;
  return `${url.slice(0, mark)}${query}${url.slice(end)}`;
}

/** Some parsers end a parameter at a semicolon too: what stands behind it would be unbound, so that it is kept. */
function isFree(parameter: string, free: ReadonlySet<string>): boolean {
  return !parameter.includes(';') && free.has(nameOctets(parameter));
}

/** The decoded name, a character for an octet: no two names become one because their octets are no UTF-8. */
function nameOctets(parameter: string): string {
  const equals = parameter.indexOf('=');
  const name = equals < 0 ? parameter : parameter.slice(0, equals);
  return name.replaceAll('+', ' ').replace(triplet, characterOf);
}
