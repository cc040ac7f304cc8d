/**
 * The claim store of many processes: PostgreSQL 13 or later, over `pg`. An answer means that the write is in the
 * server's log on disk; each payment has exactly one winner among all processes that share the schema. A payment that
 * nobody contests costs one round trip a step. What the server acknowledges is as safe as the server: a standby that
 * takes over keeps every claim only where it was written to synchronously (`synchronous_standby_names`).
 *
 * A role without rights to change the schema can use one that is there, with USAGE on it; SELECT, INSERT, UPDATE and
 * DELETE on `claims` and `blobs`; SELECT and UPDATE on `tally`; SELECT on `migrations`. For reading, USAGE and SELECT do.
 */
import { performance } from 'node:perf_hooks';
import type { ClaimStore } from '../claim/index.ts';
import { checkClock, checkCount, checkFlag, checkOptions, timeoutLimitMs, withDefault } from './contract.ts';
import { optimisticStore } from './optimistic.ts';
import { asOpeningError } from './postgres/failure.ts';
import { type Opened, type OpeningOptions, prepareSchema } from './postgres/opening.ts';
import { createPool, type Pool } from './postgres/pool.ts';
import { postgresRemote } from './postgres/remote.ts';

export { StoreError, type StoreErrorCode } from './error.ts';

/** About 4 KiB a record with its indexes: 40 GB of disk, and an hour of 2,800 payments a second. */
export const postgresCapacity = 10_000_000;
/** Kept answers and payloads: 65,536 answers of the default bound of 1 MiB. */
export const postgresCapacityBytes = 68_719_476_736;
/** Connections of one process; a server has a hundred by default, for all of them. */
export const postgresPoolSize = 10;
/** More connections than any server has. */
const mostConnections = 1_000;
/** Long against a commit, shorter than the margin of a lease (5 s). */
export const postgresTimeoutMs = 3_000;

export type PostgresStoreOptions = {
  /** `postgres://user:password@host:5432/database`; `sslmode` and the other parameters are those of `pg`. */
  readonly url: string;
  /** Letters, digits and underscores; made where it is absent. Sellers that share it share their claims. */
  readonly schema?: string;
  readonly poolSize?: number;
  /** Records; a take beyond it answers `full`. */
  readonly capacity?: number;
  /** Octets of kept answers and payloads; a take beyond it answers `full`. */
  readonly capacityBytes?: number;
  /** The store is only looked at, as on a standby: neither made nor migrated, and what would write rejects. */
  readonly readOnly?: boolean;
  /** How long a call waits for a connection, and then for its answer. */
  readonly timeoutMs?: number;
  /** False where a pooler gives each transaction another connection and knows no prepared statements. */
  readonly prepare?: boolean;
  /** Takes a server that may forget what it acknowledged (fsync off); the store then says that it is not durable. */
  readonly allowUnsynced?: boolean;
  /** For tests: Unix milliseconds in place of the server's clock. */
  readonly clock?: () => number;
};

const optionNames = [
  'url',
  'schema',
  'poolSize',
  'capacity',
  'capacityBytes',
  'readOnly',
  'timeoutMs',
  'prepare',
  'allowUnsynced',
  'clock',
];

/**
 * Opens or creates a store; rejects with `StoreError` when the server cannot be reached or cannot keep the promise, or
 * when the schema is newer or another's, and with TypeError for an option that it does not know or that is none.
 *
 * @example
 * const store = await openPostgresStore({ url: 'postgres://shop@localhost/shop' });
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<ClaimStore> {
  checkOptions('openPostgresStore', options, optionNames);
  const { url } = options;
  const readOnly = checkFlag('readOnly', withDefault(options.readOnly, false));
  const allowUnsynced = checkFlag('allowUnsynced', withDefault(options.allowUnsynced, false));
  const prepare = checkFlag('prepare', withDefault(options.prepare, true));
  const clock = checkClock(options.clock);
  const schema = checkedSchema(withDefault(options.schema, 'counterfoil'));
  const timeoutMs = checkCount(
    'timeoutMs',
    withDefault(options.timeoutMs, postgresTimeoutMs),
    timeoutLimitMs,
  );
  const capacity = checkCount('capacity', withDefault(options.capacity, postgresCapacity));
  const capacityBytes = checkCount(
    'capacityBytes',
    withDefault(options.capacityBytes, postgresCapacityBytes),
  );
  const poolSize = checkCount('poolSize', withDefault(options.poolSize, postgresPoolSize), mostConnections);
  const pool = createPool({ url, poolSize, timeoutMs, prepare });
  const { durable } = await opened(pool, { schema, readOnly, allowUnsynced });
  // The server gives up first, so that its definite word arrives before we stop waiting for it.
  const lockMs = Math.ceil((timeoutMs * 2) / 3);
  const remote = postgresRemote(pool, { schema, capacity, capacityBytes, lockMs, readOnly, clock });
  return optimisticStore(remote, { durable, monotonicMs: clock ?? (() => performance.now()) });
}

async function opened(pool: Pool, options: OpeningOptions): Promise<Opened> {
  try {
    return await prepareSchema(pool, options);
  } catch (cause) {
    await pool.close();
    throw asOpeningError(cause, pool.place);
  }
}

function checkedSchema(schema: string): string {
  if (typeof schema === 'string' && /^(?!pg_)[A-Za-z_][A-Za-z0-9_]{0,62}$/.test(schema)) return schema;
  throw new TypeError('schema must be a name of up to 63 letters, digits and underscores.');
}
