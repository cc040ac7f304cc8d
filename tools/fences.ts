/**
 * Code fences of the documents: found, written out as modules and given to the compiler, so that no document
 * shows code that does not fit the sources. A fence that starts "```ts run" is also run.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A TypeScript fence: where it stands (line of its first code line, from 1) and whether it is to be run. */
export type Fence = {
  readonly page: string;
  readonly line: number;
  readonly code: string;
  readonly runs: boolean;
};

const opening = /^```(\S*)[ \t]*(.*)$/;

/** The TypeScript fences of a Markdown text, in order; other languages are left alone. */
export function fencesOf(page: string, markdown: string): Fence[] {
  const found: Fence[] = [];
  let open: { language: string; words: string; from: number; lines: string[] } | undefined;
  for (const [index, line] of markdown.split('\n').entries()) {
    if (open === undefined) {
      const match = opening.exec(line);
      if (match !== null)
        open = { language: match[1] ?? '', words: match[2] ?? '', from: index + 2, lines: [] };
    } else if (line === '```') {
      const { language, words, from, lines } = open;
      const runs = words.split(/\s+/).includes('run');
      if (language === 'ts') found.push({ page, line: from, code: `${lines.join('\n')}\n`, runs });
      open = undefined;
    } else {
      open.lines.push(line);
    }
  }
  if (open !== undefined) throw new Error(`${page}:${open.from - 1} a fence is never closed`);
  return found;
}

/** The file name that a fence gets: page and line, so that a compiler's message leads back to the document. */
export function nameOf(fence: Fence): string {
  return `${fence.page.replace(/\.md$/, '').replace(/[^A-Za-z0-9]+/g, '-')}-line-${fence.line}.ts`;
}

/** Writes fences with a tsconfig.json into an emptied folder inside the tree, where the workspace's packages resolve. */
export function writeFences(folder: string, fences: readonly Fence[]): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const fence of fences) writeFileSync(join(folder, nameOf(fence)), fence.code);
  // A document shows use, not exports: what it declares needs no written type.
  const compilerOptions = {
    noEmit: true,
    isolatedDeclarations: false,
    declaration: false,
    moduleDetection: 'force',
  };
  const config = { extends: '../../tsconfig.json', compilerOptions, include: ['*.ts'] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config, null, 2));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n');
}
