/**
 * A facilitator's calls cost money or a rate limit, and a payer whose payments come to nothing spends them for free
 * (S13). Each such call costs its payer a token; tokens come back with time.
 */
import { checkCount, checkNames } from './option.ts';

export type BucketOptions =
  | 'off'
  | {
      /** Calls in a row that may come to nothing; default 20. */
      readonly capacity?: number;
      /** After so long one more is allowed, milliseconds; default 3,000. */
      readonly refillMs?: number;
    };

/** More than an honest client loses in a row, little beside a facilitator's thousand calls a month. */
const defaultCapacity = 20;
/** Twenty a minute for ever is what one payer may waste. */
const defaultRefillMs = 3_000;
const mostTokens = 100_000;
const longestRefillMs = 3_600_000;
/** Payers that have lost calls lately; of more the one that was quiet for longest is forgotten, in its favour. */
const maxPayers = 10_000;

export type Bucket = {
  /** Milliseconds until the payer may try again; 0 where it may now. */
  readonly waitMs: (payer: string) => number;
  /** A call for this payer came to nothing. */
  readonly spend: (payer: string) => void;
  readonly size: () => number;
};

type Level = { readonly tokens: number; readonly atMs: number };

/** Makes the buckets; only payers that have spent something lately take room. */
export function createBucket(option: BucketOptions = {}, monotonicMs: () => number): Bucket {
  if (option === 'off') return { waitMs: () => 0, spend: () => {}, size: () => 0 };
  checkNames('limits.refused', option, ['capacity', 'refillMs']);
  const { capacity = defaultCapacity, refillMs = defaultRefillMs } = option;
  checkCount('limits.refused.capacity', capacity, mostTokens);
  checkCount('limits.refused.refillMs', refillMs, longestRefillMs);
  const levels = new Map<string, Level>();
  const tokensNow = ({ tokens, atMs }: Level, nowMs: number): number =>
    Math.min(capacity, tokens + (nowMs - atMs) / refillMs);
  return {
    waitMs: (payer) => {
      const level = levels.get(payer);
      if (level === undefined) return 0;
      const tokens = tokensNow(level, monotonicMs());
      if (tokens >= capacity) levels.delete(payer);
      return tokens >= 1 ? 0 : Math.ceil((1 - tokens) * refillMs);
    },
    spend: (payer) => {
      const nowMs = monotonicMs();
      const level = levels.get(payer);
      const tokens = level === undefined ? capacity : tokensNow(level, nowMs);
      // Taken out first, so that the map is in the order of last use.
      levels.delete(payer);
      levels.set(payer, { tokens: Math.max(0, tokens - 1), atMs: nowMs });
      if (levels.size <= maxPayers) return;
      const [quietest] = levels.keys();
      if (quietest !== undefined) levels.delete(quietest);
    },
    size: () => levels.size,
  };
}
