/** How large a thing may be (style 2): lines of a file and of a function, parameters, depth of nesting. */
import { type Finding, isTest, lineAt, type Node, node, nodes, type Source, text, walk } from './source.ts';

/** A file longer than this is two files. */
const fileLines = 500;
/** A function longer than this is several steps that want names. */
const functionLines = 70;
/** A fourth parameter means an options object; in tests it may be an error handler's, which Express knows by its four. */
const parameters = 3;
/** A fourth level means a function. */
const depth = 3;

const functions: ReadonlySet<string> = new Set([
  'FunctionDeclaration',
  'FunctionExpression',
  'ArrowFunctionExpression',
]);
const nesting: ReadonlySet<string> = new Set([
  'IfStatement',
  'ForStatement',
  'ForInStatement',
  'ForOfStatement',
  'WhileStatement',
  'DoWhileStatement',
  'SwitchStatement',
  'TryStatement',
]);

/** The callback of `describe` is a chapter, not a function. */
function isChapter(parent: Node | undefined): boolean {
  const name = text(node(parent, 'callee'), 'name') ?? '';
  return parent?.type === 'CallExpression' && ['describe', 'suite'].includes(name);
}

/** `else if` continues its `if` on the same level. */
function isElseIf(at: Node, parent: Node | undefined): boolean {
  return at.type === 'IfStatement' && parent?.type === 'IfStatement' && parent.alternate === at;
}

/** Levels of control flow around `at` up to the nearest function, counting `at` itself. */
function levels(at: Node, ancestors: readonly Node[]): number {
  const chain = [...ancestors, at];
  const start = chain.findLastIndex((one) => functions.has(one.type));
  return chain
    .slice(start + 1)
    .filter((one, index, inner) => nesting.has(one.type) && !isElseIf(one, inner[index - 1])).length;
}

/** Lines of the functions right inside `at`: a stage that a test sets up is a frame around its named steps. */
function inner(source: Source, at: Node): number {
  let lines = 0;
  walk(source.program, (one, ancestors) => {
    const owner = ancestors.findLast(({ type }) => functions.has(type));
    if (functions.has(one.type) && owner === at) lines += lineAt(source, one.end) - lineAt(source, one.start);
  });
  return lines;
}

/** Files, functions, parameter lists and nestings that are too large. */
export function size(source: Source): Finding[] {
  const found: Finding[] = [];
  const say = (line: number, message: string): void => {
    found.push({ rule: 'size', path: source.path, line, message });
  };
  const lines = lineAt(source, source.text.length);
  if (lines > fileLines) say(1, `${lines} lines; a file has at most ${fileLines}`);
  walk(source.program, (at, ancestors) => {
    const line = lineAt(source, at.start);
    if (functions.has(at.type)) {
      const length = lineAt(source, at.end) - line + 1;
      const count = nodes(at, 'params').filter((param) => text(param, 'name') !== 'this').length;
      const own = length > functionLines && isTest(source.path) ? length - inner(source, at) : length;
      if (own > functionLines && !isChapter(ancestors.at(-1)))
        say(line, `${length} lines; a function has at most ${functionLines}`);
      if (count > parameters && !isTest(source.path))
        say(line, `${count} parameters; after ${parameters} comes an options object`);
    }
    const tooDeep =
      nesting.has(at.type) && !isElseIf(at, ancestors.at(-1)) && levels(at, ancestors) === depth + 1;
    if (tooDeep) say(line, `nested ${depth + 1} deep; at most ${depth}`);
  });
  return found;
}
