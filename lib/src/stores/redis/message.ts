/** What the scripts are asked, and their answers as records and as a sight. */
import { createHash, randomUUID } from 'node:crypto';
import { type ClaimRecord, decodeRecord, encodeRecord } from '../../claim/index.ts';
import { type Columns, columnsOf, endlessMs, twinsName } from '../columns.ts';
import { StoreError } from '../error.ts';
import { decoded } from '../legible.ts';
import { type Attempt, oldestViewMs, type Sight, type Versioned, type Write } from '../optimistic/remote.ts';

export type MessageOptions = {
  readonly capacity: number;
  readonly capacityBytes: number;
  /** For tests: stands in for the server's clock. */
  readonly clock?: (() => number) | undefined;
};

export type Message = {
  /** JSON for the first argument. */
  readonly asked: string;
  /** Of each write its text and its columns, which are not parts of the JSON so that nobody parses them twice. */
  readonly texts: readonly string[];
  /** What the records are called once they are written, in the order of the writes. */
  readonly versions: readonly string[];
};

/**
 * The text of one attempt. Versions are random and made here: no restored backup and no replica that lost the newest
 * writes can give one again, as a counter could.
 */
export function messageOf(attempt: Attempt, options: MessageOptions): Message {
  const { asks, expected, writes, blobs } = attempt;
  const { older, aliased, exposure, room } = asks;
  const versions = writes.map(() => randomUUID());
  const keys = [...new Set([...asks.keys, ...writes.map(({ key }) => key)])];
  const asked = {
    clock: clockText(options),
    at: expected.nowMs,
    oldest: oldestViewMs,
    keys,
    versions: keys.map((key) => versionOf(attempt, key)),
    ...(older === undefined
      ? {}
      : {
          older: {
            twins: digest(twinsName(older.twins)),
            limit: older.limit,
            versions: names(expected.older),
          },
        }),
    ...(aliased === undefined ? {} : { aliased: { ...aliased, versions: names(expected.aliased) } }),
    ...(exposure === undefined
      ? {}
      : {
          exposure: {
            payer: digest(exposure.payer),
            ...exposure.limits,
            expected: expected.mustPayFirst ?? false,
          },
        }),
    ...(room === undefined
      ? {}
      : {
          room: {
            records: options.capacity,
            octets: options.capacityBytes,
            expected: expected.full ?? false,
          },
        }),
    writes: writes.map(({ key, record }, place) =>
      record === null ? { key } : { key, version: versions[place] },
    ),
    ...(blobs === undefined
      ? {}
      : { blobs: { key: blobs.key, answer: mark(blobs.answer), payload: mark(blobs.payload) } }),
  };
  return { asked: JSON.stringify(asked), texts: writes.flatMap(textsOf), versions };
}

/** The time to decide by, where a test sets it; else the server looks at its own clock. */
export function clockText({ clock }: Pick<MessageOptions, 'clock'>): string {
  return clock === undefined ? '' : String(clock());
}

function names(found: readonly Versioned[] | undefined): readonly string[] {
  return (found ?? []).map(({ version }) => version);
}

/** A record that is written beside the one in question was seen as a member of a group. */
function versionOf({ expected }: Attempt, key: string): string {
  const members = [...(expected.older ?? []), ...(expected.aliased ?? [])];
  const seen = expected.records.get(key) ?? members.find(({ record }) => record.key === key);
  return seen?.version ?? '';
}

function textsOf({ record }: Write): readonly [text: string, columns: string] {
  if (record === null) return ['', ''];
  return [encodeRecord(record), JSON.stringify(short(columnsOf(record)))];
}

/** Under short names; absent members stay absent. */
function short(columns: Columns): object {
  return {
    key: columns.key,
    money: columns.money,
    work: columns.work,
    flow: columns.flow,
    lease: bounded(columns.leaseUntilMs),
    created: columns.createdMs,
    twins: digest(columns.twins),
    blocks: bounded(columns.blocksFromMs),
    alias: columns.alias,
    exposed: columns.exposed === undefined ? undefined : digest(columns.exposed),
    open: bounded(columns.openUntilMs),
    due: bounded(columns.dueFromMs),
    proof: bounded(columns.proofFromMs),
    forget: bounded(columns.forgetAtMs),
    stale: bounded(columns.answerForgetAtMs),
  };
}

/** An authorization may name an end that no whole number of ours can. */
function bounded(atMs: number | undefined): number | undefined {
  return atMs === undefined ? undefined : Math.min(Math.ceil(atMs), endlessMs);
}

function mark(bytes: Uint8Array | null | undefined): 'put' | 'drop' | '' {
  if (bytes === undefined) return '';
  return bytes === null ? 'drop' : 'put';
}

function digest(name: string): string {
  return createHash('sha256').update(name).digest('hex');
}

/** The answer of `attempt` where the step was not applied; throws `store_corrupt` for anything else. */
export function sightOf(said: unknown, { asks }: Attempt): Sight {
  if (!Array.isArray(said)) throw damaged();
  const [now, records, older, aliased, owes, full]: readonly unknown[] = said;
  const found = pairsOf(records);
  return {
    nowMs: momentOf(now),
    records: new Map(asks.keys.map((key, place) => [key, found[place]])),
    ...(asks.older === undefined ? {} : { older: membersOf(older) }),
    ...(asks.aliased === undefined ? {} : { aliased: membersOf(aliased) }),
    ...(asks.exposure === undefined ? {} : { mustPayFirst: owes === 1 }),
    ...(asks.room === undefined ? {} : { full: full === 1 }),
  };
}

/** A time as the scripts write it. */
export function momentOf(value: unknown): number {
  if (typeof value !== 'string' || !/^\d{1,16}$/.test(value)) throw damaged();
  return Number(value);
}

/** Version and text; undefined where both are empty, as of a record that is not there. */
export function versionedOf(version: unknown, body: unknown): Versioned | undefined {
  if (typeof version !== 'string' || typeof body !== 'string') throw damaged();
  if (version === '' && body === '') return undefined;
  return { version, record: decodeRecord(body) };
}

/** Pairs of version and text, absent ones included. */
export function pairsOf(value: unknown): readonly (Versioned | undefined)[] {
  if (!Array.isArray(value)) throw damaged();
  return value.map((pair: unknown) => {
    if (!Array.isArray(pair)) throw damaged();
    const [version, body]: readonly unknown[] = pair;
    return versionedOf(version, body);
  });
}

/** Texts of records alone; undefined for one that is gone, and for one that cannot be read. */
export function recordsOf(value: unknown): readonly (ClaimRecord | undefined)[] {
  if (!Array.isArray(value)) throw damaged();
  return value.map((body: unknown) => {
    if (body === null) return undefined;
    if (typeof body !== 'string') throw damaged();
    return decoded(body);
  });
}

/** Pairs of version and text, where those that cannot be read are as good as absent. */
export function legiblePairsOf(value: unknown): readonly (Versioned | undefined)[] {
  if (!Array.isArray(value)) throw damaged();
  return value.map((pair: unknown) => {
    if (!Array.isArray(pair)) throw damaged();
    const [version, body]: readonly unknown[] = pair;
    if (typeof version !== 'string' || typeof body !== 'string') throw damaged();
    const record = decoded(body);
    return record === undefined ? undefined : { version, record };
  });
}

function membersOf(value: unknown): readonly Versioned[] {
  return pairsOf(value).map((one) => {
    if (one === undefined) throw damaged();
    return one;
  });
}

/** What the server said is nothing that a script of ours answers. */
export function damaged(): StoreError {
  return new StoreError('store_corrupt', 'The claim store gave an answer that is none of its own.');
}
