/**
 * How many paid requests may be under way in this process: for one payer, for one address, and in all (C08, S13).
 * Counts live only as long as the requests they count, so they are as bounded as those.
 */
import type { Refusal } from '../../problem.ts';
import { checkCount } from './option.ts';

export type QuotaOptions = {
  /** Default 64. */
  readonly perPayer?: number | 'off';
  /** Default 256; an IPv6 address counts as its /64. Addresses of private networks count behind a trusted proxy only. */
  readonly perAddress?: number | 'off';
  /** Default 10,000. */
  readonly total?: number;
};

/** Twice what a payer may have run up at its most, so that re-presentations find room beside the work. */
const defaultPerPayer = 64;
/** Many payers may share one address; few share it with so many payments at once. */
const defaultPerAddress = 256;
/** Each may hold a body and an answer of 1 MiB: more than this, and memory is what ends the process. */
const defaultTotal = 10_000;
/** No process serves more at once. */
const mostAtOnce = 1_000_000;

/** Seconds; a request in the way takes about as long as its work. */
const retryAfter = 1;

export type Quota = {
  /** Counts a paid request in, or says why there is no room and counts nothing. */
  readonly enter: (address: string | undefined) => Refusal | undefined;
  readonly leave: (address: string | undefined) => void;
  /** Why a payer has no room, before anything is counted: the payment may be anybody's forgery still. */
  readonly judge: (payer: string) => Refusal | undefined;
  /** The same as {@link Quota.enter} for the payer, once its signature was judged. */
  readonly enterPayer: (payer: string) => Refusal | undefined;
  readonly leavePayer: (payer: string) => void;
  /** Requests, addresses and payers that are counted now. */
  readonly counted: () => { readonly total: number; readonly addresses: number; readonly payers: number };
};

/** Makes the counters; options are checked. */
export function createQuota(options: QuotaOptions): Quota {
  const { perPayer = defaultPerPayer, perAddress = defaultPerAddress, total = defaultTotal } = options;
  checkCount('limits.total', total, mostAtOnce);
  const payers = createTally('limits.perPayer', perPayer);
  const addresses = createTally('limits.perAddress', perAddress);
  let running = 0;
  return {
    enter: (address) => {
      if (running >= total) return sellerIsFull;
      if (address !== undefined && !addresses.add(address)) return addressIsFull;
      running += 1;
      return undefined;
    },
    leave: (address) => {
      running -= 1;
      if (address !== undefined) addresses.remove(address);
    },
    judge: (payer) => (payers.full(payer) ? payerIsFull : undefined),
    enterPayer: (payer) => (payers.add(payer) ? undefined : payerIsFull),
    leavePayer: payers.remove,
    counted: () => ({ total: running, addresses: addresses.size(), payers: payers.size() }),
  };
}

const payerIsFull: Refusal = Object.freeze({ code: 'too_many_requests', retryAfter });
const addressIsFull: Refusal = Object.freeze({ code: 'too_many_requests', retryAfter });
/** Not this buyer's doing, so it is 503; what a program does about it is the same, so the code is too. */
const sellerIsFull: Refusal = Object.freeze({
  code: 'too_many_requests',
  status: 503,
  detail: 'This seller has as many payments under way as it takes at once.',
  retryAfter,
});

type Tally = {
  readonly full: (name: string) => boolean;
  readonly add: (name: string) => boolean;
  readonly remove: (name: string) => void;
  readonly size: () => number;
};

function createTally(option: string, limit: number | 'off'): Tally {
  if (limit === 'off') return { full: () => false, add: () => true, remove: () => {}, size: () => 0 };
  checkCount(option, limit, mostAtOnce);
  const counts = new Map<string, number>();
  return {
    full: (name) => (counts.get(name) ?? 0) >= limit,
    add: (name) => {
      const count = counts.get(name) ?? 0;
      if (count >= limit) return false;
      counts.set(name, count + 1);
      return true;
    },
    remove: (name) => {
      const count = counts.get(name) ?? 0;
      if (count > 1) counts.set(name, count - 1);
      else counts.delete(name);
    },
    size: () => counts.size,
  };
}
