/**
 * A shared cache that keeps all that RFC 9111 lets it keep, and answers from it whenever the letter allows: the
 * sternest judge of what a seller says of its answers. Its time stands still, so that what is fresh once stays fresh.
 */
import type { Asked, Received } from './wire.ts';

export type SharedCache = {
  readonly ask: (asked: Asked) => Promise<Received>;
  /** How often it answered without asking. */
  readonly hits: () => number;
  /** How many answers it has kept. */
  readonly kept: () => number;
};

type Stored = { readonly request: Asked; readonly answer: Received };

/** RFC 9110, section 15.1: what may be kept without a word about it. */
const heuristic: ReadonlySet<number> = new Set([200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501]);

/** Puts the cache in front of whatever answers. */
export function createSharedCache(origin: (asked: Asked) => Promise<Received>): SharedCache {
  const kept = new Map<string, Stored[]>();
  let hits = 0;
  return {
    hits: () => hits,
    kept: () => [...kept.values()].reduce((sum, stored) => sum + stored.length, 0),
    ask: async (asked) => {
      const { method = 'GET', target = '/' } = asked;
      const stored = kept.get(target)?.find((one) => mayReuse(one, asked));
      if (stored !== undefined && (method === 'GET' || method === 'HEAD')) {
        hits += 1;
        return answerFrom(stored.answer, asked);
      }
      const answer = await origin(asked);
      if (mayStore(asked, answer))
        kept.set(target, [{ request: asked, answer }, ...(kept.get(target) ?? [])]);
      return answer;
    },
  };
}

/** Section 3, with the sharpest reading of "may": a status that it does not know is one that it understands. */
function mayStore(asked: Asked, answer: Received): boolean {
  const { method = 'GET' } = asked;
  const says = directives(answer);
  if (method !== 'GET' || fieldOf(asked, 'cache-control')?.includes('no-store')) return false;
  if (says.has('no-store') || says.has('private') || answer.status === 304) return false;
  const explicit = ['public', 'max-age', 's-maxage'].some((name) => says.has(name));
  return explicit || answer.header('expires') !== undefined || heuristic.has(answer.status);
}

/** Sections 4 and 4.1; what says nothing of its freshness is fresh by heuristic (4.2.2). */
function mayReuse({ request, answer }: Stored, asked: Asked): boolean {
  const says = directives(answer);
  const lifetime = says.get('s-maxage') ?? says.get('max-age');
  if (says.has('no-cache') || (lifetime !== undefined && Number(lifetime) <= 0)) return false;
  const names = (answer.header('vary') ?? '').split(',').map((name) => name.trim().toLowerCase());
  return names.every((name) => name !== '*' && fieldOf(request, name) === fieldOf(asked, name));
}

/** A validator that fits is told so, and a part is cut from the whole (4.3.2 and RFC 9110, section 14). */
function answerFrom(answer: Received, asked: Asked): Received {
  const tag = answer.header('etag');
  if (tag !== undefined && fieldOf(asked, 'if-none-match') === tag)
    return { ...answer, status: 304, text: '' };
  if (asked.method === 'HEAD') return { ...answer, text: '' };
  const part = /^bytes=(\d+)-(\d+)$/.exec(fieldOf(asked, 'range') ?? '');
  if (part === null || answer.status !== 200) return answer;
  return { ...answer, status: 206, text: answer.text.slice(Number(part[1]), Number(part[2]) + 1) };
}

/** What is said to shared caches; a list of their own goes before Cache-Control (RFC 9213, section 2.2). */
function directives(answer: Received): ReadonlyMap<string, string> {
  const own = answer.headers.filter(([name]) => name === 'cdn-cache-control');
  const lines = own.length > 0 ? own : answer.headers.filter(([name]) => name === 'cache-control');
  const found = new Map<string, string>();
  for (const word of lines.flatMap(([, value]) => value.split(','))) {
    const [name = '', value = ''] = word.split('=');
    found.set(name.trim().toLowerCase(), value.trim());
  }
  return found;
}

function fieldOf(asked: Asked, name: string): string | undefined {
  return asked.headers?.find(([key]) => key.toLowerCase() === name)?.[1];
}
