/**
 * Finds spin and a C compiler. spin is a Debian package and not an npm one: `npm run model` and `npm test` install it
 * where they may (`tools/setup.ts`); here the one line to run is named.
 */
import { spawnSync } from 'node:child_process';

export type Tools = { readonly spin: string; readonly cc: string; readonly spinVersion: string };
export type Missing = { readonly missing: readonly string[]; readonly line: string };

const packages = ['spin', 'gcc', 'libc6-dev'];

/** The tools, or what is missing and the line that installs it. */
export function findTools(env: NodeJS.ProcessEnv = process.env): Tools | Missing {
  const cc = ['gcc', 'cc'].find((name) => run(name, ['--version'], env) !== undefined);
  const version = run('spin', ['-V'], env);
  if (cc !== undefined && version !== undefined) {
    return { spin: 'spin', cc, spinVersion: /Version (\S+)/.exec(version)?.[1] ?? 'unknown' };
  }
  const missing = [...(version === undefined ? ['spin'] : []), ...(cc === undefined ? ['a C compiler'] : [])];
  return { missing, line: `sudo apt-get install -y ${packages.join(' ')}` };
}

function run(name: string, args: readonly string[], env: NodeJS.ProcessEnv): string | undefined {
  const result = spawnSync(name, args, { encoding: 'utf8', env });
  return result.status === 0 ? result.stdout : undefined;
}
