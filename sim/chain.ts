/**
 * The one chain of a run, and its ledger: what truly became of each signed payment. Readers see it late, or not at all;
 * the newest blocks may vanish again.
 */
import type { AuthorizationFate, ChainReader } from '../lib/src/settlement/index.ts';
import type { PaymentPayload } from '../lib/src/wire/v2.ts';
import type { Luck } from '../lib/test/luck.ts';
import { transactionOf } from '../lib/test/rig.ts';
import type { Clock } from './clock.ts';

/** A use of the payment's nonce in a block; `goneAtMs` when that block is no part of the chain any more. */
export type Landing = { readonly atMs: number; readonly block: number; goneAtMs: number | undefined };

/** One signed payment and what truly happened to it. */
export type Bill = {
  readonly name: string;
  readonly nonce: string;
  readonly payment: PaymentPayload;
  readonly payer: string;
  /** The buyer's own name for the purchase, if it gave one. */
  readonly id: string | undefined;
  readonly validBeforeMs: number;
  readonly transaction: string;
  readonly landings: Landing[];
  canceledAtMs: number | undefined;
  firstSentMs: number | undefined;
  /** The message of the first send; every other must have the same octets. */
  sentText: string | undefined;
  sends: number;
  /** How often the facilitator said a definite no, and how often a call did not reach it. */
  refusals: number;
  unsents: number;
  /** The facilitator said something about it that was not so. */
  lied: boolean;
  /** Somebody else than the facilitator spent it. */
  outside: boolean;
};

export type Chain = {
  readonly bills: ReadonlyMap<string, Bill>;
  readonly enter: (payment: PaymentPayload, id: string | undefined) => Bill;
  /** Puts the payment into a block, unless it is spent, canceled or over; true where it did. */
  readonly land: (bill: Bill) => boolean;
  readonly cancel: (bill: Bill) => void;
  /** Takes one payment that is not final out of the chain again; its octets may land once more. */
  readonly reorganise: () => Bill | undefined;
  readonly reader: ChainReader;
  /** While false, nobody can read the chain. */
  readonly show: (readable: boolean) => void;
  /** From here on readers see everything at once, and no block vanishes. */
  readonly calm: () => void;
};

const blockMs = 2_000;
/** Blocks older than this never vanish. */
export const finalityMs = 30_000;

/** True while the payment is in the chain. */
export function landed(bill: Bill): Landing | undefined {
  const last = bill.landings.at(-1);
  return last?.goneAtMs === undefined ? last : undefined;
}

export function createChain(parts: {
  readonly clock: Clock;
  readonly luck: Luck;
  readonly onLanded: (bill: Bill) => void;
}): Chain {
  const { clock, luck, onLanded } = parts;
  const bills = new Map<string, Bill>();
  let calm = false;
  let readable = true;

  const land = (bill: Bill): boolean => {
    const nowMs = clock.nowMs();
    if (landed(bill) !== undefined || bill.canceledAtMs !== undefined) return false;
    if (nowMs >= bill.validBeforeMs) return false;
    bill.landings.push({ atMs: nowMs, block: blockAt(nowMs) + 1, goneAtMs: undefined });
    onLanded(bill);
    return true;
  };
  const reorganise = (): Bill | undefined => {
    const nowMs = clock.nowMs();
    const young = [...bills.values()].filter((bill) => nowMs - (landed(bill)?.atMs ?? 0) < finalityMs);
    if (calm || young.length === 0) return undefined;
    const bill = luck.pick(young);
    const landing = landed(bill);
    if (landing !== undefined) landing.goneAtMs = nowMs;
    if (luck.chance(0.7)) clock.after(luck.pick([10, 2_500, 20_000, 90_000]), () => land(bill));
    return bill;
  };
  const pauseMs = (choices: readonly number[]): number => (calm ? 0 : luck.pick(choices));
  const lagMs = (): number => (calm ? 0 : luck.pick([0, 0, 0, 4_000, 20_000]));
  return {
    bills,
    enter: (payment, id) => {
      const bill = newBill(payment, id, bills.size + 1);
      bills.set(bill.nonce, bill);
      return bill;
    },
    land,
    cancel: (bill) => {
      if (landed(bill) === undefined) bill.canceledAtMs ??= clock.nowMs();
    },
    reorganise,
    show: (next) => {
      readable = next;
    },
    calm: () => {
      calm = true;
      readable = true;
    },
    reader: {
      blockNumber: async () => {
        const block = blockAt(clock.nowMs());
        await clock.sleep(pauseMs([0, 0, 1_500]));
        return readable ? block : undefined;
      },
      head: async () => (readable ? { block: blockAt(clock.nowMs()), timeMs: clock.nowMs() } : undefined),
      hasCode: async () => (readable ? false : undefined),
      fate: async ({ nonce, startBlock }, finality = 'latest') => {
        await clock.sleep(pauseMs([0, 0, 0, 3_000]));
        const bill = bills.get(nonce);
        if (!readable || bill === undefined) return { kind: 'unread', why: 'down' };
        return fateOf(bill, { startBlock, finality, atMs: clock.nowMs() - lagMs() });
      },
    },
  };
}

function newBill(payment: PaymentPayload, id: string | undefined, number: number): Bill {
  const { authorization } = payment.payload;
  const member = (name: string): string =>
    typeof authorization === 'object' && authorization !== null
      ? String(Reflect.get(authorization, name))
      : '';
  return {
    name: `P${number}`,
    nonce: member('nonce'),
    payment,
    payer: member('from'),
    id,
    validBeforeMs: Number(member('validBefore')) * 1000,
    transaction: transactionOf(number),
    landings: [],
    canceledAtMs: undefined,
    firstSentMs: undefined,
    sentText: undefined,
    sends: 0,
    refusals: 0,
    unsents: 0,
    lied: false,
    outside: false,
  };
}

type View = {
  readonly startBlock: number | undefined;
  readonly finality: 'latest' | 'safe' | 'finalized' | number;
  readonly atMs: number;
};

/** What a reader that sees the chain as it was at `atMs` says. */
function fateOf(bill: Bill, { startBlock, finality, atMs }: View): AuthorizationFate {
  const { transaction, landings, canceledAtMs } = bill;
  const block = blockAt(atMs) + 1;
  const seen = landings.find((one) => one.atMs <= atMs && (one.goneAtMs ?? Infinity) > atMs);
  if (seen !== undefined) {
    const as = startBlock !== undefined && seen.block <= startBlock ? 'used_elsewhere' : 'settled';
    const confirmations = block - seen.block + 1;
    if (confirmations < depthOf(finality))
      return { kind: 'shallow', as, transaction, block: seen.block, confirmations };
    return as === 'settled'
      ? { kind: as, transaction, block: seen.block, finality }
      : { kind: as, transaction, block: seen.block };
  }
  if (canceledAtMs !== undefined && canceledAtMs <= atMs) return { kind: 'canceled', transaction, block };
  return atMs > bill.validBeforeMs + finalityMs ? { kind: 'expired', block } : { kind: 'unused', block };
}

function depthOf(finality: View['finality']): number {
  switch (finality) {
    case 'latest':
      return 1;
    case 'safe':
      return 8;
    case 'finalized':
      return finalityMs / blockMs + 1;
    default:
      return finality;
  }
}

function blockAt(nowMs: number): number {
  return Math.floor(nowMs / blockMs);
}
