/**
 * Listeners of one's own behind proxies of somebody's: a target goes through a random chain of what servers do to
 * paths, some of it behind mount prefixes that read the path as it stands, and is matched at the end.
 */
import { posix } from 'node:path';
import { parse } from 'node:url';
import type { Luck } from '../../../test/luck.ts';
import { type Handler, handlers } from './street.ts';
import type { Bent } from './targets.ts';

type Step = (path: string) => string;

const base = 'http://shop.example';

/** How a path is got from a target. */
const heads: Readonly<Record<string, Step>> = {
  'to the query': (target) => target.split('?')[0] ?? '',
  'to the parameters': (target) => target.split(/[?;]/)[0] ?? '',
  'decoded to the query': (target) => decodeURI(target).split('?')[0] ?? '',
  URL: (target) => new URL(target, base).pathname,
  'URL of the whole': (target) => new URL(base + target).pathname,
  'legacy parser': (target) => parse(target).pathname ?? '',
  'legacy parser with hosts': (target) => parse(target, false, true).pathname ?? '',
};

/** What is done to a path. */
const steps: Readonly<Record<string, Step>> = {
  decodeURI,
  decodeURIComponent,
  'decode what can be': (path) => leniently(path, decodeURI),
  'decode all that can be': (path) => leniently(path, decodeURIComponent),
  'decode segments': (path) => path.split('/').map(decodeSegment).join('/'),
  unescape: (path) =>
    path.replace(/%u([0-9a-f]{4})|%([0-9a-f]{2})/gi, (_all, unit?: string, octet?: string) =>
      String.fromCharCode(Number.parseInt(unit ?? octet ?? '', 16)),
    ),
  normalize: (path) => posix.normalize(path),
  URL: (path) => new URL(path, base).pathname,
  'URL of the whole': (path) => new URL(base + path).pathname,
  'legacy parser': (path) => parse(path).pathname ?? '',
  'legacy parser with hosts': (path) => parse(path, false, true).pathname ?? '',
  'lower case': (path) => path.toLowerCase(),
  'one slash': (path) => path.replace(/\/+/g, '/'),
  'one slash at the start': (path) => path.replace(/^\/\//, '/'),
  'no parameters': (path) => path.replace(/;[^/]*/g, ''),
  'to the first parameter': (path) => path.split(';')[0] ?? '',
  'to a query again': (path) => path.split('?')[0] ?? '',
  'slashes of Windows': (path) => path.replaceAll('\\', '/'),
  'compatible letters': (path) => path.normalize('NFKC'),
  'no tabs': (path) => path.replace(/[\t\r\n]/g, ''),
  trim: (path) => path.trim(),
  'to a zero': (path) => path.split('\0')[0] ?? '',
  'octets as UTF-8': (path) => Buffer.from(path, 'latin1').toString('utf8'),
};

function decodeSegment(segment: string): string {
  const decoded = decodeURIComponent(segment);
  return /[/\\]/.test(decoded) ? segment : decoded;
}

function leniently(text: string, decode: Step): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (run) => attempt(() => decode(run)) ?? run);
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

export type Chained = { readonly ran: Handler | undefined; readonly how: string };

/** Sends a request through one random chain. */
export function throughChain(luck: Luck, bent: Bent): Chained {
  const how: string[] = [];
  const take = (table: Readonly<Record<string, Step>>, path: string): string => {
    const name = luck.pick(Object.keys(table));
    how.push(name);
    return table[name]?.(path) ?? path;
  };
  const several = (path: string, most: number): string => {
    let taken = path;
    for (let left = Math.floor(luck.roll() * (most + 1)); left > 0; left -= 1)
      taken = rooted(take(steps, taken));
    return taken;
  };
  const path = attempt(() => {
    const start = take(heads, bent.target);
    // A target in absolute form that is taken as it stands is no path of anybody's.
    if (!start.startsWith('/')) return undefined;
    let rest = several(start, 3);
    let prefix = '';
    for (let left = luck.chance(0.5) ? 0 : 1 + Math.floor(luck.roll() * 2); left > 0; left -= 1) {
      const [, first = '', behind = ''] = /^(\/[^/]+)(.*)$/s.exec(rest) ?? ['', '', rest];
      how.push('mounted');
      prefix += first;
      rest = several(rooted(behind), 2);
    }
    return prefix + rest;
  });
  const letters = Math.floor(luck.roll() * 16);
  const loose = luck.chance(0.5);
  how.push(`letters ${letters}`, loose ? 'loose' : 'strict');
  return {
    ran: path === undefined ? undefined : handlerAt(path, bent.method, { letters, loose }),
    how: how.join(', '),
  };
}

function rooted(path: string): string {
  return path.startsWith('/') ? path : `/${path}`;
}

/** `letters` has a bit for each segment whose letter case does not count, `loose` a slash at the end that does not. */
function handlerAt(
  path: string,
  method: string,
  { letters, loose }: { readonly letters: number; readonly loose: boolean },
): Handler | undefined {
  const asked = method.toUpperCase() === 'HEAD' ? 'GET' : method.toUpperCase();
  const segments = path.split('/').slice(1);
  if (loose && segments.length > 1 && segments.at(-1) === '') segments.pop();
  return handlers.find(
    (handler) =>
      (handler.method === 'ALL' || handler.method === asked) && fits(handler.path, segments, letters),
  );
}

function fits(pattern: string, segments: readonly string[], letters: number): boolean {
  const parts = pattern.split('/').slice(1);
  for (const [at, part] of parts.entries()) {
    const segment = segments[at];
    if (part.startsWith('*')) return segments.length >= at;
    if (segment === undefined) return false;
    if (part.startsWith(':') ? segment === '' : !isSame(part, segment, ((letters >> at) & 1) === 1))
      return false;
  }
  return segments.length === parts.length;
}

function isSame(one: string, other: string, fold: boolean): boolean {
  return fold ? one.toLowerCase() === other.toLowerCase() : one === other;
}
