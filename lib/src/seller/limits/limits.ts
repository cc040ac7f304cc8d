/** Everything that bounds what one payer, one address or a failing facilitator can cost; made once for each seller. */
import type { World } from '../../world.ts';
import type { SellerEvent } from '../event.ts';
import type { SellerRequest } from '../message.ts';
import { addressReader } from './address.ts';
import { type Breaker, type BreakerOptions, createBreaker } from './breaker.ts';
import { type Bucket, type BucketOptions, createBucket } from './bucket.ts';
import { checkNames } from './option.ts';
import { createQuota, type Quota, type QuotaOptions } from './quota.ts';

/** How many paid requests may be under way in this process, and how many may come to nothing. */
export type LimitOptions = QuotaOptions & {
  /** For each payer: facilitator calls that may come to nothing. */
  readonly refused?: BucketOptions;
};

export type Limits = {
  readonly quota: Quota;
  readonly addressOf: (arrival: Pick<SellerRequest, 'headers' | 'peer'>) => string | undefined;
  readonly refused: Bucket;
  readonly breaker: Breaker;
};

/** Puts them together; mistakes in the options are TypeErrors. */
export function createLimits(
  options: {
    readonly limits?: LimitOptions | undefined;
    readonly breaker?: BreakerOptions | undefined;
    readonly trustProxy?: readonly string[] | 'any' | undefined;
  },
  shop: { readonly world: Pick<World, 'monotonicMs'>; readonly observe: (event: SellerEvent) => void },
): Limits {
  const { limits = {}, breaker, trustProxy = [] } = options;
  const { world, observe } = shop;
  checkNames('limits', limits, ['perPayer', 'perAddress', 'total', 'refused']);
  const { refused, ...quota } = limits;
  return {
    quota: createQuota(quota),
    addressOf: quota.perAddress === 'off' ? () => undefined : addressReader(trustProxy),
    refused: createBucket(refused, world.monotonicMs),
    breaker: createBreaker(breaker, {
      monotonicMs: world.monotonicMs,
      report: (state) => observe({ event: 'breaker', state }),
    }),
  };
}

/**
 * The name under which a payer's payments are counted. A signature that only a contract can judge may be anybody's, so
 * those are counted apart: nobody uses up what belongs to the key's owner.
 */
export function countedAs(visit: {
  readonly signedBy: 'payer' | 'contract' | 'foreign';
  readonly payment: { readonly payer: string };
}): string {
  return visit.signedBy === 'payer' ? visit.payment.payer : `?${visit.payment.payer}`;
}
