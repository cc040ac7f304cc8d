/**
 * Everything that must hold before a change is handed over, in the order in which a fault is cheapest to learn of:
 * lint, types, unused code, tidy and tests, simulator, model, package. Runs all of it, prints one line each, and fails if one
 * did. `node tools/check.ts [name]...` runs only the named ones.
 */
import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';

/** A part of the check; `args` are given to this Node. */
export type Part = { readonly name: string; readonly args: readonly string[] };

const root = resolve(import.meta.dirname, '..');
const installed = (path: string): string => join('node_modules', path);

/** The parts in their order; generated pages, code fences and the tidy rules are among the tests. */
export const parts: readonly Part[] = [
  { name: 'lint', args: [installed('@biomejs/biome/bin/biome'), 'check', '--error-on-warnings', '.'] },
  { name: 'types', args: [installed('typescript/bin/tsc'), '--noEmit'] },
  { name: 'unused', args: [installed('knip/bin/knip.js')] },
  { name: 'setup', args: ['tools/setup.ts'] },
  { name: 'test', args: ['tools/test.ts'] },
  { name: 'sim', args: ['sim/main.ts', '--seeds', '800'] },
  { name: 'model', args: ['model/run.ts'] },
  { name: 'pack', args: ['tools/pack.ts'] },
];

/** The parts of those names, in the order of the list; a name that is none throws. */
export function choose(names: readonly string[]): readonly Part[] {
  const unknown = names.find((name) => !parts.some((part) => part.name === name));
  if (unknown !== undefined)
    throw new TypeError(`no part is called ${unknown}: ${parts.map(({ name }) => name).join(', ')}`);
  return names.length === 0 ? parts : parts.filter(({ name }) => names.includes(name));
}

/** Runs parts one after the other, with their output, and returns the lines of the summary. */
export function runAll(chosen: readonly Part[]): {
  readonly failed: number;
  readonly lines: readonly string[];
} {
  const results = chosen.map(({ name, args }) => {
    console.error(`\ncheck: ${name}`);
    const start = performance.now();
    const { status } = spawnSync(process.execPath, args, {
      cwd: root,
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    return { name, good: status === 0, seconds: (performance.now() - start) / 1000 };
  });
  const lines = results.map(
    ({ name, good, seconds }) => `${good ? 'ok    ' : 'FAILED'} ${name} (${seconds.toFixed(1)} s)`,
  );
  return { failed: results.filter(({ good }) => !good).length, lines };
}

if (process.argv[1] === import.meta.filename) {
  const { failed, lines } = runAll(choose(process.argv.slice(2)));
  console.error(`\n${lines.join('\n')}`);
  process.exitCode = failed === 0 ? 0 : 1;
}
