/** A test stands beside each source file that can do anything (style 15). */
import { type Finding, isTest, type Source, type Tree, walk } from './source.ts';

/** The contract suite that every store test runs: its test is each of those. */
const suite = /^lib\/src\/stores\/conformance(?:\.ts$|\/)/;
const homes = /^(?:lib\/src|apps\/[a-z-]+|tools|model)\//;
const active: ReadonlySet<string> = new Set([
  'CallExpression',
  'NewExpression',
  'FunctionDeclaration',
  'FunctionExpression',
  'ArrowFunctionExpression',
  'ClassDeclaration',
  'TemplateLiteral',
  'ExpressionStatement',
]);

/** Whether a file holds anything but types, re-exports and plain values. */
function acts(source: Source): boolean {
  let found = false;
  walk(source.program, (at) => {
    found ||= active.has(at.type);
  });
  return found;
}

/** Sources without a test beside them; index files and files of mere types and constants need none. */
export function beside(tree: Tree): Finding[] {
  const needy = tree.sources.filter(
    ({ path }) => homes.test(path) && !isTest(path) && !path.endsWith('/index.ts') && !suite.test(path),
  );
  const tests = [...tree.files].filter(isTest);
  return needy
    .filter(acts)
    .filter(({ path }) => !tests.some((test) => test.startsWith(path.replace(/\.m?ts$/, '.'))))
    .map(({ path }) => ({
      rule: 'beside',
      path,
      line: 1,
      message: `${path.replace(/\.ts$/, '.test.ts')} is missing`,
    }));
}
