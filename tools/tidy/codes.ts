/** Each problem code is produced by a source, shown by a test and documented (style 11). */
import { type Finding, isTest, node, nodes, type Source, type Tree, text, walk } from './source.ts';

const table = 'lib/src/problem.ts';
/** The generated page that lists the codes. */
export const page = 'docs/reference/problems.md';

/** The codes of the table, in its order, read from the syntax tree of `problem.ts`. */
export function codesOf(source: Source): string[] {
  const codes: string[] = [];
  walk(source.program, (at) => {
    if (at.type !== 'VariableDeclarator' || text(node(at, 'id'), 'name') !== 'problems') return;
    walk(at, (inner, ancestors) => {
      const isTable =
        inner.type === 'ObjectExpression' && !ancestors.some(({ type }) => type === 'ObjectExpression');
      if (!isTable) return;
      for (const property of nodes(inner, 'properties'))
        codes.push(text(node(property, 'key'), 'name') ?? '');
    });
  });
  return codes;
}

/** Every string that a file holds as a value, and every name of a test with the words in it. */
function words(sources: readonly Source[]): ReadonlySet<string> {
  const found = new Set<string>();
  for (const source of sources) {
    walk(source.program, (at, ancestors) => {
      // A code in a type is a promise to produce it, not its production.
      if (ancestors.at(-1)?.type === 'TSLiteralType') return;
      if (at.type === 'Literal')
        for (const word of (text(at, 'value') ?? '').split(/[^a-z0-9_]+/)) found.add(word);
      if (at.type === 'Property') found.add(text(node(at, 'key'), 'name') ?? '');
    });
  }
  return found;
}

/** Codes that are not produced, not tested or not documented. */
export function codes(tree: Tree): Finding[] {
  const problem = tree.sources.find(({ path }) => path === table);
  if (problem === undefined) return [];
  const inner = tree.sources.filter(({ path }) => /^(?:lib\/src|apps)\//.test(path) && path !== table);
  const produced = words(inner.filter(({ path }) => !isTest(path)));
  const tested = words(inner.filter(({ path }) => isTest(path)));
  const documented = tree.texts.find(({ path }) => path === page)?.text ?? '';
  return codesOf(problem).flatMap((code) => {
    const missing = [
      ...(produced.has(code) ? [] : ['no source produces it']),
      ...(tested.has(code) ? [] : ['no test shows it']),
      ...(documented.includes(`\`${code}\``) ? [] : [`${page} does not list it`]),
    ];
    return missing.length === 0
      ? []
      : [{ rule: 'codes', path: table, line: 1, message: `${code}: ${missing.join(', ')}` }];
  });
}
