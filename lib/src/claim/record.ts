/**
 * One record per payment key: what was bought, and two axes, money and work (design section 3). Everything here
 * is pure; a record is never changed in place. A flow is an order over the two axes; this file knows no flow.
 */
import type { PaymentRequirements } from '../wire/v2.ts';

export type Flow = 'authorization' | 'upfront' | 'escrow';
/** Which send moves the money: the whole payment, an escrow's deposit, its charge, or its return. */
export type Phase = 'pay' | 'deposit' | 'charge' | 'void';
/** Evidence is ranked: what the chain shows outweighs what a facilitator says (design 9.9). */
export type Rank = 'chain' | 'facilitator';
/**
 * How deep in the chain a transfer must lie to be believed: a tag of the node, or a number of confirmations, of which the
 * newest block has one.
 */
export type Finality = 'latest' | 'safe' | 'finalized' | number;
/** Why money can no longer move under this authorization. */
export type RefusedWhy = 'definite' | 'expired' | 'canceled' | 'used_elsewhere' | 'failed_on_chain';

export type MoneyAxis =
  | { readonly state: 'none' }
  | { readonly state: 'sending'; readonly phase: Phase; readonly n: number }
  | { readonly state: 'unknown'; readonly phase: Phase; readonly n: number; readonly transaction?: string }
  | { readonly state: 'held'; readonly transaction: string; readonly rank: Rank }
  | {
      readonly state: 'settled';
      readonly transaction: string;
      readonly amount: bigint;
      readonly rank: Rank;
      /** The block of the transfer, where the chain was asked. */
      readonly block?: number;
      /** How deep it was seen; absent where only a facilitator says so. */
      readonly finality?: Finality;
    }
  | { readonly state: 'refused'; readonly why: RefusedWhy; readonly reason: string; readonly rank: Rank }
  | { readonly state: 'voided'; readonly transaction: string }
  | { readonly state: 'reversed'; readonly transaction: string }
  | { readonly state: 'refunded'; readonly reference: string };

export type WorkAxis =
  | { readonly state: 'idle' }
  | { readonly state: 'running' }
  | { readonly state: 'done'; readonly partial: boolean }
  | { readonly state: 'failed' }
  | { readonly state: 'exhausted' };

/** The right to act on a record until `untilMs` by the store's clock; `fence` grows with every owner. */
export type Lease = { readonly owner: string; readonly fence: number; readonly untilMs: number };

/** One answer of a facilitator or of a chain look-up, as it came, in our own words (never another party's text). */
export type SendEntry = {
  readonly atMs: number;
  readonly n: number;
  readonly phase: Phase;
  readonly said:
    | 'begun'
    | 'unsent'
    | 'settled'
    | 'held'
    | 'refused'
    | 'unknown'
    | 'voided'
    | 'reversed'
    | 'refunded'
    | 'retired';
  readonly by: Rank | 'seller' | 'operator';
  readonly reason?: string;
  readonly transaction?: string;
};

/** The send log keeps the first entry and the newest ones: enough to judge, bounded against a loop. */
export const sendLogLimit = 24;

/** What is fixed when the key is first taken. */
export type Purchase = {
  readonly key: string;
  readonly network: string;
  readonly asset: string;
  readonly payer: string;
  readonly payTo: string;
  readonly amount: bigint;
  readonly nonce: string;
  /** http:1 digest of the request that is bought, 64 lower-case hex digits. */
  readonly fingerprint: string;
  /** SHA-256 of the accepted signature bytes, 64 lower-case hex digits. */
  readonly signatureHash: string;
  /**
   * The payer's identifier for this purchase, where it gave one: a hash over tenant, payer and identifier, 64
   * lower-case hex digits, so that no store sees the identifier and no payer meets another's (formats 12.2).
   */
  readonly alias?: string;
  readonly requirement: PaymentRequirements;
  readonly route: string;
  readonly resourceUrl: string;
  readonly flow: Flow;
  /** Unix milliseconds; the authorization can move money in [validAfterMs, validBeforeMs). */
  readonly validAfterMs: number;
  readonly validBeforeMs: number;
  readonly maxAttempts: number;
  /** How the payment was found to be tied to its request, as receipts name it; absent on records of older versions. */
  readonly binding?: 'signed' | 'echoed' | 'none' | undefined;
  /** The transfer must be seen this deep before it counts as settled; absent where the facilitator's word is enough. */
  readonly assurance?: Finality | undefined;
};

