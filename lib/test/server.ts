/** A server in this process that only compares and writes, for the tests of what stands over it. */
import { type ClaimRecord, countExposure, type ListQuery, mustPayFirst } from '../src/claim/index.ts';
import { type Columns, columnsOf, twinsName } from '../src/stores/columns.ts';
import {
  type Asks,
  type Attempt,
  oldestViewMs,
  type Remote,
  type Sight,
  type Versioned,
} from '../src/stores/optimistic/remote.ts';

export type Server = {
  readonly remote: Remote;
  /** Round trips by method. */
  readonly calls: Map<string, number>;
  /** Runs before the next attempt is looked at: somebody else was faster. */
  interfere: (() => void) | undefined;
  nowMs: number;
};

export type ServerLimits = { readonly capacity?: number; readonly capacityBytes?: number };

type State = {
  readonly limits: ServerLimits;
  readonly records: Map<string, Versioned>;
  readonly answers: Map<string, Uint8Array>;
  readonly payloads: Map<string, Uint8Array>;
  version: number;
};

/** An empty server whose clock stands at `nowMs`. */
export function createServer(nowMs: number, limits: ServerLimits = {}): Server {
  const state: State = { limits, records: new Map(), answers: new Map(), payloads: new Map(), version: 0 };
  const server: Server = {
    nowMs,
    calls: new Map(),
    interfere: undefined,
    remote: remoteOf(state, () => server),
  };
  return server;
}

function remoteOf(state: State, server: () => Server): Remote {
  const now = (): number => server().nowMs;
  const reached = (atMs: number | undefined): boolean => atMs !== undefined && atMs <= now();
  const passed = (atMs: number | undefined): boolean => atMs !== undefined && atMs < now();
  const page = (limit: number, wanted: (columns: Columns) => boolean): readonly ClaimRecord[] =>
    oldest(state, wanted).slice(0, limit);
  const count = (name: string): void => {
    const { calls } = server();
    calls.set(name, (calls.get(name) ?? 0) + 1);
  };
  return {
    name: 'plain server',
    attempt: async (attempt) => {
      count('attempt');
      const { interfere } = server();
      server().interfere = undefined;
      interfere?.();
      const sight = look(state, attempt.asks, now());
      const ageMs = sight.nowMs - attempt.expected.nowMs;
      const fresh = ageMs >= 0 && ageMs <= oldestViewMs;
      if (!fresh || shape(sight) !== shape(attempt.expected)) return { applied: false, sight };
      writeBlobs(state, attempt);
      return { applied: true, versions: attempt.writes.map(({ key, record }) => put(state, key, record)) };
    },
    find: async (key) => {
      count('find');
      const found = state.records.get(key);
      return found === undefined ? { nowMs: now() } : { found, nowMs: now() };
    },
    answer: async (key) => state.answers.get(key)?.slice(),
    payload: async (key) => state.payloads.get(key)?.slice(),
    due: async (limit) => page(limit, (columns) => reached(columns.dueFromMs)),
    unproven: async (limit) =>
      [...oldest(state, (columns) => reached(columns.proofFromMs))]
        .sort((a, b) => (columnsOf(a).proofFromMs ?? 0) - (columnsOf(b).proofFromMs ?? 0))
        .slice(0, limit),
    list: async (query) => list(state, query, now()),
    expire: async (limit) => {
      const gone = page(limit, (columns) => passed(columns.forgetAtMs));
      for (const { key } of gone) {
        put(state, key, null);
        state.answers.delete(key);
        state.payloads.delete(key);
      }
      return gone.length;
    },
    stale: async (limit) => ({
      nowMs: now(),
      found: versioned(
        state,
        page(limit, (columns) => passed(columns.answerForgetAtMs)),
      ),
    }),
    close: async () => {},
  };
}

function oldest(state: State, wanted: (columns: Columns) => boolean): readonly ClaimRecord[] {
  return [...state.records.values()]
    .map(({ record }) => record)
    .filter((record) => wanted(columnsOf(record)))
    .sort((a, b) => a.createdAtMs - b.createdAtMs || (a.key < b.key ? -1 : 1));
}

function versioned(state: State, found: readonly ClaimRecord[]): readonly Versioned[] {
  return found.flatMap(({ key }) => state.records.get(key) ?? []);
}

function put(state: State, key: string, record: ClaimRecord | null): string {
  state.version += 1;
  const version = String(state.version);
  if (record === null) state.records.delete(key);
  else state.records.set(key, { record, version });
  return version;
}

function writeBlobs({ answers, payloads }: State, { blobs }: Attempt): void {
  if (blobs === undefined) return;
  const into = [
    [answers, blobs.answer],
    [payloads, blobs.payload],
  ] as const;
  for (const [kept, bytes] of into) {
    if (bytes === null) kept.delete(blobs.key);
    else if (bytes !== undefined) kept.set(blobs.key, bytes.slice());
  }
}

function look(state: State, { keys, older, aliased, exposure, room }: Asks, nowMs: number): Sight {
  const blocks = (columns: Columns): boolean =>
    columns.twins === (older === undefined ? '' : twinsName(older.twins)) &&
    (columns.blocksFromMs ?? Number.POSITIVE_INFINITY) <= nowMs;
  const page = (limit: number, wanted: (columns: Columns) => boolean): readonly Versioned[] =>
    versioned(state, oldest(state, wanted).slice(0, limit));
  const owed = oldest(state, (columns) => columns.exposed === exposure?.payer);
  return {
    nowMs,
    records: new Map(keys.map((key) => [key, state.records.get(key)])),
    ...(older === undefined ? {} : { older: page(older.limit, blocks) }),
    ...(aliased === undefined
      ? {}
      : { aliased: page(aliased.limit, (columns) => columns.alias === aliased.alias) }),
    ...(exposure === undefined
      ? {}
      : { mustPayFirst: mustPayFirst(countExposure(owed, nowMs), exposure.limits) }),
    ...(room === undefined ? {} : { full: isFull(state) }),
  };
}

function isFull({ limits, records, answers, payloads }: State): boolean {
  const octets = [...answers.values(), ...payloads.values()].reduce((sum, { length }) => sum + length, 0);
  const { capacity = Number.POSITIVE_INFINITY, capacityBytes = Number.POSITIVE_INFINITY } = limits;
  return records.size >= capacity || octets >= capacityBytes;
}

function list(state: State, query: ListQuery, nowMs: number): readonly ClaimRecord[] {
  const stateOf = ({ money, leaseUntilMs }: Columns): Columns['money'] =>
    money === 'sending' && leaseUntilMs <= nowMs ? 'unknown' : money;
  const wanted = (columns: Columns): boolean =>
    columns.key > (query.after ?? '') &&
    (query.money === undefined || stateOf(columns) === query.money) &&
    (query.work === undefined || columns.work === query.work) &&
    (query.flow === undefined || columns.flow === query.flow);
  return [...oldest(state, wanted)].sort((a, b) => (a.key < b.key ? -1 : 1)).slice(0, query.limit);
}

/** What must be as expected, without the time. */
function shape({ records, older, aliased, mustPayFirst: owes, full }: Sight): string {
  const names = (found: readonly Versioned[] | undefined): unknown =>
    found?.map(({ record, version }) => [record.key, version]);
  const versions = [...records].map(([key, found]) => [key, found?.version ?? '']);
  return JSON.stringify([versions, names(older), names(aliased), owes, full]);
}
