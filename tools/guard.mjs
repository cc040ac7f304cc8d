// @ts-check
/**
 * Says what to do when the Node that runs is too old, or when nothing was installed yet. Plain JavaScript of
 * 2020, because it must be read by exactly the Node that cannot read the rest.
 */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Oldest Node that runs the TypeScript sources as they are and that undici 8 accepts. */
const oldest = [22, 19];
/** Systems for which `npm ci` brings a Node of its own (optionalDependencies of the root package). */
const bundled = ['linux-x64', 'linux-arm64'];

/**
 * The advice for a machine, or undefined where all is well.
 * @param {{ version: string, system: string, installed: boolean }} machine
 * @returns {string | undefined}
 */
export function advise(machine) {
  const parts = machine.version.split('.').map(Number);
  const major = parts[0] || 0;
  const minor = parts[1] || 0;
  const young = major > oldest[0] || (major === oldest[0] && minor >= oldest[1]);
  const brings = bundled.indexOf(machine.system) !== -1;
  if (young && machine.installed) return undefined;
  if (young) return 'Nothing is installed yet. Run: npm ci';
  const needed = `Node ${oldest.join('.')} or newer is needed; this is Node ${machine.version}.`;
  if (!brings) return `${needed} Install it (nodejs.org, or your system's packages), then run: npm ci`;
  if (!machine.installed)
    return `${needed} Run: npm ci (it brings Node 24 into node_modules), then use npm's scripts.`;
  return `${needed} The Node that npm ci brings is missing or was not used. Run: npm ci --include=optional, then start the project by its scripts (npm start, npm test, npx counterfoil).`;
}

const here = fileURLToPath(import.meta.url);
if (process.argv[1] && process.argv[1] === here) {
  const advice = advise({
    version: process.versions.node,
    system: `${process.platform}-${process.arch}`,
    installed: existsSync(join(dirname(here), '..', 'node_modules', 'counterfoil')),
  });
  const greets = process.argv.indexOf('--greet') !== -1;
  if (advice) console.error(`counterfoil: ${advice}`);
  else if (greets)
    console.error(
      `counterfoil: installed; scripts run under Node ${process.versions.node}. Next: npm start, npm test`,
    );
  // An installation is not undone because of the Node that made it.
  process.exitCode = advice && !greets ? 2 : 0;
}
