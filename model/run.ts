/**
 * `npm run model`: runs the plan and says whether everything came out as expected.
 * Options: `--json`; `--write` writes what the operations may do into transitions.json, else a difference counts as a
 * failure; `--trail FLOW NAME` shows how one broken variant breaks its law. Exit 0 as expected, 1 not, 2 usage, 3 a
 * tool is missing.
 */
import { availableParallelism } from 'node:os';
import { pathToFileURL } from 'node:url';
import { plan, type Search } from './plan.ts';
import { type Result, runSearch, trailOf } from './spin.ts';
import { findTools, type Tools } from './tools.ts';
import { loadRelation, missing, type Relation, relationOf, saveRelation, sizes } from './transitions.ts';

/** A search may need half a gigabyte: more at once would trade cores for swap. */
const maxWorkers = 4;

/** Runs all searches, as many at once as there are cores, and keeps their order. */
export async function runAll(searches: readonly Search[], tools: Tools): Promise<readonly Result[]> {
  const results = new Map<number, Result>();
  const waiting = searches.map((search, index) => ({ search, index }));
  const worker = async (): Promise<void> => {
    for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) {
      results.set(job.index, await runSearch(job.search, tools));
    }
  };
  const workers = Math.min(maxWorkers, availableParallelism());
  await Promise.all(Array.from({ length: workers }, worker));
  return searches.flatMap((_, index) => results.get(index) ?? []);
}

/** The results as a table, one search a line. */
export function tableOf(results: readonly Result[]): string {
  const head = ['flow', 'search', 'states', 'depth', 'MB', 'seconds', 'verdict', ''];
  const rows = results.map((result) => [
    result.search.flow,
    result.search.name,
    result.states.toLocaleString('en'),
    String(result.depth),
    String(Math.round(result.memoryMb)),
    result.seconds.toFixed(2),
    result.verdict,
    result.asExpected ? 'as expected' : 'NOT AS EXPECTED',
  ]);
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => pad(cell, widths[column] ?? 0, column >= 2 && column <= 5))
      .join('  ')
      .trimEnd();
  return [head, ...rows].map(line).join('\n');
}

function pad(cell: string, width: number, right: boolean): string {
  return right ? cell.padStart(width) : cell.padEnd(width);
}

type Around = { readonly seconds: number; readonly stale: readonly string[] };

function jsonOf(results: readonly Result[], tools: Tools, { seconds, stale }: Around): string {
  const runs = results.map(({ search, transitions, ...result }) => ({
    flow: search.flow,
    name: search.name,
    defines: search.defines,
    expect: search.expect === 'fails' ? `breaks ${search.law}` : search.expect,
    ...result,
    transitions: transitions.length,
  }));
  const asExpected = results.every((result) => result.asExpected) && stale.length === 0;
  return JSON.stringify({ asExpected, spin: tools.spinVersion, seconds, stale, runs }, null, 2);
}

async function main(args: readonly string[]): Promise<number> {
  const [first, flow, name] = args;
  const usage =
    first === undefined ||
    ((first === '--json' || first === '--write') && args.length === 1) ||
    (first === '--trail' && args.length === 3);
  if (!usage) {
    console.error('usage: node model/run.ts [--json | --write | --trail FLOW NAME]');
    return 2;
  }
  const tools = findTools();
  if ('missing' in tools) {
    console.error(`The model needs ${tools.missing.join(' and ')}. Run:\n  ${tools.line}`);
    return 3;
  }
  if (first === '--trail') return trail(flow, name, tools);
  const startedMs = performance.now();
  const results = await runAll(plan, tools);
  const seconds = Math.round((performance.now() - startedMs) / 100) / 10;
  const failed = results.filter((result) => !result.asExpected).length;
  const relation = relationOf(results.flatMap(({ transitions }) => transitions));
  if (first === '--write' && failed === 0) await saveRelation(relation);
  const stale = first === '--write' ? [] : await differences(relation);
  if (first === '--json') console.log(jsonOf(results, tools, { seconds, stale }));
  else {
    console.log(tableOf(results));
    console.log(
      `\n${results.length} searches with spin ${tools.spinVersion} in ${seconds} s, ${failed} not as expected`,
    );
    console.log(transitionsLine(relation, stale));
  }
  return failed === 0 && stale.length === 0 ? 0 : 1;
}

/** What transitions.json lacks, and what it has that no search has explored. */
async function differences(relation: Relation): Promise<readonly string[]> {
  const kept = await loadRelation();
  const lacks = missing(kept, relation).map((change) => `lacks ${change}`);
  const unseen = missing(relation, kept).map((change) => `has, and nothing explored ${change}`);
  return [...lacks, ...unseen];
}

/** Enough of a stale file to see what changed. */
const shown = 20;

function transitionsLine(relation: Relation, stale: readonly string[]): string {
  const counts = Object.entries(sizes(relation))
    .map(([flow, count]) => `${flow} ${count}`)
    .join(', ');
  if (stale.length === 0) return `transitions: ${counts}`;
  const lines = stale.slice(0, shown).map((line) => `  ${line}`);
  const head = `transitions.json is stale in ${stale.length} places; npm run model -- --write`;
  return [head, ...lines].join('\n');
}

async function trail(flow: string | undefined, name: string | undefined, tools: Tools): Promise<number> {
  const searches = plan.filter(
    (search) => search.flow === flow && search.name === name && search.expect === 'fails',
  );
  if (searches.length === 0) {
    const known = plan
      .filter((search) => search.expect === 'fails')
      .map((search) => `  ${search.flow} '${search.name}'`);
    console.error(`no such variant; there are\n${[...new Set(known)].join('\n')}`);
    return 2;
  }
  for (const search of searches) console.log((await trailOf(search, tools)).join('\n'));
  return 0;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  process.exitCode = await main(process.argv.slice(2));
