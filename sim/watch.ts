/**
 * The store with eyes on it: every operation of every process goes through here, and each record that it changes is
 * seen before and after. The memory store works in the turn in which it is called, so what is read right before and
 * right after is what the operation found and left.
 */
import type { ClaimRecord, ClaimStore } from '../lib/src/claim/index.ts';
import { isRetired } from './sight.ts';

/** The methods of a store that may change a record. */
export type Operation =
  | 'take'
  | 'heartbeat'
  | 'keepAndBeginSend'
  | 'beginSend'
  | 'recordMoney'
  | 'startWork'
  | 'finish'
  | 'fail'
  | 'release'
  | 'deliver'
  | 'prune';

/** One record that one operation changed. */
export type Change = {
  readonly operation: Operation;
  /** What the operation was asked, as its arguments. */
  readonly asked: readonly unknown[];
  readonly by: string;
  readonly key: string;
  /** False for a second record of the same step: an older payment, or a sibling. */
  readonly own: boolean;
  readonly before: ClaimRecord | undefined;
  readonly after: ClaimRecord | undefined;
  /** Sends begun since money was last none. */
  readonly begunBefore: number;
  readonly begunAfter: number;
  /** Octets of the answer that lies beside the record, if one does. */
  readonly answerBytes: number | undefined;
  readonly nowMs: number;
};

/** What the watcher tells of an operation: all that it changed, and what it answered. */
export type Watcher = (operation: Operation, changes: readonly Change[], answer: unknown) => void;

export type Watched = {
  /** The same store, as the named process reaches it. */
  readonly storeOf: (by: string) => ClaimStore;
  /** The record as it is now, without an operation. */
  readonly peek: (key: string) => ClaimRecord | undefined;
  readonly records: () => readonly ClaimRecord[];
  readonly operations: () => number;
};

const changing: ReadonlySet<string> = new Set<Operation>([
  'take',
  'heartbeat',
  'keepAndBeginSend',
  'beginSend',
  'recordMoney',
  'startWork',
  'finish',
  'fail',
  'release',
  'deliver',
  'prune',
]);

function isChanging(method: string): method is Operation {
  return changing.has(method);
}

/** More than any run signs. */
const mostRecords = 1_000;

/** Watches a store that works in the turn in which it is called. */
export function watch(store: ClaimStore, nowMs: () => number, watcher: Watcher): Watched {
  let known: ReadonlyMap<string, ClaimRecord> = new Map();
  const begun = new Map<string, number>();
  let operations = 0;

  const observe = async (method: Operation, by: string, args: readonly unknown[]): Promise<unknown> => {
    const atMs = nowMs();
    const call: unknown = Reflect.get(store, method);
    if (typeof call !== 'function') throw new TypeError(`the store has no ${method}`);
    // All of these run to their end before the first of them is awaited.
    const answered: unknown = call.apply(store, args);
    const listed = store.list({ limit: mostRecords });
    const kept = ownKeyOf(method, args);
    const bytes = kept === undefined ? undefined : store.readAnswer(kept);
    const now = new Map((await listed).map((record) => [record.key, record]));
    // Lists come back in the order in which they were asked, so this is what the operation before left.
    const before = known;
    known = now;
    const answerBytes = (await bytes)?.length;
    const changes = differences(before, now).map((key): Change => {
      const was = before.get(key);
      const is = now.get(key);
      const begunBefore = begun.get(key) ?? 0;
      begun.set(key, begunNow(begunBefore, was, is));
      const own = kept === undefined || key === kept;
      const facts = { operation: method, asked: args, by, key, own, before: was, after: is, begunBefore };
      return {
        ...facts,
        begunAfter: begun.get(key) ?? 0,
        answerBytes: own ? answerBytes : undefined,
        nowMs: atMs,
      };
    });
    const answer = await answered;
    watcher(method, changes, answer);
    return answer;
  };
  return {
    storeOf: (by) =>
      new Proxy(store, {
        get: (object, member) => {
          const value: unknown = Reflect.get(object, member);
          if (typeof value !== 'function' || typeof member !== 'string') return value;
          return (...args: unknown[]) => {
            operations += 1;
            return isChanging(member) ? observe(member, by, args) : value.apply(object, args);
          };
        },
      }),
    peek: (key) => known.get(key),
    records: () => [...known.values()],
    operations: () => operations,
  };
}

/** The key that an operation is about; prune is about no one. */
function ownKeyOf(method: Operation, args: readonly unknown[]): string | undefined {
  const [first] = args;
  if (typeof first === 'string') return first;
  if (typeof first !== 'object' || first === null) return undefined;
  const named: unknown = method === 'take' ? Reflect.get(first, 'purchase') : first;
  const key: unknown = typeof named === 'object' && named !== null ? Reflect.get(named, 'key') : undefined;
  return typeof key === 'string' ? key : undefined;
}

function differences(
  before: ReadonlyMap<string, ClaimRecord>,
  now: ReadonlyMap<string, ClaimRecord>,
): readonly string[] {
  const gone = [...before.keys()].filter((key) => !now.has(key));
  const changed = [...now].filter(([key, record]) => before.get(key) !== record).map(([key]) => key);
  return [...gone, ...changed];
}

function begunNow(count: number, was: ClaimRecord | undefined, is: ClaimRecord | undefined): number {
  if (is === undefined || is.money.state === 'none' || isRetired(is)) return 0;
  if (is.money.state !== 'sending') return count;
  const same = was?.money.state === 'sending' && was.money.n === is.money.n;
  return same ? count : count + 1;
}
