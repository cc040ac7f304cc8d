/**
 * The claim store of many processes: Redis 6.2 or later, or Valkey, over `ioredis`. A step is one script, so each payment
 * has exactly one winner among all processes that share the prefix, and one that nobody contests costs one round trip a
 * step. In a cluster the whole store lies in one slot, and so on one shard.
 *
 * What the server acknowledges is as safe as the server is set up to make it. With `appendfsync always` a crash loses
 * nothing, with `everysec` a power cut loses a second, and a replica that takes over lacks what it had not received
 * (`replicas` makes a step wait for it). Money stays safe all the same: an authorization moves it once, by its nonce, on
 * the chain. A payment whose record is lost is refused as spent (409) and asks for no other; lost are its kept answer, or
 * the knowledge that its work has run once. Whatever server answers after a reconnection is looked at as the first was, and must hold the same store.
 * Nothing here has an expiry of its own, since time alone says of no record that it may be forgotten.
 */
import { performance } from 'node:perf_hooks';
import type { ClaimStore } from '../claim/index.ts';
import { checkClock, checkCount, checkFlag, checkOptions, timeoutLimitMs, withDefault } from './contract.ts';
import { optimisticStore } from './optimistic.ts';
import { type Client, createClient, type Replicas } from './redis/client.ts';
import { createConnection } from './redis/connection.ts';
import { asOpeningError } from './redis/failure.ts';
import { inspect, type OpeningOptions } from './redis/opening.ts';
import { redisRemote } from './redis/remote.ts';

export { StoreError, type StoreErrorCode } from './error.ts';

/** About 3 KiB a record with its indexes (measured): 3 GB of memory, and an hour of 280 payments a second. */
export const redisCapacity = 1_000_000;
/** Kept answers and payloads: 2,048 answers of the default bound of 1 MiB. */
export const redisCapacityBytes = 2_147_483_648;
/** Long against a write to disk, shorter than the margin of a lease (5 s). */
export const redisTimeoutMs = 3_000;

export type RedisStoreOptions = {
  /** `redis://user:password@host:6379/0`, or `rediss:` for TLS, or `valkey:` and `valkeys:`; without parameters. */
  readonly url: string;
  /** Letters, digits, colons, dots, dashes and underscores. Sellers that share it share their claims. */
  readonly prefix?: string;
  /** Records; a take beyond it answers `full`. */
  readonly capacity?: number;
  /** Octets of kept answers and payloads; a take beyond it answers `full`. */
  readonly capacityBytes?: number;
  /** The store is only looked at, as on a replica: what would write rejects. */
  readonly readOnly?: boolean;
  /** How long a connection, and each answer, is waited for. */
  readonly timeoutMs?: number;
  /** `any` takes a server without an append-only file; the store then says that it is not durable. Default `aof`. */
  readonly persistence?: 'aof' | 'any';
  /**
   * A step counts only when so many replicas have it; a step that they do not confirm in time rejects. Steps of one process
   * wait for each other then.
   */
  readonly replicas?: Replicas;
  /** For tests: Unix milliseconds in place of the server's clock. */
  readonly clock?: () => number;
};

const optionNames = [
  'url',
  'prefix',
  'capacity',
  'capacityBytes',
  'readOnly',
  'timeoutMs',
  'persistence',
  'replicas',
  'clock',
];

/**
 * Opens or creates a store; rejects with `StoreError` when the server cannot be reached or may forget what it
 * acknowledged, or when its data is newer, and with TypeError for an option that it does not know or that is none.
 *
 * @example
 * const store = await openRedisStore({ url: 'redis://localhost' });
 */
export async function openRedisStore(options: RedisStoreOptions): Promise<ClaimStore> {
  checkOptions('openRedisStore', options, optionNames);
  const readOnly = checkFlag('readOnly', withDefault(options.readOnly, false));
  const clock = checkClock(options.clock);
  const prefix = `{${checkedPrefix(withDefault(options.prefix, 'counterfoil'))}}:`;
  const persistence = checkedPersistence(withDefault(options.persistence, 'aof'));
  const capacity = checkCount('capacity', withDefault(options.capacity, redisCapacity));
  const capacityBytes = checkCount('capacityBytes', withDefault(options.capacityBytes, redisCapacityBytes));
  const { client, durable } = await opened(options, { prefix, readOnly, persistence });
  const remote = redisRemote(client, { prefix, readOnly, capacity, capacityBytes, clock });
  return optimisticStore(remote, { durable, monotonicMs: clock ?? (() => performance.now()) });
}

type Open = { readonly client: Client; readonly durable: boolean };

async function opened(options: RedisStoreOptions, opening: OpeningOptions): Promise<Open> {
  const timeoutMs = checkCount('timeoutMs', withDefault(options.timeoutMs, redisTimeoutMs), timeoutLimitMs);
  const replicas = checkedReplicas(options.replicas, timeoutMs);
  let durable = false;
  let id: string | undefined;
  const connection = createConnection({
    url: options.url,
    timeoutMs,
    inspect: async (ask, place) => {
      ({ durable, id } = await inspect(ask, place, { ...opening, id }));
    },
  });
  try {
    await connection.connect();
    return { client: createClient(connection, replicas), durable };
  } catch (cause) {
    connection.close();
    throw asOpeningError(cause, connection.place);
  }
}

function checkedReplicas(replicas: Replicas | undefined, timeoutMs: number): Replicas | undefined {
  if (replicas === undefined) return undefined;
  checkOptions('openRedisStore: replicas', replicas, ['count', 'timeoutMs']);
  checkCount('replicas.count', replicas.count);
  if (checkCount('replicas.timeoutMs', replicas.timeoutMs) < timeoutMs) return replicas;
  throw new TypeError(
    'replicas.timeoutMs must be less than timeoutMs, or no step could be confirmed in time.',
  );
}

function checkedPrefix(prefix: string): string {
  if (typeof prefix === 'string' && /^[A-Za-z0-9:._-]{1,100}$/.test(prefix)) return prefix;
  throw new TypeError(
    'prefix must be a name of 1 to 100 letters, digits, colons, dots, dashes and underscores.',
  );
}

function checkedPersistence(value: string): 'aof' | 'any' {
  if (value === 'aof' || value === 'any') return value;
  throw new TypeError('persistence must be aof or any.');
}
