/**
 * Runs every *.test.ts of the project in one process, as node:test does with isolation off, and fails where
 * node:test would not: when nothing was found, when fewer tests ran than the floor, when the tests leave
 * something running. `node tools/test.ts [folder or file]... [--at-least N] [--name pattern]
 * [--linger ms]`.
 */
import { readdirSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { parseArgs } from 'node:util';

const root = resolve(import.meta.dirname, '..');
/** Where tests live; each is searched at any depth. */
const homes: readonly string[] = ['lib', 'apps', 'bench', 'model', 'sim', 'torture', 'tools'];
/** Folders that hold copies or products. */
const skipped: ReadonlySet<string> = new Set(['node_modules', 'dist', '.counterfoil']);
/** One test may take this long: the slowest boot a chain and wait for leases; a hang must not eat the run. */
const testTimeoutMs = 180_000;
/** How long the process may go on with no test pending: a closing socket or a loading file needs some, a leak never ends. */
const lingerMs = 30_000;

/** Paths of the test files below `folder`, sorted, so that every machine runs them in the same order. */
export function find(folder: string): string[] {
  const stat = statSync(folder, { throwIfNoEntry: false });
  if (stat === undefined) return [];
  if (stat.isFile()) return folder.endsWith('.test.ts') ? [folder] : [];
  return readdirSync(folder)
    .filter((name) => !skipped.has(name))
    .sort()
    .flatMap((name) => find(join(folder, name)));
}

/** How a run went, and what was asked of it. */
export type Tally = {
  readonly files: number;
  readonly passed: number;
  readonly failed: number;
  readonly floor: number;
};

/** The reason why a run does not count as a success, or undefined. */
export function judge(tally: Tally): string | undefined {
  if (tally.files === 0) return 'no test file was found';
  if (tally.passed + tally.failed === 0) return 'no test ran';
  if (tally.failed > 0) return `${tally.failed} of ${tally.passed + tally.failed} failed`;
  if (tally.passed < tally.floor)
    return `${tally.passed} tests passed, at least ${tally.floor} were expected`;
  return undefined;
}

function say(reason: string): void {
  console.error(`test: ${reason}`);
  process.exitCode = 1;
}

/**
 * node:test waits for ever while a test's leftover (a server, a timer, a child) keeps the process alive. The
 * watch counts pending tests and ends the run when none is pending for too long.
 */
function watchForLeaks(stream: ReturnType<typeof run>, limitMs: number): void {
  let pending = 0;
  let timer: NodeJS.Timeout | undefined;
  // A test may wait for a timer that keeps no process alive; Node 22 would end the whole run there.
  const awake = setInterval(() => {}, limitMs).unref();
  const rearm = (): void => {
    if (pending > 0) awake.ref();
    else awake.unref();
    clearTimeout(timer);
    timer = pending > 0 ? undefined : setTimeout(stop, limitMs).unref();
  };
  const stop = (): void => {
    say(`the tests left something running: ${process.getActiveResourcesInfo().join(', ')}`);
    process.exit();
  };
  stream.on('test:enqueue', () => {
    pending += 1;
    rearm();
  });
  stream.on('test:complete', () => {
    pending -= 1;
    rearm();
  });
}

function main(): void {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      'at-least': { type: 'string', default: '0' },
      linger: { type: 'string', default: String(lingerMs) },
      name: { type: 'string' },
    },
  });
  const files = (positionals.length > 0 ? positionals : homes).flatMap((home) => find(resolve(root, home)));
  if (files.length === 0) {
    say('no test file was found');
    return;
  }
  console.error(`test: ${files.length} files under Node ${process.versions.node}`);
  process.chdir(root);
  const names = files.map((file) => relative(root, file));
  const stream = run({
    files: names,
    isolation: 'none',
    timeout: testTimeoutMs,
    ...(values.name === undefined ? {} : { testNamePatterns: [values.name] }),
  });
  watchForLeaks(stream, Number(values.linger));
  // A file without a test is reported by node:test as a test of its own that passes.
  stream.on('test:pass', ({ name }) => {
    if (names.includes(name)) say(`${name} holds no test`);
  });
  stream.on('test:summary', ({ counts }) => {
    const failed = counts.tests - counts.passed;
    const floor = Number(values['at-least']);
    const reason = judge({ files: files.length, passed: counts.passed, failed, floor });
    if (reason !== undefined) say(reason);
  });
  stream.compose(spec).pipe(process.stdout);
}

if (process.argv[1] === import.meta.filename) main();
