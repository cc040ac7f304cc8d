/**
 * The claim store of one process, for development and tests: a restart forgets everything, so it refuses to serve
 * several instances. The cost of a `take` does not grow with the number of records; nothing is evicted to make
 * room, a full store says so.
 */
import {
  answerForgetAtMs,
  blocksFromMs,
  blocksNow,
  type Change,
  type ClaimRecord,
  type ClaimStore,
  claimedAlias,
  countExposure,
  dueFromMs,
  exposedPayer,
  forgetAtMs,
  type ListQuery,
  moneyNow,
  needsAttention,
  needsProof,
  proofFromMs,
} from '../claim/index.ts';
import type { World } from '../world.ts';
import { twinsName } from './columns.ts';
import { checkCount, checkOptions, storeOver, withDefault } from './contract.ts';
import { StoreError } from './error.ts';
import { type Calendar, createCalendar } from './memory/calendar.ts';
import { operate, type Table } from './operations.ts';

export { StoreError, type StoreErrorCode } from './error.ts';

/** About 3 KiB a record: 300 MB, which a development machine can spare, and an hour of 28 payments a second. */
export const memoryCapacity = 100_000;
/** Kept answers and payloads: 256 answers of the default bound of 1 MiB. */
export const memoryCapacityBytes = 268_435_456;

export type MemoryStoreOptions = {
  readonly world: Pick<World, 'nowMs'>;
  /** Records; a take beyond it answers `full`. */
  readonly capacity?: number;
  /** Octets of kept answers and payloads; a take beyond it answers `full`. */
  readonly capacityBytes?: number;
  /** How many processes serve the same routes; more than one is refused. */
  readonly instances?: number;
};

type Data = {
  readonly records: Map<string, ClaimRecord>;
  readonly answers: Map<string, Uint8Array>;
  readonly payloads: Map<string, Uint8Array>;
  /** Keys that stand, or will stand, before newer payments, by what makes payments twins. */
  readonly blockers: Map<string, Set<string>>;
  /** Keys that hold, or held until their lease ran out, a payment identifier, by its alias. */
  readonly aliases: Map<string, Set<string>>;
  /** Keys whose work ran, or runs, before its money, by payer. */
  readonly exposures: Map<string, Set<string>>;
  readonly open: Set<string>;
  readonly unproven: Set<string>;
  readonly expiry: Calendar;
  readonly answerExpiry: Calendar;
  bytes: number;
};

/**
 * A store that lives in this process only; throws TypeError for an option that it does not know or that is none, and
 * {@link StoreError} `store_not_shared` when told of several instances.
 */
export function createMemoryStore(options: MemoryStoreOptions): ClaimStore {
  checkOptions('createMemoryStore', options, ['world', 'capacity', 'capacityBytes', 'instances']);
  if (typeof options.world?.nowMs !== 'function') throw new TypeError('createMemoryStore needs a world.');
  if (checkCount('instances', withDefault(options.instances, 1)) > 1) {
    throw new StoreError(
      'store_not_shared',
      'The memory store cannot be shared: each instance would sell the same payment once. Use a durable store.',
    );
  }
  let closed = false;
  const limits = {
    records: checkCount('capacity', withDefault(options.capacity, memoryCapacity)),
    bytes: checkCount('capacityBytes', withDefault(options.capacityBytes, memoryCapacityBytes)),
  };
  const table = tableOf(createData(), limits, options.world.nowMs);
  return storeOver(
    async (operation, question) => {
      if (closed) throw new StoreError('store_closed', 'The memory store is closed.');
      return operate(table, operation, question);
    },
    {
      name: 'memory',
      durable: false,
      close: async () => {
        closed = true;
      },
    },
  );
}

function createData(): Data {
  const records = new Map<string, ClaimRecord>();
  const momentOf = (moment: (record: ClaimRecord) => number | undefined) => (key: string) => {
    const record = records.get(key);
    return record === undefined ? undefined : moment(record);
  };
  return {
    records,
    answers: new Map(),
    payloads: new Map(),
    blockers: new Map(),
    aliases: new Map(),
    exposures: new Map(),
    open: new Set(),
    unproven: new Set(),
    expiry: createCalendar(momentOf(forgetAtMs)),
    answerExpiry: createCalendar(momentOf(answerForgetAtMs)),
    bytes: 0,
  };
}

