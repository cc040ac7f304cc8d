/**
 * One search: spin writes a verifier in C, the compiler builds it, the verifier runs. A search counts only when it
 * was complete; what it printed is the only evidence.
 */
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Search } from './plan.ts';
import type { Tools } from './tools.ts';
import { readTransitions, type Transition } from './transitions.ts';

export type Result = {
  readonly search: Search;
  readonly asExpected: boolean;
  /** What spin showed, in words. */
  readonly verdict: string;
  readonly states: number;
  readonly depth: number;
  readonly memoryMb: number;
  readonly seconds: number;
  readonly reached: readonly string[];
  /** What a search that should hold has seen the operations do. */
  readonly transitions: readonly Transition[];
};

/** Ten times what the largest search needs; it hits a model that has grown out of hand. */
const searchMs = 120_000;
const memoryMb = 3_000;
/** The deepest search goes some hundred steps; the verifier says so when this is too small. */
const maxDepth = 20_000;
const maxOutput = 4 * 1024 * 1024;

/** Runs one search in a folder of its own, which is removed. */
export async function runSearch(search: Search, tools: Tools): Promise<Result> {
  const folder = await build(search, tools);
  try {
    const cycles = search.expect === 'progress' ? ['-l'] : [];
    const output = await call(join(folder, 'pan'), [`-m${maxDepth}`, '-n', ...cycles], folder);
    const result = judge(search, output);
    if (search.expect !== 'holds') return result;
    const verifier = await readFile(join(folder, 'pan.c'), 'utf8');
    return { ...result, transitions: readTransitions(search.flow, output, verifier) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The shortest way into a broken law, as the verifier replays it: one line a step, the record before each. */
export async function trailOf(search: Search, tools: Tools): Promise<readonly string[]> {
  const folder = await build(search, tools);
  try {
    await call(join(folder, 'pan'), [`-m${maxDepth}`, '-n', '-i'], folder);
    const output = await call(join(folder, 'pan'), ['-r', '-n'], folder);
    return output.split('\n').filter((line) => /^ {2}[a-z].* payment \d|^violated: /.test(line));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Reads a verifier's output; nothing but a complete search without errors makes a law hold. */
export function judge(search: Search, output: string): Result {
  const reached = [
    ...new Set([...output.matchAll(/^reached: (\w+)$/gm)].map((match) => match[1] ?? '')),
  ].sort();
  const figures = {
    search,
    states: numberIn(output, /(\d+) states, stored/),
    depth: numberIn(output, /depth reached (\d+)/),
    memoryMb: numberIn(output, /([\d.]+)\s+total actual memory usage/),
    seconds: numberIn(output, /elapsed time ([\d.]+) seconds/),
    reached,
    transitions: [],
  };
  const found = finding(output);
  if (search.expect === 'fails') {
    return { ...figures, asExpected: found === search.law, verdict: `breaks ${found ?? 'nothing'}` };
  }
  if (found !== undefined) return { ...figures, asExpected: false, verdict: `breaks ${found}` };
  if (search.expect === 'progress') return { ...figures, asExpected: true, verdict: 'no circles' };
  const absent = search.reaches.filter((name) => !reached.includes(name));
  if (absent.length > 0) {
    return { ...figures, asExpected: false, verdict: `never reaches ${absent.join(', ')}` };
  }
  return { ...figures, asExpected: true, verdict: 'holds' };
}

/** The first thing that speaks against a clean, complete search. */
function finding(output: string): string | undefined {
  const law = /^violated: (\w+)$/m.exec(output)?.[1];
  if (law !== undefined) return law;
  if (/max search depth too small/.test(output)) return 'off: too deep';
  if (/out of memory|MEMLIM bound|reached -DMEMLIM/i.test(output)) return 'off: out of memory';
  const error = /^pan:\d+: (.*)$/m.exec(output)?.[1];
  if (error !== undefined) return error;
  if (!/errors: 0/.test(output) || /Search not completed/.test(output)) return 'off: not completed';
  return undefined;
}

async function build(search: Search, tools: Tools): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'counterfoil-model-'));
  for (const name of await readdir(import.meta.dirname)) {
    if (name.endsWith('.pml')) await cp(join(import.meta.dirname, name), join(folder, name));
  }
  const only = search.expect === 'fails' ? { ONLY: search.law } : {};
  const data = search.expect === 'holds' ? { TRANSITIONS: 1 } : {};
  const defines = Object.entries({ ...search.defines, ...only, ...data }).map(
    ([name, value]) => `-D${name}=${value}`,
  );
  await call(tools.spin, [`-P${tools.cc} -E -x c`, '-a', ...defines, `${search.flow}.pml`], folder);
  // A variant that breaks ends early, so it is built fast; a search that holds is built to run fast.
  const effort = search.expect === 'fails' ? '-O0' : '-O1';
  const kind = search.expect === 'progress' ? '-DNP' : '-DSAFETY';
  const options = [effort, '-w', kind, '-DCOLLAPSE', `-DMEMLIM=${memoryMb}`];
  await call(tools.cc, [...options, '-o', 'pan', 'pan.c'], folder);
  return folder;
}

/** Runs one program to its end; a verifier's exit code says nothing, a compiler's does. */
function call(file: string, args: readonly string[], cwd: string): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(file, args, { cwd, timeout: searchMs, maxBuffer: maxOutput }, (error, stdout, stderr) => {
      const output = `${stdout}${stderr}`;
      if (error === null || file.endsWith('/pan')) resolve(output);
      else reject(new Error(`${file} ${args.join(' ')} failed:\n${output}`));
    });
  });
}

function numberIn(output: string, pattern: RegExp): number {
  return Number(pattern.exec(output)?.[1] ?? Number.NaN);
}
