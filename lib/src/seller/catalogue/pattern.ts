/**
 * The paths that routes are declared with. A pattern is `/` or a row of whole segments, each of them
 * - a literal of letters, digits, `-`, `.`, `_` and `~` (the unreserved characters of RFC 3986, section 2.3),
 * - `:name`, any one segment that is not empty, or
 * - in the last place `*` or `*name`, the rest of the path whatever it is, nothing included.
 * Nothing else is a pattern: regular expressions, optional parts and half segments mean different things in different
 * frameworks, and a gate that reads them otherwise than the framework behind it is no gate.
 */

export type Segment =
  /** `key` is the text in one letter case. */
  | { readonly kind: 'literal'; readonly text: string; readonly key: string }
  | { readonly kind: 'param' | 'rest'; readonly name: string };

export type Pattern = { readonly path: string; readonly segments: readonly Segment[] };

/** One bit of a number each stands for a literal that was matched in another letter case. */
const maxSegments = 24;
/** Longer than any path that is sold by hand. */
const maxPatternLength = 1024;

const literal = /^[A-Za-z0-9._~-]+$/;
const param = /^:([A-Za-z_][A-Za-z0-9_]*)$/;
const rest = /^\*([A-Za-z_][A-Za-z0-9_]*)?$/;

/** Reads a pattern; TypeError that names the path and what is wrong with it. */
export function parsePattern(path: string): Pattern {
  const wrong = (why: string): TypeError => new TypeError(`The path "${path}" is not a pattern: ${why}.`);
  if (!path.startsWith('/')) throw wrong('a pattern starts with "/"');
  if (path.length > maxPatternLength) throw wrong(`a pattern has at most ${maxPatternLength} characters`);
  if (path === '/') return { path, segments: [] };
  if (path.endsWith('/')) throw wrong('a pattern does not end with "/", which servers ignore or not');
  const segments = path.slice(1).split('/').map(parseSegment);
  if (segments.length > maxSegments) throw wrong(`a pattern has at most ${maxSegments} segments`);
  const names = new Set<string>();
  const parsed = segments.map((segment, at): Segment => {
    if (typeof segment === 'string') throw wrong(segment);
    if (segment.kind === 'literal') return segment;
    if (names.has(segment.name)) throw wrong(`it names "${segment.name}" twice`);
    names.add(segment.name);
    if (segment.kind === 'rest' && at < segments.length - 1)
      throw wrong('"*" is the last segment of a pattern');
    return segment;
  });
  return { path, segments: parsed };
}

/** The segment, or why it is none. */
function parseSegment(text: string): Segment | string {
  if (text === '') return 'a pattern has no empty segments';
  if (text === '.' || text === '..') return `"${text}" names another path`;
  if (literal.test(text)) return { kind: 'literal', text, key: text.toLowerCase() };
  const named = param.exec(text);
  if (named?.[1] !== undefined) return { kind: 'param', name: named[1] };
  const open = rest.exec(text);
  if (open !== null) return { kind: 'rest', name: open[1] ?? '*' };
  return `"${text}" is no literal of letters, digits and "-._~", no ":name" and no "*name"`;
}

/** TypeError unless the path of a route is a pattern as described above. */
export function checkPattern(path: string): void {
  parsePattern(path);
}

/**
 * A target that the pattern matches, in origin form: `/item/:id` gives `/item/probe`, or with `{ id: '7' }` `/item/7`.
 * A rest may have slashes. TypeError for a value without a place in the pattern, or without a character.
 */
export function fillPattern(path: string, values: Readonly<Record<string, string>> = {}): string {
  const { segments } = parsePattern(path);
  const names = segments.flatMap((segment) => (segment.kind === 'literal' ? [] : [segment.name]));
  for (const name of Object.keys(values)) {
    if (!names.includes(name)) throw new TypeError(`The path "${path}" has no "${name}" to fill.`);
  }
  const filled = segments.map((segment) => {
    if (segment.kind === 'literal') return segment.text;
    const value = Object.hasOwn(values, segment.name) ? values[segment.name] : 'probe';
    if (value === undefined || value === '') throw new TypeError(`"${segment.name}" needs a value.`);
    if (segment.kind === 'param') return encodeURIComponent(value);
    return value.split('/').map(encodeURIComponent).join('/');
  });
  return `/${filled.join('/')}`;
}

/** Whether every path of `inner` is one of `outer` too, letter case aside. */
export function covers(outer: Pattern, inner: Pattern): boolean {
  for (const [at, segment] of outer.segments.entries()) {
    if (segment.kind === 'rest') return true;
    const other = inner.segments[at];
    if (other === undefined || other.kind === 'rest') return false;
    if (segment.kind === 'literal' && !(other.kind === 'literal' && segment.key === other.key)) return false;
  }
  return inner.segments.length === outer.segments.length;
}

/** Whether some path belongs to both, letter case aside. */
export function overlaps(one: Pattern, other: Pattern): boolean {
  for (const [at, segment] of one.segments.entries()) {
    const beside = other.segments[at];
    if (segment.kind === 'rest' || beside?.kind === 'rest') return true;
    if (beside === undefined) return false;
    if (segment.kind === 'literal' && beside.kind === 'literal' && segment.key !== beside.key) return false;
  }
  const next = other.segments[one.segments.length];
  return next === undefined || next.kind === 'rest';
}
