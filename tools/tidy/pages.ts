/**
 * Documents (style 19): links lead somewhere, a link to a test is the test's own sentence, every promise that
 * this version keeps has a row with its test, and the README stays short.
 */
import { dirname, join, normalize } from 'node:path/posix';
import {
  type Finding,
  isTest,
  lineAt,
  node,
  nodes,
  type Source,
  type Text,
  type Tree,
  text,
  walk,
} from './source.ts';

/** A README longer than this is not read. */
const readmeLines = 150;
/** Promises of design section 1 that this version makes. */
const promises: readonly string[] = ['S1', 'S2', 'S3', 'S4', 'S5', 'S6'];
/** Text of a link may hold brackets in code; targets hold no blank. */
const link = /\[((?:[^\][]|\[[^\]]*\])+)\]\(([^)\s]+)\)/g;

/** GitHub's anchor of a heading. */
export function anchor(heading: string): string {
  const plain = heading.replace(/`/g, '').trim().toLowerCase();
  return plain.replace(/[^\p{L}\p{N}\s_-]/gu, '').replace(/\s/g, '-');
}

function withoutFences(markdown: string): string {
  return markdown.replace(/^```[\s\S]*?^```/gm, (fence) => fence.replace(/[^\n]/g, ' '));
}

function anchors(markdown: string): ReadonlySet<string> {
  return new Set(
    [...withoutFences(markdown).matchAll(/^#+\s+(.+)$/gm)].map((match) => anchor(match[1] ?? '')),
  );
}

/** The names of the tests that a file declares as plain text. */
export function testNames(source: Source): ReadonlySet<string> {
  const found = new Set<string>();
  walk(source.program, (at) => {
    const name = text(node(at, 'callee'), 'name') ?? '';
    if (at.type !== 'CallExpression' || !['test', 'it', 'describe'].includes(name)) return;
    const [first] = nodes(at, 'arguments');
    const sentence = text(first, 'value');
    if (sentence !== undefined) found.add(sentence);
  });
  return found;
}

function faultOfLink(
  tree: Tree,
  file: Text,
  [, words = '', target = '']: RegExpExecArray,
): string | undefined {
  if (/^[a-z]+:/.test(target)) return undefined;
  const [path = '', fragment = ''] = target.split('#');
  const place = path === '' ? file.path : normalize(join(dirname(file.path), path)).replace(/\/$/, '');
  const exists = tree.files.has(place) || [...tree.files].some((one) => one.startsWith(`${place}/`));
  if (!exists) return `${target} does not exist`;
  const page = tree.texts.find((one) => one.path === place);
  if (fragment !== '' && page !== undefined && place.endsWith('.md') && !anchors(page.text).has(fragment))
    return `${place} has no heading #${fragment}`;
  const source = tree.sources.find((one) => one.path === place);
  if (source !== undefined && isTest(place) && !testNames(source).has(words))
    return `${place} has no test "${words}"`;
  return undefined;
}

function links(tree: Tree, file: Text): Finding[] {
  return [...withoutFences(file.text).matchAll(link)].flatMap((match) => {
    const message = faultOfLink(tree, file, match);
    return message === undefined
      ? []
      : [{ rule: 'pages', path: file.path, line: lineAt(file, match.index), message }];
  });
}

function readme(file: Text): Finding[] {
  const say = (message: string): Finding => ({ rule: 'pages', path: file.path, line: 1, message });
  const lines = lineAt(file, file.text.length - 1);
  const rows = promises.filter(
    (promise) => !new RegExp(`^\\| *${promise}\\b.*\\]\\([^)]*\\.test\\.ts\\)`, 'm').test(file.text),
  );
  return [
    ...(lines > readmeLines ? [say(`${lines} lines; the README has at most ${readmeLines}`)] : []),
    ...rows.map((promise) => say(`promise ${promise} has no row with a link to its test`)),
  ];
}

/** Faults of the documents. */
export function pages(tree: Tree): Finding[] {
  const documents = tree.texts.filter(({ path }) => path.endsWith('.md'));
  const first = tree.texts.find(({ path }) => path === 'README.md');
  const missing: Finding = { rule: 'pages', path: 'README.md', line: 1, message: 'README.md is missing' };
  return [
    ...(first === undefined ? [missing] : readme(first)),
    ...documents.flatMap((file) => links(tree, file)),
  ];
}
