/** What the function `attempt` is asked, and its answer as a sight. */
import { createHash, randomUUID } from 'node:crypto';
import { decodeRecord, encodeRecord } from '../../claim/index.ts';
import { type Columns, columnsOf, endlessMs, twinsName } from '../columns.ts';
import { StoreError } from '../error.ts';
import { type Attempt, oldestViewMs, type Sight, type Versioned, type Write } from '../optimistic/remote.ts';
import { lockId, locksOf } from './locks.ts';

export type MessageOptions = {
  /** As it stands in the options, without quotes. */
  readonly schema: string;
  readonly capacity: number;
  readonly capacityBytes: number;
  /** How long the server waits for one lock. */
  readonly lockMs: number;
};

export type Message = {
  /** JSON for the parameter `asked`. */
  readonly asked: string;
  /** What the records are called once they are written, in the order of the writes. */
  readonly versions: readonly string[];
};

/**
 * The text of one attempt. Versions are random and made here: no restored backup and no standby that lost the newest
 * writes can give one again, as a sequence could.
 */
export function messageOf(attempt: Attempt, options: MessageOptions): Message {
  const { asks, expected, writes, blobs } = attempt;
  const versions = writes.map(() => randomUUID());
  const keys = [...new Set([...asks.keys, ...writes.map(({ key }) => key)])];
  const asked = {
    waitMs: String(options.lockMs),
    atMs: expected.nowMs,
    oldestMs: oldestViewMs,
    locks: locksOf(options.schema, attempt).map(({ id, shared }) => [String(id), shared]),
    keys,
    ...groups(attempt),
    ...(asks.room === undefined ? {} : { room: room(options) }),
    versions: {
      records: Object.fromEntries(keys.flatMap((key) => versionEntry(attempt, key))),
      older: (expected.older ?? []).map(({ version }) => version),
      aliased: (expected.aliased ?? []).map(({ version }) => version),
      mustPayFirst: expected.mustPayFirst ?? false,
      full: expected.full ?? false,
    },
    writes: writes.map((write, place) => ({ ...row(write), version: versions[place] })),
    ...(blobs === undefined
      ? {}
      : { blobs: { ...blobs, answer: mark(blobs.answer), payload: mark(blobs.payload) } }),
  };
  return { asked: JSON.stringify(asked), versions };
}

function groups({ asks: { older, aliased, exposure } }: Attempt): object {
  return {
    ...(older === undefined ? {} : { older: { twins: digest(twinsName(older.twins)), limit: older.limit } }),
    ...(aliased === undefined ? {} : { aliased }),
    ...(exposure === undefined
      ? {}
      : {
          exposure: {
            payer: digest(exposure.payer),
            unpaid: exposure.limits.unpaid,
            open: exposure.limits.open,
          },
        }),
  };
}

function room({ schema, capacity, capacityBytes }: MessageOptions): object {
  return { records: capacity, bytes: capacityBytes, lock: String(lockId(schema, 'room')) };
}

/** A record that is written beside the one in question was seen as a member of a group. */
function versionEntry({ expected }: Attempt, key: string): readonly (readonly [string, string])[] {
  const members = [...(expected.older ?? []), ...(expected.aliased ?? [])];
  const seen = expected.records.get(key) ?? members.find(({ record }) => record.key === key);
  return seen === undefined ? [] : [[key, seen.version]];
}

/** Present where the bytes are written or dropped; the bytes themselves are parameters of their own. */
function mark(bytes: Uint8Array | null | undefined): boolean | undefined {
  return bytes === undefined ? undefined : bytes !== null;
}

function row({ key, record }: Write): object {
  if (record === null) return { key };
  const columns = columnsOf(record);
  return {
    key,
    twins: digest(columns.twins),
    flow: columns.flow,
    money: columns.money,
    work: columns.work,
    alias: columns.alias,
    exposed: columns.exposed === undefined ? undefined : digest(columns.exposed),
    ...moments(columns),
    body: encodeRecord(record),
  };
}

function moments(columns: Columns): object {
  return {
    lease_until_ms: bounded(columns.leaseUntilMs),
    created_ms: bounded(columns.createdMs),
    blocks_from_ms: bounded(columns.blocksFromMs),
    due_from_ms: bounded(columns.dueFromMs),
    proof_from_ms: bounded(columns.proofFromMs),
    forget_at_ms: bounded(columns.forgetAtMs),
    answer_forget_at_ms: bounded(columns.answerForgetAtMs),
    open_until_ms: bounded(columns.openUntilMs),
  };
}

/** An authorization may name an end that no whole number of ours can. */
function bounded(atMs: number | undefined): number | undefined {
  return atMs === undefined ? undefined : Math.min(Math.ceil(atMs), endlessMs);
}

function digest(name: string): string {
  return createHash('sha256').update(name).digest('hex');
}

/** The answer of `attempt` where the step was not applied; throws `store_corrupt` for any other text. */
export function sightOf(text: string, { asks }: Attempt): Sight {
  const said: unknown = JSON.parse(text);
  if (!isObject(said) || !isObject(said.records) || typeof said.nowMs !== 'number') throw damaged();
  const { records } = said;
  return {
    nowMs: said.nowMs,
    records: new Map(
      asks.keys.map((key) => [key, Object.hasOwn(records, key) ? versioned(records[key]) : undefined]),
    ),
    ...(asks.older === undefined ? {} : { older: members(said.older) }),
    ...(asks.aliased === undefined ? {} : { aliased: members(said.aliased) }),
    ...(asks.exposure === undefined ? {} : { mustPayFirst: said.mustPayFirst === true }),
    ...(asks.room === undefined ? {} : { full: said.full === true }),
  };
}

function members(value: unknown): readonly Versioned[] {
  if (!Array.isArray(value)) throw damaged();
  return value.map(versioned);
}

function versioned(pair: unknown): Versioned {
  if (!Array.isArray(pair)) throw damaged();
  const [version, body]: readonly unknown[] = pair;
  if (typeof version !== 'string' || typeof body !== 'string') throw damaged();
  return { version, record: decodeRecord(body) };
}

function isObject(value: unknown): value is { readonly [name: string]: unknown } {
  return typeof value === 'object' && value !== null;
}

function damaged(): StoreError {
  return new StoreError('store_corrupt', 'The claim store gave an answer that is none of its own.');
}