function tableOf(
  data: Data,
  limits: { readonly records: number; readonly bytes: number },
  nowMs: () => number,
): Table {
  const load = (keys: Iterable<string>): ClaimRecord[] =>
    [...keys].flatMap((key) => data.records.get(key) ?? []);
  return {
    nowMs,
    record: (key) => data.records.get(key),
    older: (twins, at, limit) =>
      load(data.blockers.get(twinsName(twins)) ?? [])
        .filter((record) => blocksNow(record, at))
        .sort(byAge)
        .slice(0, limit),
    aliased: (alias, limit) =>
      load(data.aliases.get(alias) ?? [])
        .sort(byAge)
        .slice(0, limit),
    exposure: (payer, _limits, at) => countExposure(load(data.exposures.get(payer) ?? []), at),
    full: () => data.records.size >= limits.records || data.bytes >= limits.bytes,
    due: (at, limit) =>
      load(data.open)
        .filter((record) => needsAttention(record, at))
        .sort(byAge)
        .slice(0, limit),
    unproven: (at, limit) =>
      load(data.unproven)
        .filter((record) => needsProof(record, at))
        .sort((a, b) => (proofFromMs(a) ?? 0) - (proofFromMs(b) ?? 0) || byAge(a, b))
        .slice(0, limit),
    list: (query, at) => listed(data, query, at),
    expired: (at, limit) => load(data.expiry.passed(at, limit)),
    stale: (at, limit) => load(data.answerExpiry.passed(at, limit)),
    answer: (key) => data.answers.get(key)?.slice(),
    payload: (key) => data.payloads.get(key)?.slice(),
    write: (key, change) => write(data, key, change),
  };
}

function listed(data: Data, query: ListQuery, nowMs: number): readonly ClaimRecord[] {
  const after = query.after ?? '';
  const matches = (record: ClaimRecord): boolean =>
    record.key > after &&
    (query.money === undefined || moneyNow(record, nowMs).state === query.money) &&
    (query.work === undefined || record.work.state === query.work) &&
    (query.flow === undefined || record.flow === query.flow);
  return [...data.records.values()]
    .filter(matches)
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .slice(0, query.limit);
}

function write(data: Data, key: string, change: Change): void {
  if (change.answer !== undefined) writeBytes(data, data.answers, { key, bytes: change.answer });
  if (change.payload !== undefined) writeBytes(data, data.payloads, { key, bytes: change.payload });
  if (change.record !== undefined) writeRecord(data, key, change.record);
  if (change.other !== undefined) writeRecord(data, change.other.key, change.other);
}

function writeBytes(
  data: Data,
  into: Map<string, Uint8Array>,
  entry: { readonly key: string; readonly bytes: Uint8Array | null },
): void {
  data.bytes -= into.get(entry.key)?.length ?? 0;
  into.delete(entry.key);
  if (entry.bytes === null) return;
  // A copy, so that nobody outside can change what is kept.
  into.set(entry.key, entry.bytes.slice());
  data.bytes += entry.bytes.length;
}

function writeRecord(data: Data, key: string, record: ClaimRecord | null): void {
  const before = data.records.get(key);
  if (before !== undefined) dropFromIndexes(data, before);
  if (record === null) {
    data.records.delete(key);
    return;
  }
  data.records.set(key, record);
  data.expiry.note(key, forgetAtMs(record));
  data.answerExpiry.note(key, answerForgetAtMs(record));
  if (dueFromMs(record) !== undefined) data.open.add(key);
  if (blocksFromMs(record) !== undefined) addTo(data.blockers, twinsName(record), key);
  const alias = claimedAlias(record);
  if (alias !== undefined) addTo(data.aliases, alias, key);
  const payer = exposedPayer(record);
  if (payer !== undefined) addTo(data.exposures, payer, key);
  if (proofFromMs(record) !== undefined) data.unproven.add(key);
}

function dropFromIndexes(data: Data, record: ClaimRecord): void {
  data.open.delete(record.key);
  if (blocksFromMs(record) !== undefined) dropFrom(data.blockers, twinsName(record), record.key);
  const alias = claimedAlias(record);
  if (alias !== undefined) dropFrom(data.aliases, alias, record.key);
  const payer = exposedPayer(record);
  if (payer !== undefined) dropFrom(data.exposures, payer, record.key);
  data.unproven.delete(record.key);
}

function addTo(index: Map<string, Set<string>>, at: string, key: string): void {
  const keys = index.get(at);
  if (keys === undefined) index.set(at, new Set([key]));
  else keys.add(key);
}

function dropFrom(index: Map<string, Set<string>>, at: string, key: string): void {
  const keys = index.get(at);
  keys?.delete(key);
  if (keys?.size === 0) index.delete(at);
}

function byAge(a: ClaimRecord, b: ClaimRecord): number {
  return a.createdAtMs - b.createdAtMs || (a.key < b.key ? -1 : 1);
}
