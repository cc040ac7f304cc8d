/**
 * What is sold, found by method and target, for a gate before a whole application. The framework behind the gate reads
 * the target once more and by its own rules, so the question is not which route a target means, but which routes any
 * server could take it for: one of them is the answer, two are a refusal, and only a target that no reading takes
 * anywhere near a route is free (H04, H05).
 */
import type { Refusal } from '../problem.ts';
import { covers, overlaps, type Pattern, parsePattern } from './catalogue/pattern.ts';
import { readingsOf } from './catalogue/readings.ts';
import { readTarget } from './catalogue/target.ts';
import { createTrie, type Match, placeOf, type Trie, walk } from './catalogue/trie.ts';

export { checkPattern, fillPattern } from './catalogue/pattern.ts';

/** What a catalogue must know of a route; `path` as {@link parsePattern} has it, `name` for messages. */
export type Listed = { readonly method: string; readonly path: string; readonly name: string };

export type CatalogueOptions = {
  /** Path patterns such as `/api`: under them everything that is neither priced nor free is refused (S5). */
  readonly closed?: readonly string[];
  /** `GET /api/health`: let through, though closed, or priced for another method or by a wider pattern. */
  readonly free?: readonly string[];
};

export type Found<R> =
  | { readonly kind: 'route'; readonly route: R }
  | { readonly kind: 'free' }
  /** `allow` lists the methods that the path has, for a 405. */
  | { readonly kind: 'refused'; readonly refusal: Refusal; readonly allow?: readonly string[] };

export type Catalogue<R> = { readonly find: (method: string, target: string) => Found<R> };

/** What stands at one pattern. */
type Place<R> = {
  /** By method, with the number of the declaration. */
  readonly routes: Map<string, { readonly route: R; readonly order: number }>;
  readonly free: Set<string>;
  closed: boolean;
};

type Entry<R> = { readonly route: R; readonly pattern: Pattern };

/** Start-up compares every two routes of a method. */
const maxRoutes = 10_000;

/**
 * Makes a catalogue. Where several patterns match, the route declared first has the request, as in Express and Hono:
 * declare in the order in which the framework does. HEAD belongs to GET, OPTIONS to every method of a path. TypeError
 * for a pattern that is none, and for a route that no request could ever reach.
 */
export function createCatalogue<R extends Listed>(
  routes: readonly R[],
  options: CatalogueOptions = {},
): Catalogue<R> {
  for (const name of Object.keys(options)) {
    if (name !== 'closed' && name !== 'free') throw new TypeError(`A catalogue has no option "${name}".`);
  }
  if (routes.length > maxRoutes) throw new TypeError(`A catalogue has at most ${maxRoutes} routes.`);
  const entries = routes.map((route): Entry<R> => ({ route, pattern: patternOf(route) }));
  checkReach(entries);
  const trie = createTrie<Place<R>>(() => ({ routes: new Map(), free: new Set(), closed: false }));
  for (const [order, { route, pattern }] of entries.entries()) {
    placeOf(trie, pattern).routes.set(route.method, { route, order });
  }
  for (const text of options.free ?? []) {
    const { method, pattern } = parseFree(text, entries);
    placeOf(trie, pattern).free.add(method);
  }
  for (const prefix of options.closed ?? []) placeOf(trie, parseClosed(prefix)).closed = true;
  return { find: (method, target) => find(trie, method.toUpperCase(), target) };
}

function patternOf(route: Listed): Pattern {
  const { method, name } = route;
  if (!/^[A-Z]+$/.test(method) || method === 'HEAD' || method === 'OPTIONS') {
    throw new TypeError(`The route ${name} cannot be sold for the method "${method}".`);
  }
  try {
    return parsePattern(route.path);
  } catch (fault) {
    const why = fault instanceof TypeError ? fault.message : '';
    throw new TypeError(`The route ${name} cannot be found by its path. ${why}`, { cause: fault });
  }
}

function checkReach<R extends Listed>(entries: readonly Entry<R>[]): void {
  const earlier = new Map<string, Entry<R>[]>();
  for (const entry of entries) {
    const before = earlier.get(entry.route.method) ?? [];
    const shadow = before.find(({ pattern }) => covers(pattern, entry.pattern));
    if (shadow !== undefined) {
      const [one, other] = [nameOf(entry), nameOf(shadow)];
      throw new TypeError(
        `The route ${one} can never be reached: ${other}, declared before it, has all its requests.`,
      );
    }
    before.push(entry);
    earlier.set(entry.route.method, before);
  }
}

function nameOf<R extends Listed>({ route, pattern }: Entry<R>): string {
  const place = `${route.method} ${pattern.path}`;
  return route.name === place ? place : `${route.name} (${place})`;
}

/** An exception to a wider priced pattern may be free; what could be either may not. */
function parseFree<R extends Listed>(
  text: string,
  entries: readonly Entry<R>[],
): { readonly method: string; readonly pattern: Pattern } {
  const [, method, path] = /^([A-Z]+) (\/.*)$/.exec(text) ?? [];
  if (method === undefined || path === undefined) {
    throw new TypeError(`A free entry is written as "GET /path", not "${text}".`);
  }
  if (method === 'HEAD' || method === 'OPTIONS') {
    throw new TypeError(`"${text}" is not needed: HEAD is free with GET, and OPTIONS with any method.`);
  }
  const pattern = parsePattern(path);
  for (const entry of entries) {
    if (entry.route.method !== method || !overlaps(pattern, entry.pattern)) continue;
    if (covers(pattern, entry.pattern)) {
      throw new TypeError(`The free entry "${text}" would give the route ${nameOf(entry)} away.`);
    }
    if (!covers(entry.pattern, pattern)) {
      throw new TypeError(
        `The free entry "${text}" and the route ${nameOf(entry)} share some paths; say which of the two has them.`,
      );
    }
  }
  return { method, pattern };
}

