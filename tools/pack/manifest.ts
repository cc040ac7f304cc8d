/**
 * The package.json that is published. In the tree `exports` point at the sources, which Node runs as they are;
 * a package below node_modules must hold JavaScript and declarations instead.
 */

/** A package.json as far as it is read here; members that are not named pass through. */
export type Manifest = {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly type: 'module';
  readonly exports: Readonly<Record<string, string>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly [member: string]: unknown;
};

/** An entry of the published `exports`. */
export type Door = { readonly types: string; readonly default: string };

/** Members that serve the tree only. */
const dropped: readonly string[] = [
  'devDependencies',
  'scripts',
  'private',
  'workspaces',
  'files',
  'exports',
];

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isTexts(value: unknown): value is Readonly<Record<string, string>> {
  return isRecord(value) && Object.values(value).every((item) => typeof item === 'string');
}

function isManifest(value: unknown): value is Manifest {
  if (!isRecord(value)) return false;
  const texts = ['name', 'version', 'description', 'license'].every(
    (member) => typeof value[member] === 'string',
  );
  const optional = ['bin', 'dependencies'].every(
    (member) => value[member] === undefined || isTexts(value[member]),
  );
  return texts && optional && value.type === 'module' && isTexts(value.exports);
}

/** Reads a package.json of the tree; throws when a member that is published is missing. */
export function parseManifest(path: string, text: string): Manifest {
  const value: unknown = JSON.parse(text);
  if (!isManifest(value))
    throw new TypeError(`${path} lacks a name, version, description, license, type or exports`);
  return value;
}

/** The built pair of a source file, or the path itself where nothing is built. */
export function doorOf(target: string): Door | string {
  const match = /^\.\/src\/(.+)\.ts$/.exec(target);
  return match === null ? target : { types: `./dist/${match[1]}.d.ts`, default: `./dist/${match[1]}.js` };
}

/** The manifest that goes into the tarball. */
export function publish(manifest: Manifest): Readonly<Record<string, unknown>> {
  const kept = Object.entries(manifest).filter(([member]) => !dropped.includes(member));
  const doors = Object.entries(manifest.exports).map(([subpath, target]) => [subpath, doorOf(target)]);
  const files = ['dist', ...(manifest.bin === undefined ? [] : ['bin'])];
  const exports = { ...Object.fromEntries(doors), './package.json': './package.json' };
  return { ...Object.fromEntries(kept), exports, files };
}