export type ClaimRecord = Purchase & {
  readonly work: WorkAxis;
  readonly money: MoneyAxis;
  readonly fence: number;
  readonly attempts: number;
  /** Present while somebody may act or still answers its client. */
  readonly lease?: Lease | undefined;
  readonly sendLog: readonly SendEntry[];
  /** Sends of which bytes may have left: begun, and not proven unsent. The log is bounded, this is exact. */
  readonly sends: number;
  /** Block noted before the first send; a look-up searches from here. */
  readonly startBlock?: number | undefined;
  /** Octets of the sealed answer that lies beside the record. */
  readonly answerBytes?: number | undefined;
  /** The first complete write of the answer. */
  readonly deliveredAtMs?: number | undefined;
  /** Until when the answer is kept; set by the first complete write. */
  readonly keepUntilMs?: number | undefined;
  /** The owner told its client that it cannot answer, or the client went away. */
  readonly abandoned?: true | undefined;
  /** Its money was unknown once: a re-send does not make an honest twin's neighbour of it again. */
  readonly doubted?: true | undefined;
  /** On a newer payment that was never sent: the older one it is answered from. */
  readonly supersededBy?: string | undefined;
  /** On an older payment: the newer one that was last told to take its answer. */
  readonly servedTo?: string | undefined;
  /** What is not final is looked at again from here on; absent, on records of older versions, at once. */
  readonly proveAtMs?: number | undefined;
  /** An operator has dealt with it outside: nobody waits for it any more, and the reference says what was done. */
  readonly closed?: { readonly atMs: number; readonly reference: string } | undefined;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
};

/** True while the record's owner may act, by the store's clock. */
export function leaseAlive(record: ClaimRecord, nowMs: number): boolean {
  return record.lease !== undefined && record.lease.untilMs > nowMs;
}

/**
 * The money axis as it must be read now: a send whose lease is over is unknown, always. A crashed sender and a
 * slow one look the same from here.
 */
export function moneyNow(record: ClaimRecord, nowMs: number): MoneyAxis {
  const money = record.money;
  if (money.state !== 'sending' || leaseAlive(record, nowMs)) return money;
  return { state: 'unknown', phase: money.phase, n: money.n };
}

/** Money passed the gate that lets an answer out, or lets an upfront work start. */
export function moneyMoved(money: MoneyAxis): boolean {
  return money.state === 'settled' || money.state === 'held';
}

/** Nothing can move money under this key any more, by evidence of either rank. */
export function moneyDead(money: MoneyAxis): boolean {
  switch (money.state) {
    case 'refused':
    case 'voided':
    case 'reversed':
    case 'refunded':
      return true;
    case 'none':
    case 'sending':
    case 'unknown':
    case 'held':
    case 'settled':
      return false;
    default:
      return money satisfies never;
  }
}

/** Confirmations before tags: the tags are what a node itself is sure of, however many blocks that takes. */
function depth(finality: Finality): number {
  switch (finality) {
    case 'latest':
      return 1;
    case 'safe':
      return Number.MAX_SAFE_INTEGER - 1;
    case 'finalized':
      return Number.MAX_SAFE_INTEGER;
    default:
      return finality;
  }
}

/** True where what was seen is as deep as what is asked for. */
export function atLeast(seen: Finality | undefined, asked: Finality): boolean {
  return seen !== undefined && depth(seen) >= depth(asked);
}

/** True where what is seen now is deeper than what was seen before. */
export function deeper(now: Finality | undefined, before: Finality | undefined): boolean {
  return depth(now ?? 'latest') > depth(before ?? 'latest');
}

/** True once any byte of this payment may have left this seller. */
export function everSent(record: ClaimRecord): boolean {
  return record.sends > 0;
}

/** Appends to the send log: the first entry stays, the oldest of the others gives way. */
export function appendLog(log: readonly SendEntry[], entry: SendEntry): readonly SendEntry[] {
  const first = log[0];
  if (first === undefined || log.length < sendLogLimit) return [...log, entry];
  return [first, ...log.slice(2), entry];
}
