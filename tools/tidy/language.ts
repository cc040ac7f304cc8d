/**
 * The part of TypeScript that this project writes (style 5, 6 and 15): erasable, named exports, no escape from
 * the type checker outside `wire/` and tests, no class but errors and stateful adapters.
 */
import { type Finding, isTest, lineAt, type Node, node, type Source, text, walk } from './source.ts';

/** Classes that hold a connection, a thread or a child process, by file, with the reason. */
const statefulClasses: Readonly<Record<string, string>> = {
  'lib/src/adapters/node/capture.ts': 'node:http writes to a Socket, and a Socket is extended',
  'lib/src/system.ts': 'undici calls one object at each stage of one exchange',
};

const plain: Readonly<Record<string, string>> = {
  TSEnumDeclaration: 'no enum: use a union of literals',
  TSModuleDeclaration: 'no namespace: a file is the module',
  TSParameterProperty: 'no parameter property: it is not erasable',
  ExportDefaultDeclaration: 'no default export: name it',
  TSAnyKeyword: 'no any: unknown at the edge, parsed once',
  TSInterfaceDeclaration: 'type before interface',
};
const casts: Readonly<Record<string, string>> = {
  TSNonNullExpression: 'no non-null assertion: handle the absent case',
  TSAsExpression: 'no cast outside wire/ and tests: parse or narrow it',
  TSTypeAssertion: 'no cast outside wire/ and tests: parse or narrow it',
};

function isConst(at: Node): boolean {
  return text(node(node(at, 'typeAnnotation'), 'typeName'), 'name') === 'const';
}

function isErrorClass(at: Node): boolean {
  return /Error$/.test(text(node(at, 'superClass'), 'name') ?? '');
}

function classFault(source: Source, at: Node): string | undefined {
  if (isErrorClass(at) || source.path in statefulClasses) return undefined;
  return 'no class but errors and the stateful adapters listed in tools/tidy/language.ts';
}

function testFault(at: Node): string | undefined {
  const callee = node(at, 'callee');
  const member = text(node(callee, 'property'), 'name') ?? '';
  const object = text(node(callee, 'object'), 'name') ?? '';
  if (!['test', 'it', 'describe', 'suite'].includes(object)) return undefined;
  return ['skip', 'todo', 'only'].includes(member)
    ? `no ${object}.${member}: a test runs or is deleted`
    : undefined;
}

function fault(source: Source, at: Node): string | undefined {
  const free = isTest(source.path) || source.path.startsWith('lib/src/wire/');
  if (at.type === 'ClassDeclaration' || at.type === 'ClassExpression') return classFault(source, at);
  if (at.type === 'CallExpression') return isTest(source.path) ? testFault(at) : undefined;
  if (at.type === 'ExportSpecifier' && text(node(at, 'exported'), 'name') === 'default')
    return plain.ExportDefaultDeclaration;
  if (at.type in casts) return free || isConst(at) ? undefined : casts[at.type];
  return plain[at.type];
}

/** Language that is not written here. */
export function language(source: Source): Finding[] {
  const found: Finding[] = [];
  const say = (start: number, message: string): void => {
    found.push({ rule: 'language', path: source.path, line: lineAt(source, start), message });
  };
  walk(source.program, (at) => {
    const message = fault(source, at);
    if (message !== undefined) say(at.start, message);
  });
  for (const comment of source.comments) {
    if (/^\s*@ts-(?:ignore|nocheck)/.test(comment.value)) say(comment.start, 'no @ts-ignore: fix the type');
    if (/^\s*@ts-expect-error/.test(comment.value) && !isTest(source.path))
      say(comment.start, 'no @ts-expect-error outside tests');
  }
  return found;
}
