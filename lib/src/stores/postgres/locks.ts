/**
 * What a step locks for its transaction, beside the rows themselves. A row lock guards a record that is there. A record
 * that is absent, and a group that could get a new member (payments under one identifier, twins, what a payer has run
 * up), are guarded by a name: whoever looks at a group holds its name alone, and whoever writes a record that is, was or
 * will be in the group holds it together with other writers. So what a step has seen cannot change before it is applied
 * (two-phase locking with predicates; Eswaran, Gray, Lorie and Traiger, "The Notions of Consistency and Predicate Locks
 * in a Database System"). All names are taken in the order of their numbers, before any row, so that no two steps wait
 * for each other.
 */
import { createHash } from 'node:crypto';
import type { ClaimRecord } from '../../claim/index.ts';
import { columnsOf, twinsName } from '../columns.ts';
import type { Asks, Attempt } from '../optimistic/remote.ts';

/** A lock of PostgreSQL: a signed number of 64 bits. */
export type Lock = { readonly id: bigint; readonly shared: boolean };

/** Locks for one attempt, in the order in which they must be taken; none where nothing is written. */
export function locksOf(schema: string, attempt: Attempt): readonly Lock[] {
  if (attempt.writes.length === 0 && attempt.blobs === undefined) return [];
  const shared = new Map<bigint, boolean>();
  for (const name of groupsWritten(attempt)) shared.set(lockId(schema, name), true);
  for (const name of namesSeen(attempt)) shared.set(lockId(schema, name), false);
  return [...shared]
    .map(([id, isShared]) => ({ id, shared: isShared }))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** The number of a name; two names with one number would only wait for each other without need. */
export function lockId(schema: string, name: string): bigint {
  return createHash('sha256').update(`${schema}\0${name}`).digest().readBigInt64BE(0);
}

function namesSeen({ asks, expected }: Attempt): readonly string[] {
  const absent = asks.keys.filter((key) => expected.records.get(key) === undefined);
  return [...absent.map((key) => `key ${key}`), ...groupsAsked(asks)];
}

function groupsAsked({ older, aliased, exposure }: Asks): readonly string[] {
  return [
    ...(older === undefined ? [] : [twinsGroup(twinsName(older.twins))]),
    ...(aliased === undefined ? [] : [aliasGroup(aliased.alias)]),
    ...(exposure === undefined ? [] : [payerGroup(exposure.payer)]),
  ];
}

function groupsWritten(attempt: Attempt): readonly string[] {
  return attempt.writes.flatMap(({ key, record }) => [
    ...groupsOf(recordBefore(attempt, key)),
    ...groupsOf(record ?? undefined),
  ]);
}

/** What a record is read by, besides its key. */
function groupsOf(record: ClaimRecord | undefined): readonly string[] {
  if (record === undefined) return [];
  const { twins, blocksFromMs, alias, exposed } = columnsOf(record);
  return [
    ...(blocksFromMs === undefined ? [] : [twinsGroup(twins)]),
    ...(alias === undefined ? [] : [aliasGroup(alias)]),
    ...(exposed === undefined ? [] : [payerGroup(exposed)]),
  ];
}

/** As the step saw it: by its key, or as a member of a group. */
function recordBefore({ expected }: Attempt, key: string): ClaimRecord | undefined {
  const own = expected.records.get(key);
  if (own !== undefined) return own.record;
  return [...(expected.older ?? []), ...(expected.aliased ?? [])].find((one) => one.record.key === key)
    ?.record;
}

function twinsGroup(name: string): string {
  return `twins ${name}`;
}

function aliasGroup(alias: string): string {
  return `alias ${alias}`;
}

function payerGroup(payer: string): string {
  return `payer ${payer}`;
}
