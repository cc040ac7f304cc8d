/**
 * Builds what would be published, and uses it as a stranger does: compile to dist, pack, lint the tarball,
 * install it into an empty folder elsewhere, import every subpath, type-check, run the command. Publishes nothing.
 */
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { consumer } from './pack/consumer.ts';
import { nameJavaScript } from './pack/declaration.ts';
import { type Manifest, parseManifest, publish } from './pack/manifest.ts';

const root = resolve(import.meta.dirname, '..');
const stage = join(root, '.counterfoil', 'pack');
/** In the order of their dependencies; a folder without sources is not packed. */
const homes: readonly string[] = ['lib', 'apps/devnet', 'apps/cli'];
/** A tarball larger than this holds something that was not meant to be in it (octets). */
const maxUnpacked = 2 * 1024 * 1024;

/** A packed package; `folder` is where it was built. */
type Packed = {
  readonly home: string;
  readonly folder: string;
  readonly tarball: string;
  readonly manifest: Manifest;
};

/** What is wrong with the list of files of a tarball. */
export function faultsOf(paths: readonly string[], unpacked: number): string[] {
  const wrong = paths.filter((path) => /\.test\.|(?<!\.d)\.m?ts$|^src\/|^test\//.test(path));
  const missing = ['LICENSE', 'README.md', 'package.json'].filter((path) => !paths.includes(path));
  return [
    ...wrong.map((path) => `${path} does not belong into the package`),
    ...missing.map((path) => `${path} is missing`),
    ...(unpacked > maxUnpacked ? [`${unpacked} octets unpacked; at most ${maxUnpacked}`] : []),
  ];
}

function run(command: string, args: readonly string[], folder: string): string {
  const result = spawnSync(command, args, {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, npm_config_loglevel: 'error' },
  });
  if (result.status === 0) return result.stdout;
  throw new Error(
    `${command} ${args.join(' ')} (in ${folder})\n${result.stdout}${result.stderr}${result.error?.message ?? ''}`,
  );
}

/** A program of a development dependency, run by this Node. */
function tool(path: string, args: readonly string[], folder: string): string {
  return run(process.execPath, [join(root, 'node_modules', path), ...args], folder);
}

function npm(args: readonly string[], folder: string): string {
  const program = process.env.npm_execpath;
  return program === undefined ? run('npm', args, folder) : run(process.execPath, [program, ...args], folder);
}

/** Tests and the rigs they share stay at home. */
function isSource(path: string): boolean {
  return !/\.test\.ts$|\/(?:rig|interop)$/.test(path);
}

function compile(folder: string): void {
  const compilerOptions = {
    noEmit: false,
    outDir: 'dist',
    rootDir: 'src',
    rewriteRelativeImportExtensions: true,
  };
  const config = { extends: '../../../tsconfig.json', compilerOptions, include: ['src/**/*.ts'] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  tool('typescript/bin/tsc', ['-p', folder], folder);
  for (const name of readdirSync(join(folder, 'dist'), { recursive: true, encoding: 'utf8' })) {
    const path = join(folder, 'dist', name);
    if (name.endsWith('.d.ts')) writeFileSync(path, nameJavaScript(readFileSync(path, 'utf8')));
  }
}

/** Copies the sources, compiles them beside the packages built before, and writes the published manifest. */
function build(home: string): Packed {
  const folder = join(stage, home.replace('/', '-'));
  const manifest = parseManifest(
    `${home}/package.json`,
    readFileSync(join(root, home, 'package.json'), 'utf8'),
  );
  cpSync(join(root, home, 'src'), join(folder, 'src'), { recursive: true, filter: isSource });
  if (existsSync(join(root, home, 'bin')))
    cpSync(join(root, home, 'bin'), join(folder, 'bin'), { recursive: true, filter: isSource });
  for (const name of ['LICENSE', 'README.md']) {
    const own = join(root, home, name);
    cpSync(existsSync(own) ? own : join(root, name), join(folder, name));
  }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(publish(manifest), null, 2));
  compile(folder);
  symlinkSync(folder, join(stage, 'node_modules', manifest.name));
  const [packed] = parseListing(
    npm(['pack', '--json', '--ignore-scripts', '--pack-destination', stage], folder),
  );
  if (packed === undefined) throw new Error(`npm pack gave nothing for ${home}`);
  const faults = faultsOf(packed.paths, packed.unpacked);
  if (faults.length > 0) throw new Error(`${manifest.name}: ${faults.join('; ')}`);
  return { home, folder, tarball: join(stage, packed.filename), manifest };
}

