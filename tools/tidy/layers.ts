/**
 * Layer order (design section 2): a file of the library imports only from its own folder and from folders to
 * its left. Programs reach the library by its published name, as everybody else does.
 */
import { dirname, join, normalize } from 'node:path/posix';
import { type Finding, isTest, lineAt, type Node, node, type Source, text, walk } from './source.ts';

/**
 * Groups from left to right. Inside the second group the order counts too: the flow of one payment. Inside the
 * other groups it does not, but nothing is so far to the right that it may be imported by its left.
 */
const groups: readonly (readonly string[])[] = [
  ['problem', 'world', 'crypto'],
  ['wire'],
  ['terms'],
  ['payment'],
  ['claim'],
  ['settlement'],
  ['receipt'],
  ['verify'],
  ['seller', 'buyer'],
  ['stores', 'adapters', 'system'],
  ['index'],
];
/** Folders and files that may name Node, frameworks and databases. */
const outer: ReadonlySet<string> = new Set(['stores', 'adapters', 'system']);
/** Packages that the core may import: they run in a browser and are dependencies of the published library. */
const core = /^(?:@noble\/(?:curves|hashes)|canonicalize|ipaddr\.js)(?:\/|$)/;
const home = 'lib/src/';

/** The folder (or root file) of the library that a path belongs to, or undefined outside the library. */
export function layerOf(path: string): string | undefined {
  if (!path.startsWith(home)) return undefined;
  const [first = ''] = path.slice(home.length).split('/');
  return first.replace(/\.ts$/, '');
}

function rank(layer: string): number {
  return groups.findIndex((group) => group.includes(layer));
}

/** Each module that a file names, with the node that names it. */
export function imports(source: Source): { readonly name: string; readonly at: Node }[] {
  const found: { name: string; at: Node }[] = [];
  walk(source.program, (at) => {
    if (
      ![
        'ImportDeclaration',
        'ExportNamedDeclaration',
        'ExportAllDeclaration',
        'ImportExpression',
        'TSImportType',
      ].includes(at.type)
    )
      return;
    const name = text(node(at, 'source'), 'value');
    if (name !== undefined) found.push({ name, at });
  });
  return found;
}

function faultInLibrary(source: Source, layer: string, name: string): string | undefined {
  if (!name.startsWith('.')) {
    if (name === 'counterfoil' || name.startsWith('counterfoil/'))
      return 'the library imports itself by relative paths';
    if (outer.has(layer) || core.test(name)) return undefined;
    return `the core must run in a browser: ${name} belongs into stores, adapters or system.ts`;
  }
  const target = normalize(join(dirname(source.path), name));
  const other = layerOf(target);
  if (other === undefined) return `${target} is outside the library`;
  if (rank(other) === -1) return `${other} has no place in the layer order`;
  if (rank(other) > rank(layer)) return `${layer} stands left of ${other} and may not import it`;
  return undefined;
}

function faultOutside(source: Source, name: string): string | undefined {
  if (!name.startsWith('.') || !source.path.startsWith('apps/')) return undefined;
  const target = normalize(join(dirname(source.path), name));
  const app = source.path.split('/').slice(0, 2).join('/');
  return target.startsWith(`${app}/`)
    ? undefined
    : `${app} reaches ${target} by path; import it by its package name`;
}

/** Imports that go to the right. Tests may look anywhere. */
export function layers(source: Source): Finding[] {
  if (isTest(source.path)) return [];
  const layer = layerOf(source.path);
  if (layer !== undefined && rank(layer) === -1)
    return [
      { rule: 'layers', path: source.path, line: 1, message: `${layer} has no place in the layer order` },
    ];
  return imports(source).flatMap(({ name, at }) => {
    const message = layer === undefined ? faultOutside(source, name) : faultInLibrary(source, layer, name);
    return message === undefined
      ? []
      : [{ rule: 'layers', path: source.path, line: lineAt(source, at.start), message }];
  });
}
