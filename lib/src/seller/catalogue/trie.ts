/**
 * A tree of path segments: what a path costs to look up depends on its depth, not on the number of patterns. A path
 * is walked once, with all the nodes that it may have reached so far, so that nothing is ever tried again.
 */
import type { Pattern } from './pattern.ts';

/** A place is what stands at the end of one pattern. */
type Node<Place> = {
  /** By the segment in lower case. */
  readonly literals: Map<string, { readonly spelling: string; readonly node: Node<Place> }>;
  param: Node<Place> | undefined;
  end: Place | undefined;
  rest: Place | undefined;
};

export type Trie<Place> = { readonly root: Node<Place>; readonly make: (pattern: Pattern) => Place };

export type Match<Place> = {
  readonly place: Place;
  /** The liberties that a server must take for this match, one bit each; 0 is a match for every server. */
  readonly needs: number;
};

export type Walk<Place> = {
  readonly matches: readonly Match<Place>[];
  /** How many nodes were looked at. */
  readonly visited: number;
};

/** The liberty to ignore a slash at the end of the path. */
const trailingSlash = 1 << 30;
/** The liberty to match a rest with nothing. */
const emptyRest = 1 << 29;

/** An empty tree; `make` gives the place of a pattern that has none yet. */
export function createTrie<Place>(make: (pattern: Pattern) => Place): Trie<Place> {
  return { root: createNode(), make };
}

function createNode<Place>(): Node<Place> {
  return { literals: new Map(), param: undefined, end: undefined, rest: undefined };
}

/** The place of a pattern; TypeError where a literal was spelled in another letter case before. */
export function placeOf<Place>(trie: Trie<Place>, pattern: Pattern): Place {
  let node = trie.root;
  for (const segment of pattern.segments) {
    if (segment.kind === 'rest') {
      node.rest ??= trie.make(pattern);
      return node.rest;
    }
    if (segment.kind === 'literal') {
      node = literalOf(node, segment, pattern);
    } else {
      node.param ??= createNode();
      node = node.param;
    }
  }
  node.end ??= trie.make(pattern);
  return node.end;
}

function literalOf<Place>(
  node: Node<Place>,
  { text, key }: { readonly text: string; readonly key: string },
  pattern: Pattern,
): Node<Place> {
  const known = node.literals.get(key);
  if (known === undefined) {
    const made = createNode<Place>();
    node.literals.set(key, { spelling: text, node: made });
    return made;
  }
  if (known.spelling !== text) {
    throw new TypeError(
      `The path "${pattern.path}" writes "${text}" where another writes "${known.spelling}"; many servers see no difference.`,
    );
  }
  return known.node;
}

type State<Place> = { readonly node: Node<Place>; readonly needs: number };

/** Every place whose pattern a path matches for at least one server. The path starts with a slash. */
export function walk<Place>(trie: Trie<Place>, path: string): Walk<Place> {
  const segments = path.split('/').slice(1);
  const slash = segments.at(-1) === '' ? trailingSlash : 0;
  if (slash !== 0) segments.pop();
  // `/` itself has no slash too much.
  const loose = segments.length === 0 ? 0 : slash;
  const matches: Match<Place>[] = [];
  let states: readonly State<Place>[] = [{ node: trie.root, needs: 0 }];
  let visited = 1;
  for (const [at, segment] of segments.entries()) {
    const next: State<Place>[] = [];
    const folded = inOneCase(segment);
    for (const state of states) {
      if (state.node.rest !== undefined) matches.push({ place: state.node.rest, needs: state.needs });
      step(state, { text: segment, folded, bit: 1 << at }, next);
    }
    states = next;
    visited += states.length;
    if (states.length === 0) break;
  }
  for (const { node, needs } of states) {
    if (node.end !== undefined) matches.push({ place: node.end, needs: needs | loose });
    if (node.rest !== undefined) matches.push({ place: node.rest, needs: needs | emptyRest });
  }
  return { matches, visited };
}

/** An empty segment is neither a literal nor a parameter anywhere. */
function step<Place>(
  { node, needs }: State<Place>,
  segment: { readonly text: string; readonly folded: string; readonly bit: number },
  next: State<Place>[],
): void {
  if (segment.text === '') return;
  const literal = node.literals.get(segment.folded);
  if (literal !== undefined) {
    const changed = literal.spelling === segment.text ? 0 : segment.bit;
    next.push({ node: literal.node, needs: needs | changed });
  }
  if (node.param !== undefined) next.push({ node: node.param, needs });
}

/** Some letters outside ASCII become ASCII letters in the other case, as the Kelvin sign and the long s do. */
function inOneCase(text: string): string {
  return text.toUpperCase().toLowerCase();
}
