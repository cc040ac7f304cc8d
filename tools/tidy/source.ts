/**
 * Reads the tree for the tidy rules: TypeScript files with their syntax tree, everything else as text. Rules
 * are pure functions of what is read here, so each can be shown a small source that it must flag.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync, visitorKeys } from 'oxc-parser';

/** A syntax node as ESTree and TypeScript-ESTree define it; members are looked at before they are trusted. */
export type Node = {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [member: string]: unknown;
};

/** A comment without its delimiters. */
export type Comment = { readonly value: string; readonly start: number };

/** A TypeScript file; `path` is relative to the root, with forward slashes. */
export type Source = {
  readonly path: string;
  readonly text: string;
  readonly program: Node;
  readonly comments: readonly Comment[];
};

/** Any readable file of the project. */
export type Text = { readonly path: string; readonly text: string };

/** What the rules look at. `files` holds every path, readable or not. */
export type Tree = {
  readonly sources: readonly Source[];
  readonly texts: readonly Text[];
  readonly files: ReadonlySet<string>;
};

/** A fault: where it is and what to do about it. Lines count from 1. */
export type Finding = {
  readonly rule: string;
  readonly path: string;
  readonly line: number;
  readonly message: string;
};

const skipped: ReadonlySet<string> = new Set(['node_modules', '.git', 'dist', '.counterfoil']);
const readable = /(?:\.(?:ts|mts|mjs|js|json|md|pml|sh|yml|toml|txt)|\/\.?[a-z]+|^\.?[A-Za-z]+)$/;

/** Whether a value is a syntax node. */
function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

/** The member as a node, or undefined. */
export function node(parent: Node | undefined, member: string): Node | undefined {
  const value = parent?.[member];
  return isNode(value) ? value : undefined;
}

/** The member as a list of nodes; holes and other things are left out. */
export function nodes(parent: Node | undefined, member: string): readonly Node[] {
  const value = parent?.[member];
  return Array.isArray(value) ? value.filter(isNode) : [];
}

/** The member as text, or undefined. */
export function text(parent: Node | undefined, member: string): string | undefined {
  const value = parent?.[member];
  return typeof value === 'string' ? value : undefined;
}

/** Parses one file; a file that is not TypeScript is a fault of the caller's list and throws. */
export function parse(path: string, source: string): Source {
  const result = parseSync(path, source);
  const first = result.errors[0];
  if (first !== undefined) throw new SyntaxError(`${path}: ${first.message}`);
  const program: unknown = result.program;
  if (!isNode(program)) throw new SyntaxError(`${path}: no program`);
  return { path, text: source, program, comments: result.comments };
}

/** Visits every node, parents first. `ancestors` runs from the program down to the parent. */
export function walk(root: Node, visit: (node: Node, ancestors: readonly Node[]) => void): void {
  const ancestors: Node[] = [];
  const step = (current: Node): void => {
    visit(current, ancestors);
    ancestors.push(current);
    for (const key of visitorKeys[current.type] ?? []) {
      const child = node(current, key);
      if (child !== undefined) step(child);
      for (const item of nodes(current, key)) step(item);
    }
    ancestors.pop();
  };
  step(root);
}

/** The line, counted from 1, on which an offset lies. */
export function lineAt(source: Text, offset: number): number {
  let line = 1;
  for (let at = source.text.indexOf('\n'); at !== -1 && at < offset; at = source.text.indexOf('\n', at + 1))
    line += 1;
  return line;
}

/**
 * Whether a path is a test, or something that only tests use: a package's `test/` folder, and folders called `rig`
 * (what several tests share) or `interop` (tests against other implementations).
 */
export function isTest(path: string): boolean {
  return /\.test\.m?ts$|^(?:lib|apps\/[a-z-]+)\/test\/|\/(?:rig|interop)\//.test(path);
}

/** Makes a tree of texts given by path; TypeScript ones are parsed. */
export function plant(entries: readonly Text[], others: readonly string[] = []): Tree {
  const sources = entries
    .filter(({ path }) => /\.m?ts$/.test(path) && !/\.d\.m?ts$/.test(path))
    .map(({ path, text: source }) => parse(path, source));
  return { sources, texts: entries, files: new Set([...entries.map(({ path }) => path), ...others]) };
}

function list(root: string, folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    if (skipped.has(entry.name)) return [];
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    return entry.isDirectory() ? list(root, path) : [path];
  });
}

/** Reads the tree below `root`. */
export function load(root: string): Tree {
  const paths = list(root, '').sort();
  const legible = paths.filter((path) => readable.test(path) && !path.startsWith('vectors/'));
  const entries = legible.map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
  return plant(entries, paths);
}
