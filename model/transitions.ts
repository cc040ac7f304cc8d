/**
 * The model as data: what each operation may do to a record, per flow, as the searches that hold have explored it.
 * `npm run model -- --write` writes transitions.json; a run without it fails when the file says something else. The
 * simulator holds every change of a real record against the file.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Parts, pictureOf } from './picture.ts';
import type { Flow } from './plan.ts';

/** By flow, operation and picture before: the pictures after, with `+owner` where a new right was given. */
export type Relation = { readonly [flow: string]: { readonly [operation: string]: Pictures } };
type Pictures = { readonly [before: string]: readonly string[] };

/** One change of one record that a search has explored. */
export type Transition = {
  readonly flow: Flow;
  readonly operation: string;
  readonly before: string;
  readonly after: string;
};

export const transitionsFile: string = join(import.meta.dirname, 'transitions.json');

/** The picture after an operation, with what a picture alone does not show. */
export function afterOf(
  picture: string,
  how: { readonly newOwner: boolean; readonly otherRequest: boolean },
): string {
  // A superseded payment is answered from the other one for whatever request it was last presented with.
  const otherRequest = how.otherRequest && picture !== 'superseded';
  return `${picture}${how.newOwner ? ' +owner' : ''}${otherRequest ? ' +request' : ''}`;
}

/** Reads what a verifier printed; `verifier` is its source, which knows the names of the model's words. */
export function readTransitions(flow: Flow, output: string, verifier: string): readonly Transition[] {
  const words = wordsOf(verifier);
  const lines = output.matchAll(/^transition: (\w+) (\d+) (\d+) ([01]) ([01])$/gm);
  const found = new Map<string, Transition>();
  for (const [, operation = '', was = '', is = '', owned, other] of lines) {
    const before = pictureOf(decode(Number(was), words));
    const how = { newOwner: owned === '1', otherRequest: other === '1' };
    const after = afterOf(pictureOf(decode(Number(is), words)), how);
    if (before !== after) found.set([operation, before, after].join('>'), { flow, operation, before, after });
  }
  return [...found.values()];
}

/** The relation, everything in one order, so that equal relations are equal text. */
export function relationOf(transitions: Iterable<Transition>): Relation {
  const tree = new Map<string, Set<string>>();
  for (const { flow, operation, before, after } of transitions) {
    const path = JSON.stringify([flow, operation, before]);
    const afters = tree.get(path) ?? new Set();
    tree.set(path, afters.add(after));
  }
  const relation: Record<string, Record<string, Record<string, readonly string[]>>> = {};
  for (const [path, afters] of [...tree].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const [flow = '', operation = '', before = ''] = pathOf(path);
    relation[flow] ??= {};
    const operations = relation[flow];
    operations[operation] ??= {};
    const pictures = operations[operation];
    pictures[before] = [...afters].sort();
  }
  return relation;
}

/** How many changes a relation allows, per flow. */
export function sizes(relation: Relation): Readonly<Record<string, number>> {
  const count = (pictures: Pictures): number => Object.values(pictures).flat().length;
  const sum = (operations: Relation[string]): number =>
    Object.values(operations).reduce((total, pictures) => total + count(pictures), 0);
  return Object.fromEntries(Object.entries(relation).map(([flow, operations]) => [flow, sum(operations)]));
}

/** One change as a line: `upfront take: absent -> sending#1 …`. */
export function transitionText({
  flow,
  operation,
  before,
  after,
}: Omit<Transition, 'flow'> & { readonly flow: string }): string {
  return `${flow} ${operation}: ${before} -> ${after}`;
}

/** Changes that the one relation has and the other has not. */
export function missing(from: Relation, has: Relation): readonly string[] {
  return Object.entries(has).flatMap(([flow, operations]) =>
    Object.entries(operations).flatMap(([operation, pictures]) =>
      Object.entries(pictures).flatMap(([before, afters]) =>
        afters
          .filter((after) => from[flow]?.[operation]?.[before]?.includes(after) !== true)
          .map((after) => transitionText({ flow, operation, before, after })),
      ),
    ),
  );
}

/** The committed relation; throws where the file is not one. */
export async function loadRelation(): Promise<Relation> {
  return parseRelation(JSON.parse(await readFile(transitionsFile, 'utf8')));
}

export async function saveRelation(relation: Relation): Promise<void> {
  await writeFile(transitionsFile, `${JSON.stringify(relation, null, 1)}\n`);
}

function parseRelation(value: unknown): Relation {
  const branch = <T>(at: unknown, leaf: (at: unknown) => T): Record<string, T> => {
    if (typeof at !== 'object' || at === null || Array.isArray(at))
      throw new TypeError('transitions.json is no relation; npm run model -- --write makes one');
    return Object.fromEntries(Object.entries(at).map(([name, inner]) => [name, leaf(inner)]));
  };
  const pictures = (at: unknown): readonly string[] => {
    if (!Array.isArray(at)) throw new TypeError('transitions.json: a list of pictures is missing');
    return at.map(String);
  };
  return branch(value, (flow) => branch(flow, (operation) => branch(operation, pictures)));
}

function pathOf(path: string): readonly string[] {
  const parts: unknown = JSON.parse(path);
  return Array.isArray(parts) ? parts.map(String) : [];
}

/** The numbers that spin gave to the names in `mtype`. */
function wordsOf(verifier: string): ReadonlyMap<number, string> {
  const cases = verifier.matchAll(/case (\d+): Printf\("(\w+)"\); return;/g);
  return new Map([...cases].map(([, number, name = '']) => [Number(number), name]));
}

const moneys: ReadonlyMap<string, Parts['money']> = new Map([
  ['NONE', 'none'],
  ['SENDING', 'sending'],
  ['UNKNOWN', 'unknown'],
  ['HELD', 'held'],
  ['SETTLED', 'settled'],
  ['REFUSED', 'refused'],
  ['VOIDED', 'voided'],
  ['REVERSED', 'reversed'],
]);
const works: ReadonlyMap<string, Parts['work']> = new Map([
  ['IDLE', 'idle'],
  ['RUNNING', 'running'],
  ['DONE', 'done'],
  ['FAILED', 'failed'],
  ['DEAD', 'dead'],
]);
const phases: ReadonlyMap<string, Parts['phase']> = new Map([
  ['PAY', 'pay'],
  ['CHARGE', 'charge'],
  ['VOID', 'void'],
]);
const leases: readonly Parts['lease'][] = ['over', 'grace', 'valid'];

/** `code_of` of transitions.pml, backwards. */
function decode(code: number, words: ReadonlyMap<number, string>): Parts | undefined {
  let rest = code;
  const take = (bits: number): number => {
    const value = rest % 2 ** bits;
    rest = Math.floor(rest / 2 ** bits);
    return value;
  };
  const word = <T>(names: ReadonlyMap<string, T>): T => {
    const name = words.get(take(5)) ?? '';
    const known = names.get(name);
    if (known === undefined) throw new Error(`the verifier said ${name || 'a word without a name'}`);
    return known;
  };
  if (take(1) === 0) return undefined;
  const [superseded, handed, doubted, proven, kept, owned] = Array.from({ length: 6 }, () => take(1) === 1);
  const lease = leases[take(2)] ?? 'over';
  const attempts = take(2);
  const work = word(works);
  const sends = take(2);
  const phase = word(phases);
  const money = word(moneys);
  return {
    money,
    phase,
    sends,
    proven: proven === true,
    work,
    attempts,
    lease,
    owned: owned === true,
    kept: kept === true,
    doubted: doubted === true,
    handed: handed === true,
    superseded: superseded === true,
  };
}
