/** A store on a Redis server as `optimistic.ts` wants it: one script a question. */
import type { ClaimRecord, ListQuery } from '../../claim/index.ts';
import { StoreError } from '../error.ts';
import { legible } from '../legible.ts';
import type { Attempt, Remote, Verdict } from '../optimistic/remote.ts';
import type { Client } from './client.ts';
import { asStoreError } from './failure.ts';
import {
  clockText,
  damaged,
  legiblePairsOf,
  type MessageOptions,
  messageOf,
  momentOf,
  recordsOf,
  sightOf,
  versionedOf,
} from './message.ts';
import type { Script } from './scripts.ts';

export type RemoteOptions = MessageOptions & {
  /** In braces, with its colon. */
  readonly prefix: string;
  readonly readOnly: boolean;
};

/** Records that one script reads or forgets, so that no listing and no tidying holds the server for long. */
export const pageSize = 200;
/** Where there is no blob; a text, since a command of texts alone leaves in one piece. */
const nothing = '';

/** The remote end over a client that is connected. */
export function redisRemote(client: Client, options: RemoteOptions): Remote {
  const { prefix, readOnly } = options;
  const run = (script: Script, ...args: readonly (string | Uint8Array)[]): Promise<unknown> =>
    client.run(script, prefix, args);
  const timed = (script: Script, arg: string | number): Promise<unknown> =>
    run(script, clockText(options), String(arg));
  const sound = <T>(work: Promise<T>): Promise<T> =>
    work.catch((cause: unknown) => {
      throw asStoreError(cause, client.place);
    });
  const writable = (): void => {
    if (readOnly) throw new StoreError('store_read_only', 'The claim store was opened for reading.');
  };
  return {
    name: 'redis',
    attempt: async (attempt) => {
      writable();
      return sound(tryOnce(run, attempt, options));
    },
    find: (key) => sound(timed('find', key).then(foundOf)),
    answer: (key) => client.bytes(`${prefix}a:${key}`),
    payload: (key) => client.bytes(`${prefix}p:${key}`),
    due: (limit) => sound(legible(limit, async (count) => recordsOf(await timed('due', count)))),
    unproven: (limit) => sound(legible(limit, async (count) => recordsOf(await timed('unproven', count)))),
    list: (query) => sound(list(run, query, options)),
    expire: async (limit) => {
      writable();
      return sound(expire((some) => timed('expire', some), limit));
    },
    stale: (limit) => sound(stale(limit, (count) => timed('stale', count))),
    close: async () => client.close(),
  };
}

type Run = (script: Script, ...args: readonly (string | Uint8Array)[]) => Promise<unknown>;

async function tryOnce(run: Run, attempt: Attempt, options: RemoteOptions): Promise<Verdict> {
  const { asked, texts, versions } = messageOf(attempt, options);
  const { answer, payload } = attempt.blobs ?? {};
  const said = await run('attempt', asked, answer ?? nothing, payload ?? nothing, ...texts);
  return said === 1 ? { applied: true, versions } : { applied: false, sight: sightOf(said, attempt) };
}

async function expire(some: (limit: number) => Promise<unknown>, limit: number): Promise<number> {
  for (let gone = 0; ; ) {
    const wanted = Math.min(limit - gone, pageSize);
    const said = await some(wanted);
    if (typeof said !== 'number') throw damaged();
    gone += said;
    if (said < wanted || gone >= limit) return gone;
  }
}

function foundOf(said: unknown): Awaited<ReturnType<Remote['find']>> {
  if (!Array.isArray(said)) throw damaged();
  const [now, version, body]: readonly unknown[] = said;
  const nowMs = momentOf(now);
  const found = versionedOf(version, body);
  return found === undefined ? { nowMs } : { found, nowMs };
}

async function stale(
  limit: number,
  some: (count: number) => Promise<unknown>,
): Promise<Awaited<ReturnType<Remote['stale']>>> {
  let nowMs = 0;
  const found = await legible(limit, async (count) => {
    const said = await some(count);
    if (!Array.isArray(said)) throw damaged();
    const [now, pairs]: readonly unknown[] = said;
    nowMs = momentOf(now);
    return legiblePairsOf(pairs);
  });
  return { nowMs, found };
}

/** Where a listing looks, and which leases it wants there. */
type Place = { readonly index: string; readonly lease?: 'alive' | 'over' };

/**
 * A send whose lease is over is unknown, always (design section 3). The sends are read before the unknown, so that what
 * moves from one to the other in between is not missed; it may be met twice.
 */
function placesOf({ money }: ListQuery): readonly Place[] {
  if (money === undefined) return [{ index: 'keys' }];
  if (money === 'sending') return [{ index: 'money:sending', lease: 'alive' }];
  if (money === 'unknown') return [{ index: 'money:sending', lease: 'over' }, { index: 'money:unknown' }];
  return [{ index: `money:${money}` }];
}

async function list(run: Run, query: ListQuery, options: RemoteOptions): Promise<readonly ClaimRecord[]> {
  const found = new Map<string, ClaimRecord>();
  for (const place of placesOf(query)) {
    for (const record of await gather(run, { ...query, ...place, clock: clockText(options) })) {
      found.set(record.key, record);
    }
  }
  return [...found.values()].sort(byKey).slice(0, query.limit);
}

/** As the server orders them, by octets, or the next page would leave some out. */
function byKey(a: ClaimRecord, b: ClaimRecord): number {
  return Buffer.compare(Buffer.from(a.key), Buffer.from(b.key));
}

/** Pages through one index; the server leaves out what else was not asked for. */
async function gather(
  run: Run,
  query: ListQuery & Place & { readonly clock: string },
): Promise<readonly ClaimRecord[]> {
  const { index, lease, work, flow, clock, limit } = query;
  const found: ClaimRecord[] = [];
  for (let after = query.after ?? ''; ; ) {
    const wanted = limit - found.length;
    const question = { index, lease, work, flow, clock, after, wanted, looks: pageSize };
    const said = await run('page', JSON.stringify(question));
    if (!Array.isArray(said)) throw damaged();
    const [last, ended, bodies]: readonly unknown[] = said;
    found.push(...recordsOf(bodies).filter((record) => record !== undefined));
    if (typeof last !== 'string') throw damaged();
    if (ended === 1 || found.length >= limit) return found;
    after = last;
  }
}