function parseClosed(prefix: string): Pattern {
  const { segments } = parsePattern(prefix);
  if (segments.some(({ kind }) => kind === 'rest')) {
    throw new TypeError(`The closed prefix "${prefix}" is written without its rest.`);
  }
  return { path: prefix, segments: [...segments, { kind: 'rest', name: '*' }] };
}

/** What any server could make of a request. */
type Outcomes<R> = {
  readonly routes: Set<R>;
  free: boolean;
  readonly allow: Set<string>;
  closed: boolean;
};

function find<R>(trie: Trie<Place<R>>, method: string, target: string): Found<R> {
  const received = readTarget(target);
  if (received.kind === 'unreadable') return refuseTarget('This is not a request target.');
  if (received.kind === 'server') {
    return method === 'OPTIONS' ? { kind: 'free' } : refuseTarget('Only OPTIONS has this target.');
  }
  const readings = readingsOf(received.path);
  if (readings === undefined) return refuseTarget('The target can be read in too many ways.');
  const outcomes: Outcomes<R> = { routes: new Set(), free: false, allow: new Set(), closed: false };
  for (const reading of readings) collect(walk(trie, reading).matches, method, outcomes);
  return decide(outcomes, received.malformed);
}

/** What a place is to a method. */
type Meaning<R> =
  | { readonly kind: 'free' | 'closed' }
  | { readonly kind: 'route'; readonly route: R }
  | { readonly kind: 'other'; readonly methods: readonly string[] };

/** `rank` is the order in which a framework would come by it. */
type Candidate<R> = { readonly needs: number; readonly rank: number; readonly meaning: Meaning<R> };

/** Free entries first, then the routes as declared, then these. */
const otherRank = maxRoutes + 1;
const closedRank = maxRoutes + 2;

/**
 * Adds what one reading may come to. A candidate is out of the question if a better one matches on every server on
 * which it does: then the other is always there first.
 */
function collect<R>(matches: readonly Match<Place<R>>[], method: string, outcomes: Outcomes<R>): void {
  const candidates = matches.flatMap((match) => candidatesOf(match, method));
  if (candidates.length > 1) candidates.sort((one, other) => one.rank - other.rank);
  for (const [at, { needs, meaning }] of candidates.entries()) {
    const isForestalled = candidates.slice(0, at).some((better) => (better.needs & ~needs) === 0);
    if (!isForestalled) add(outcomes, meaning);
  }
}

function add<R>(outcomes: Outcomes<R>, meaning: Meaning<R>): void {
  switch (meaning.kind) {
    case 'free':
      outcomes.free = true;
      break;
    case 'route':
      outcomes.routes.add(meaning.route);
      break;
    case 'other':
      for (const name of meaning.methods) outcomes.allow.add(name);
      break;
    case 'closed':
      outcomes.closed = true;
      break;
    default:
      meaning satisfies never;
  }
}

function candidatesOf<R>({ place, needs }: Match<Place<R>>, method: string): readonly Candidate<R>[] {
  const { routes, free, closed } = place;
  const candidates: Candidate<R>[] = [];
  if (closed) candidates.push({ needs, rank: closedRank, meaning: { kind: 'closed' } });
  const asked = method === 'HEAD' ? 'GET' : method;
  const sold = asked === 'OPTIONS' ? firstOf(routes) : routes.get(asked);
  const isFree = free.has(asked) || (asked === 'OPTIONS' && routes.size === 0 && free.size > 0);
  if (isFree) candidates.push({ needs, rank: 0, meaning: { kind: 'free' } });
  else if (sold !== undefined)
    candidates.push({ needs, rank: sold.order + 1, meaning: { kind: 'route', route: sold.route } });
  else if (routes.size > 0)
    candidates.push({ needs, rank: otherRank, meaning: { kind: 'other', methods: methodsOf(place) } });
  return candidates;
}

function firstOf<T>(known: ReadonlyMap<string, T>): T | undefined {
  for (const value of known.values()) return value;
  return undefined;
}

function methodsOf<R>({ routes, free }: Place<R>): readonly string[] {
  return [...routes.keys(), ...free].flatMap((name) => (name === 'GET' ? ['GET', 'HEAD'] : [name]));
}

function decide<R>({ routes, free, allow, closed }: Outcomes<R>, malformed: boolean): Found<R> {
  const [route] = routes;
  if (malformed && (route !== undefined || allow.size > 0 || closed)) {
    return refuseTarget('The target has escapes or characters that servers read differently.');
  }
  if (routes.size + (free ? 1 : 0) + (allow.size > 0 ? 1 : 0) > 1) {
    return refuseTarget('Servers take this target for different routes.');
  }
  if (route !== undefined) return { kind: 'route', route };
  if (allow.size > 0) return refuseMethod([...allow, 'OPTIONS'].sort());
  return closed ? { kind: 'refused', refusal: { code: 'not_sold' } } : { kind: 'free' };
}

function refuseTarget<R>(detail: string): Found<R> {
  return { kind: 'refused', refusal: { code: 'request_malformed', fields: ['target'], detail } };
}

/** Nothing of the payment was looked at, and the same method will be refused again. */
function refuseMethod<R>(allow: readonly string[]): Found<R> {
  const detail = `This path has ${allow.join(', ')}.`;
  return {
    kind: 'refused',
    refusal: { code: 'method_not_allowed', detail },
    allow,
  };
}
