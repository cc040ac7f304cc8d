/**
 * Request targets that were bent until servers disagree about them (H04): honest paths of a shop, with the spellings
 * that have opened other shops, alone and heaped on each other.
 */
import type { Luck } from '../../../test/luck.ts';

export type Bent = { readonly method: string; readonly target: string };

const honest = [
  '/',
  '/about',
  '/weather',
  '/item/special',
  '/item/7',
  '/files',
  '/files/a/b.txt',
  '/api/health',
  '/api/report',
  '/api/secret',
  '/api/deep/one/two',
  '/news/premium',
  '/Chat/v1.0/Completions',
  '/shop/a/till',
  '/nothing/here',
] as const;

const words = honest.flatMap((path) => path.split('/')).filter((word) => word !== '');

const methods: Readonly<Record<string, number>> = {
  GET: 60,
  HEAD: 8,
  POST: 8,
  DELETE: 4,
  PUT: 4,
  OPTIONS: 3,
  PATCH: 1,
  get: 2,
  post: 1,
  Head: 1,
  TRACE: 1,
  QUERY: 1,
  PROPFIND: 1,
};

/** What is put between, before or into the parts of a path. */
const pieces = [
  '/',
  '//',
  '///',
  '/./',
  '/../',
  '/a/../',
  '/%2e/',
  '/%2e%2e/',
  '/.%2E/',
  '/x%2fy/../',
  '/..%2f',
  '/..;/',
  '/;/',
  '\\',
  '\\\\',
  '/\\',
  '/\\..\\',
  '%2f',
  '%2F',
  '%252f',
  '%25252f',
  '%5c',
  '%255c',
  '%c0%af',
  '%e0%80%af',
  '%c0%ae%c0%ae/',
  '%00',
  '%00.png',
  '%',
  '%%',
  '%zz',
  '%2',
  '%u002f',
  ';v=1',
  ';a/b',
  '%3bv=1',
  '%3f',
  '%23',
  '%09',
  '%0a',
  '%0d%0a',
  '%20',
  '%ff',
  '%ef%bc%8f',
  '%e2%84%aa',
  '\t',
  ' ',
  '\0',
  '\x7f',
  '\xa0',
  '\xc0\xaf',
  '.',
  '..',
  '.json',
  '+',
  '&',
  '@',
  ':',
  ':80',
  '{x}',
  '"',
  "'",
  '|',
  '^',
  '`',
  '<>',
  '[]',
  '//u@h',
  '//host',
  '/\\u@h',
  '\\u@h',
  '///host:80',
] as const;

const queries = [
  '?',
  '?a=1',
  '?a=1?b=2',
  '?/weather',
  '?x=/../../weather',
  '??',
  '?%',
  '?a#b',
  ';x?y',
] as const;
const fragments = ['#', '#x', '#/weather', '#?/weather', '#/../weather'] as const;
const authorities = [
  'http://shop.example',
  'http://shop.example:80',
  'https://SHOP.example',
  'HTTP://shop.example',
  'ws://shop.example',
  'http://u@shop.example',
  'http://u:p@shop.example',
  'http://[::1]:8080',
  'http://',
  'http:',
  'http:/',
  'http:\\\\shop.example',
  'http://shop.example\\',
  "http://shop.example'",
  'http://shop.example;',
  '//shop.example',
  '/\\shop.example',
  'file://',
  'x',
] as const;

/** One bent request. */
export function bend(luck: Luck): Bent {
  let path: string = luck.chance(0.85) ? luck.pick(honest) : invented(luck);
  const times = Math.floor(luck.roll() * 4);
  for (let time = 0; time < times; time += 1) path = luck.pick(bends)(path, luck);
  if (luck.chance(0.15)) path += luck.pick(queries);
  if (luck.chance(0.04)) path += luck.pick(fragments);
  if (luck.chance(0.06)) path = luck.pick(authorities) + path;
  return { method: luck.weigh(methods), target: path };
}

function invented(luck: Luck): string {
  const length = 1 + Math.floor(luck.roll() * 4);
  return Array.from({ length }, () => `/${luck.pick(words)}`).join('');
}

const bends: readonly ((path: string, luck: Luck) => string)[] = [
  (path, luck) => insert(path, luck, luck.pick(pieces)),
  (path, luck) => insert(path, luck, luck.pick(pieces)),
  (path, luck) => path + luck.pick(pieces),
  (path, luck) => luck.pick(pieces) + path,
  (path) => `${path}/`,
  (path, luck) => changeOne(path, luck, (letter) => encoded(letter)),
  (path, luck) => changeOne(path, luck, (letter) => encoded(letter)),
  (path, luck) => changeOne(path, luck, (letter) => encoded(letter).toLowerCase().replace('%', '%25')),
  (path, luck) => changeOne(path, luck, overlong),
  (path, luck) => changeOne(path, luck, (letter) => letter.toUpperCase()),
  (path) => path.toUpperCase(),
  (path, luck) => path.replace('/', luck.pick(['//', '\\', '%2f', '/./', '/x/../', '/%2e%2e/', '/;/'])),
  (path, luck) => betweenSegments(path, luck),
  (path, luck) => `${path}/${luck.pick(words)}`,
  (path, luck) => `/${luck.pick(words)}/..${path}`,
  (path, luck) => `/${luck.pick(words)}%2f${luck.pick(words)}/..${path}`,
];

function insert(path: string, luck: Luck, piece: string): string {
  const at = Math.floor(luck.roll() * (path.length + 1));
  return path.slice(0, at) + piece + path.slice(at);
}

function betweenSegments(path: string, luck: Luck): string {
  const slashes = [...path.matchAll(/\//g)].map(({ index }) => index);
  if (slashes.length === 0) return path;
  const at = luck.pick(slashes);
  return path.slice(0, at) + luck.pick(pieces) + path.slice(at);
}

function changeOne(path: string, luck: Luck, change: (letter: string) => string): string {
  const at = Math.floor(luck.roll() * path.length);
  return path.slice(0, at) + change(path.charAt(at)) + path.slice(at + 1);
}

function encoded(letter: string): string {
  return `%${letter.charCodeAt(0).toString(16).padStart(2, '0')}`;
}

function overlong(letter: string): string {
  const code = letter.charCodeAt(0) & 0x7f;
  return `%${(0xc0 | (code >> 6)).toString(16)}%${(0x80 | (code & 0x3f)).toString(16)}`;
}
