/**
 * All the paths that servers may make of one received path (H04). Frameworks and the proxies before them decode, fold
 * and cut in different orders: `/a%2fb/../weather` is `/weather` for a parser that resolves dots before it decodes,
 * `/a/weather` for one that decodes first, and neither for one that does nothing. And what stands behind a mount
 * prefix reads only the rest: `/api/../weather` is `/weather` under `/api` there. So each step below is tried, at each
 * place where it may be taken, on each text that the others gave, until nothing new comes of it.
 */
import { decodeOctets, decodeUnits } from './octets.ts';

/** An honest path has a handful, an encoded URL in a parameter two dozen; more is a search for one overlooked here. */
const maxReadings = 64;
/** Characters put together in all; bounds the work for one target, whatever its length. */
const maxWork = 65_536;

/** Only with one of these can a path be read in more than one way. */
const unsteady = /[^!-~]|[%\\;?#]|\/[./]/;

/** Every reading of a path, itself first; undefined where there are more than anybody needs. */
export function readingsOf(path: string): readonly string[] | undefined {
  if (!unsteady.test(path)) return [path];
  const readings = new Set([path]);
  let work = 0;
  // A set that grows while it is walked is walked to its new end.
  for (const text of readings) {
    for (const variant of variantsOf(text)) {
      if (variant === text) continue;
      work += variant.length;
      readings.add(variant.startsWith('/') ? variant : `/${variant}`);
      if (readings.size > maxReadings || work > maxWork) return undefined;
    }
  }
  return [...readings];
}

/** What one step, taken once, makes of a text. */
function* variantsOf(text: string): Iterable<string> {
  if (text.includes('%')) yield* unescaped(text);
  if (text.includes('\\')) yield withLast(text, ['\\'], '/');
  if (text.includes('//')) yield text.replace(/\/{2,}/g, '/');
  if (/\/\/|\\/.test(text)) yield* without(text, authority);
  if (/\/(?:\.|%2e)/i.test(text)) for (const dots of dotSteps) yield* without(text, dots);
  if (/[?#;\0]/.test(text)) yield* cut(text);
  if (!/^[!-~]*$/.test(text)) yield* foreign(text);
}

/**
 * Separators come last to first: whoever decodes all of them arrives there, and where a mounted reader decodes and the
 * prefix before it does not, it stops on the way. What cannot be decoded is kept by some and dropped by others.
 */
function* unescaped(text: string): Iterable<string> {
  yield decodeOctets(text);
  yield decodeUnits(text);
  yield text.replace(/%(?![0-9a-f]{2})/gi, '');
  yield withLast(text, ['%2f', '%2F'], '/');
  yield withLast(text, ['%5c', '%5C'], '\\');
}

function withLast(text: string, marks: readonly string[], put: string): string {
  const at = Math.max(...marks.map((mark) => text.lastIndexOf(mark)));
  return at < 0 ? text : text.slice(0, at) + put + text.slice(at + (marks[0]?.length ?? 0));
}

/**
 * Two slashes begin a reference to another host. A backslash is a slash to a URL parser, and gets another before it
 * where what a mount prefix leaves must begin with one.
 */
const authority = /(?:\/[/\\]+|\\[/\\]*)[^/\\]*/g;

/**
 * RFC 3986, section 5.2.4, with `%2e` for a dot as in the URL standard. Two dots do not climb above the root, nor
 * above what is the root for a mounted reader.
 */
const dotSteps = [
  /\/(?:\.|%2e)(?=\/|$)/gi,
  /\/[^/]*\/(?:\.|%2e){2}(?=\/|$)/gi,
  /\/(?:\.|%2e){2}(?=\/|$)/gi,
] as const;

/** At each place alone; dots at the end leave the slash before them. */
function* without(text: string, part: RegExp): Iterable<string> {
  for (const { 0: found, index } of text.matchAll(part)) {
    const after = text.slice(index + found.length);
    yield `${text.slice(0, index)}${after === '' ? '/' : after}`;
  }
}

/**
 * Parameters of a segment (RFC 3986, section 3.3), as Java servers drop them; and what was decoded to a delimiter may
 * be one for the next server, some routers begin the query at a semicolon, and a text ends at a zero in C.
 */
function* cut(text: string): Iterable<string> {
  const at = text.lastIndexOf(';');
  if (at >= 0) yield text.slice(0, at) + text.slice(at).replace(/^[^/]*/, '');
  for (const { index } of text.matchAll(/[?#;\0]/g)) yield text.slice(0, index);
}

/** URL parsers drop some white space wherever it stands, and some only at the end; `\ufffd` was an octet too many. */
function* foreign(text: string): Iterable<string> {
  yield decodeOctets(text);
  yield text.normalize('NFKC');
  yield text.replace(/[\s\p{Cc}\ufffd]+/gu, '');
  yield text.replace(/[\s\p{Cc}]+$/u, '');
}
