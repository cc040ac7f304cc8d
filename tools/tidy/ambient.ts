/**
 * The core asks the world only for what it was handed (style 12): no clock, no random, no network, no process
 * by an ambient name. A local variable or parameter of the same name is its author's business.
 */
import { layerOf } from './layers.ts';
import { type Finding, isTest, lineAt, type Node, node, nodes, type Source, text, walk } from './source.ts';

const forbidden: ReadonlySet<string> = new Set([
  'Date',
  'crypto',
  'fetch',
  'process',
  'Buffer',
  'performance',
  'console',
  'require',
  'globalThis',
  'window',
  'self',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'clearTimeout',
  'clearInterval',
  'clearImmediate',
  'navigator',
  'document',
  'WebSocket',
  'XMLHttpRequest',
  'EventSource',
  'localStorage',
  'eval',
  'Function',
]);
/** Files of the library that stand for the real world. */
const outer: ReadonlySet<string> = new Set(['system', 'stores', 'adapters']);

/** Names that a pattern (parameter, destructuring, declarator) binds. */
function bound(pattern: Node | undefined): string[] {
  switch (pattern?.type) {
    case 'Identifier':
      return [text(pattern, 'name') ?? ''];
    case 'AssignmentPattern':
      return bound(node(pattern, 'left'));
    case 'RestElement':
      return bound(node(pattern, 'argument'));
    case 'ArrayPattern':
      return nodes(pattern, 'elements').flatMap(bound);
    case 'ObjectPattern':
      return nodes(pattern, 'properties').flatMap((property) => bound(node(property, 'value') ?? property));
    default:
      return [];
  }
}

/** Names that a statement declares for the block it stands in. */
function declared(statement: Node): string[] {
  switch (statement.type) {
    case 'ExportNamedDeclaration': {
      const declaration = node(statement, 'declaration');
      return declaration === undefined ? [] : declared(declaration);
    }
    case 'VariableDeclaration':
      return nodes(statement, 'declarations').flatMap((declarator) => bound(node(declarator, 'id')));
    case 'ImportDeclaration':
      return nodes(statement, 'specifiers').flatMap((specifier) => bound(node(specifier, 'local')));
    default:
      return bound(node(statement, 'id'));
  }
}

function scopeOf(ancestor: Node): string[] {
  const own = [...nodes(ancestor, 'params').flatMap(bound), ...bound(node(ancestor, 'param'))];
  const statements = [...nodes(ancestor, 'body'), node(ancestor, 'init'), node(ancestor, 'left')];
  return [...own, ...statements.flatMap((statement) => (statement === undefined ? [] : declared(statement)))];
}

/** Whether the identifier is a value or a type that is read, not a member's name or a binding. */
function isReference(at: Node, parent: Node | undefined): boolean {
  if (parent === undefined || parent.type === 'TSTypeQuery') return false;
  const named = ['MemberExpression', 'TSQualifiedName'].includes(parent.type)
    ? ['property', 'right']
    : ['key', 'id', 'label'];
  const computed = parent.computed === true;
  if (!computed && named.some((member) => parent[member] === at)) return false;
  return !['ImportSpecifier', 'ExportSpecifier', 'LabeledStatement', 'TSNamedTupleMember'].includes(
    parent.type,
  );
}

function isRandom(at: Node): boolean {
  return (
    at.type === 'MemberExpression' &&
    text(node(at, 'object'), 'name') === 'Math' &&
    (text(node(at, 'property'), 'name') ?? text(node(at, 'property'), 'value')) === 'random'
  );
}

/** Ambient names in the core of the library. Node's own modules are found by the layer rule. */
export function ambient(source: Source): Finding[] {
  const layer = layerOf(source.path);
  if (layer === undefined || outer.has(layer) || isTest(source.path)) return [];
  const found: Finding[] = [];
  const say = (at: Node, name: string): void => {
    const message = `${name} is of the real world; take it as an argument (world.ts)`;
    found.push({ rule: 'ambient', path: source.path, line: lineAt(source, at.start), message });
  };
  walk(source.program, (at, ancestors) => {
    if (isRandom(at)) say(at, 'Math.random');
    const name = at.type === 'Identifier' ? (text(at, 'name') ?? '') : '';
    if (!forbidden.has(name) || !isReference(at, ancestors.at(-1))) return;
    if (!ancestors.some((ancestor) => scopeOf(ancestor).includes(name))) say(at, name);
  });
  return found;
}