/** What `npm pack --json` says of each tarball. */
export function parseListing(json: string): { filename: string; unpacked: number; paths: string[] }[] {
  const value: unknown = JSON.parse(json);
  // npm before 12 gives a list, npm 12 gives an object by package name.
  const entries: unknown[] = Array.isArray(value) ? value : Object.values(Object(value));
  return entries.flatMap((entry) => {
    const { filename, unpackedSize, files } = Object(entry);
    if (typeof filename !== 'string' || typeof unpackedSize !== 'number' || !Array.isArray(files)) return [];
    return [{ filename, unpacked: unpackedSize, paths: files.map((file) => String(Object(file).path)) }];
  });
}

function lint({ tarball, manifest }: Packed): void {
  tool('publint/src/cli.js', ['run', '--strict', tarball], root);
  if (Object.keys(manifest.exports).some((subpath) => subpath !== './package.json'))
    tool('@arethetypeswrong/cli/dist/index.js', [tarball, '--profile', 'esm-only', '--no-color'], root);
}

function install(folder: string, packages: readonly string[]): void {
  npm(['install', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund', ...packages], folder);
}

/** The version of a development dependency of a package of this tree, as `name@version`. */
function pinned(home: string, name: string): string {
  const { devDependencies } = Object(JSON.parse(readFileSync(join(root, home, 'package.json'), 'utf8')));
  return `${name}@${Object(devDependencies)[name]}`;
}

/** Only the library and its own dependencies: a missing one, or a peer that is not optional, shows here. */
function useLibrary({ tarball, manifest }: Packed, folder: string): void {
  for (const file of consumer(manifest.name, Object.keys(manifest.exports)))
    writeFileSync(join(folder, file.path), file.text);
  // Peers that are needed to load a door: the contract suite, which is a test, draws its cases with one, and the stores on
  // servers stand on a driver each.
  const peers = ['fast-check', 'pg', 'ioredis'].map((name) => pinned('lib', name));
  install(folder, [tarball, pinned('.', '@types/node'), ...peers]);
  process.stdout.write(run(process.execPath, ['run.js'], folder));
  run(process.execPath, ['store.js'], folder);
  // Hono is loaded by whoever uses its adapter; the types of that adapter name it.
  install(folder, [pinned('lib', 'hono'), pinned('lib', '@types/pg')]);
  tool('typescript/bin/tsc', ['-p', folder], folder);
}

/** All packages together, as somebody who installs the command has them. */
function useCommand(packed: readonly Packed[], folder: string): void {
  const command = packed.find(({ manifest }) => manifest.bin !== undefined);
  if (command === undefined) return;
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ name: 'stranger', private: true, type: 'module' }),
  );
  install(
    folder,
    packed.map(({ tarball }) => tarball),
  );
  for (const name of Object.keys(command.manifest.bin ?? {}))
    process.stdout.write(run(join(folder, 'node_modules', '.bin', name), ['--version'], folder));
}

function main(): void {
  rmSync(stage, { recursive: true, force: true });
  mkdirSync(join(stage, 'node_modules'), { recursive: true });
  const elsewhere = mkdtempSync(join(tmpdir(), 'counterfoil-pack-'));
  try {
    const packed = homes.filter((home) => existsSync(join(root, home, 'src'))).map(build);
    for (const one of packed) lint(one);
    for (const name of ['library', 'command']) mkdirSync(join(elsewhere, name));
    const [library] = packed;
    if (library !== undefined) useLibrary(library, join(elsewhere, 'library'));
    useCommand(packed, join(elsewhere, 'command'));
    console.log(
      `packed and used: ${readdirSync(stage)
        .filter((name) => name.endsWith('.tgz'))
        .join(', ')}`,
    );
  } finally {
    rmSync(elsewhere, { recursive: true, force: true });
  }
}

if (process.argv[1] === import.meta.filename) main();
