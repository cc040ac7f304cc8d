/** What a stranger's empty project does with the packed library: imports every subpath, and type-checks the imports. */

/** A file of the stranger's project. */
export type File = { readonly path: string; readonly text: string };

function specifiers(name: string, subpaths: readonly string[]): string[] {
  return subpaths.filter((subpath) => subpath !== './package.json').map((subpath) => name + subpath.slice(1));
}

/** Imports each subpath, prints how many names came, and fails on one that brings none. */
function runner(modules: readonly string[]): string {
  return `for (const name of ${JSON.stringify(modules)}) {
  const names = Object.keys(await import(name));
  console.log(name, names.length);
  if (names.includes('default')) throw new Error(name + ' has a default export');
}
`;
}

/** The store's worker is started by URL, which only a run of the built package shows to be right. */
function storer(name: string): string {
  return `import { openSqliteStore } from '${name}/stores/sqlite';
const store = await openSqliteStore({ path: './claims.sqlite' });
await store.close();
`;
}

function checked(modules: readonly string[]): string {
  const imports = modules.map((name, index) => `import * as door${index} from '${name}';`);
  const uses = modules.map((_, index) => `door${index}`);
  return `${imports.join('\n')}\nexport const doors: readonly object[] = [${uses.join(', ')}];\n`;
}

/** The files of a project that uses every subpath of a package. */
export function consumer(name: string, subpaths: readonly string[]): File[] {
  const modules = specifiers(name, subpaths);
  const compilerOptions = {
    target: 'es2024',
    module: 'nodenext',
    strict: true,
    noEmit: true,
    skipLibCheck: false,
    types: ['node'],
  };
  return [
    { path: 'package.json', text: JSON.stringify({ name: 'stranger', private: true, type: 'module' }) },
    { path: 'run.js', text: runner(modules) },
    { path: 'store.js', text: storer(name) },
    { path: 'check.ts', text: checked(modules) },
    { path: 'tsconfig.json', text: JSON.stringify({ compilerOptions, files: ['check.ts'] }) },
  ];
}
