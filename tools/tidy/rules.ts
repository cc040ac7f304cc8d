/** All rules over a tree, in the order in which a reader wants the faults. */
import { ambient } from './ambient.ts';
import { beside } from './beside.ts';
import { codes } from './codes.ts';
import { language } from './language.ts';
import { layers } from './layers.ts';
import { names } from './names.ts';
import { pages } from './pages.ts';
import { size } from './size.ts';
import type { Finding, Tree } from './source.ts';
import { banned } from './words.ts';

/** Every rule by name; each looks at the whole tree. */
export const rules: Readonly<Record<string, (tree: Tree) => Finding[]>> = {
  layers: (tree) => tree.sources.flatMap(layers),
  ambient: (tree) => tree.sources.flatMap(ambient),
  language: (tree) => tree.sources.flatMap(language),
  size: (tree) => tree.sources.flatMap(size),
  names: (tree) => tree.texts.flatMap(names),
  beside,
  codes,
  words: (tree) => tree.texts.flatMap(banned),
  pages,
};

/** `path:line rule: what to do`, as editors link it. */
export function show(finding: Finding): string {
  return `${finding.path}:${finding.line} ${finding.rule}: ${finding.message}`;
}
