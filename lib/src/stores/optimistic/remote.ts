/**
 * What a store on a server has to offer: to look at a few things and write a few others in one atomic step, if what was
 * looked at is still as it was. Nothing here knows a rule; the rules run on this side (see `optimistic.ts`).
 */
import type { ClaimRecord, ExposureLimits, ListQuery } from '../../claim/index.ts';
import type { Twins } from '../operations.ts';

/**
 * A record and the name of its state. A version is never given again: not after the record was deleted and made anew, and
 * not by a replica or a backup that lacks the newest writes.
 */
export type Versioned = { readonly record: ClaimRecord; readonly version: string };

/** Everything that one step looks at. */
export type Asks = {
  /** Records by key; at least one. */
  readonly keys: readonly string[];
  /** Records that stand before newer payments now, oldest first: created, then key. */
  readonly older?: { readonly twins: Twins; readonly limit: number };
  /** Records that claim a payment identifier, oldest first. */
  readonly aliased?: { readonly alias: string; readonly limit: number };
  /** Whether what this payer has run up reaches the limits; see `mustPayFirst`. */
  readonly exposure?: { readonly payer: string; readonly limits: ExposureLimits };
  /** Whether the store is at its capacity. */
  readonly room?: true;
};

/** What was seen, or is expected to be seen. Absent members were not asked for. */
export type Sight = {
  /** By the server's clock, Unix milliseconds. */
  readonly nowMs: number;
  /** By key, for every key that was asked for; undefined where there is no record. */
  readonly records: ReadonlyMap<string, Versioned | undefined>;
  readonly older?: readonly Versioned[];
  readonly aliased?: readonly Versioned[];
  readonly mustPayFirst?: boolean;
  readonly full?: boolean;
};

export type Write = { readonly key: string; readonly record: ClaimRecord | null };

/** Bytes that lie beside a record; `null` deletes, an absent member stays. */
export type BlobWrite = {
  readonly key: string;
  readonly answer?: Uint8Array | null;
  readonly payload?: Uint8Array | null;
};

/**
 * One step: what it looked at, what it saw there, and what it writes if that is still so. `nowMs` of what it saw is the
 * moment that it decided for.
 */
export type Attempt = {
  readonly asks: Asks;
  readonly expected: Sight;
  readonly writes: readonly Write[];
  readonly blobs?: BlobWrite;
};

/**
 * Applied whole, or not at all. A second record that is written was seen as a member of a list, and is compared there. It is applied when every version is the expected one, both truths are the expected ones,
 * and the server's clock is at `expected.nowMs` or at most {@link oldestViewMs} after it. Otherwise the sight says what
 * is there now.
 */
export type Verdict =
  /** The new versions in the order of the writes; of a deletion, any text. */
  | { readonly applied: true; readonly versions: readonly string[] }
  | { readonly applied: false; readonly sight: Sight };

/**
 * A step may decide for a moment this long ago, so that what a process believes the server's clock to be is good enough
 * over a slow line or in a busy process. A lease given for such a moment ends as much earlier: its owner keeps a margin
 * of five times this long.
 */
export const oldestViewMs = 1_000;

export type Remote = {
  /** For messages and lists. */
  readonly name: string;
  readonly attempt: (attempt: Attempt) => Promise<Verdict>;
  readonly find: (key: string) => Promise<{ readonly found?: Versioned; readonly nowMs: number }>;
  readonly answer: (key: string) => Promise<Uint8Array | undefined>;
  readonly payload: (key: string) => Promise<Uint8Array | undefined>;
  /** `dueFromMs` reached, oldest first. */
  readonly due: (limit: number) => Promise<readonly ClaimRecord[]>;
  /** `proofFromMs` reached, the longest due first. */
  readonly unproven: (limit: number) => Promise<readonly ClaimRecord[]>;
  /** In the order of their keys; a send whose lease is over is listed as unknown. */
  readonly list: (query: ListQuery) => Promise<readonly ClaimRecord[]>;
  /** Deletes records whose `forgetAtMs` has passed, with what lies beside them; returns how many. */
  readonly expire: (limit: number) => Promise<number>;
  /** Records whose `answerForgetAtMs` has passed. */
  readonly stale: (
    limit: number,
  ) => Promise<{ readonly found: readonly Versioned[]; readonly nowMs: number }>;
  readonly close: () => Promise<void>;
};
