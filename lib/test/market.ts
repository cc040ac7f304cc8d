/**
 * The world around sellers in the simulation: one chain with its ledger, and one facilitator that lands payments or
 * does not, at once or late, and says what it likes. All of it is honest unless a payment is marked as lied about.
 */
import type { AuthorizationFate, ChainReader, Facilitator, SettleAnswer } from '../src/settlement/index.ts';
import type { PaymentPayload } from '../src/wire/v2.ts';
import type { Luck } from './luck.ts';
import { type Clock, network, transactionOf } from './rig.ts';

/** One signed payment and what truly happened to it. */
export type Bill = {
  readonly nonce: string;
  readonly payment: PaymentPayload;
  readonly payer: string;
  readonly validBeforeMs: number;
  readonly transaction: string;
  landed: { readonly atMs: number; readonly block: number } | undefined;
  canceledAtMs: number | undefined;
  firstSentMs: number | undefined;
  sends: number;
  /** The facilitator said something about it that was not so. */
  lied: boolean;
};

export type Market = {
  readonly bills: Map<string, Bill>;
  readonly enter: (payment: PaymentPayload) => Bill;
  readonly cancel: (bill: Bill) => void;
  readonly facilitator: Facilitator;
  readonly chain: ChainReader;
  /** While false, nobody can read the chain. */
  readonly show: (readable: boolean) => void;
  /** From here on the facilitator is quick and honest, and so is the chain. */
  readonly calm: () => void;
};

const blockMs = 2_000;
const finalityMs = 30_000;

export function createMarket(parts: {
  readonly clock: Clock;
  readonly luck: Luck;
  /** Whether the facilitator may lie. */
  readonly lies: boolean;
  readonly onLanded: (bill: Bill) => void;
}): Market {
  const { clock, luck, onLanded } = parts;
  const bills = new Map<string, Bill>();
  let calm = false;
  let readable = true;

  const sleep = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      if (calm || ms === 0) resolve();
      else clock.after(ms, resolve);
    });
  const land = (bill: Bill): boolean => {
    if (bill.landed !== undefined || bill.canceledAtMs !== undefined) return false;
    if (clock.nowMs() >= bill.validBeforeMs) return false;
    bill.landed = { atMs: clock.nowMs(), block: blockAt(clock.nowMs()) + 1 };
    onLanded(bill);
    return true;
  };
  const read = (payment: unknown): { readonly bill: Bill; readonly forged: boolean } => {
    const { payload } = payment as {
      payload: { authorization: { nonce: string }; signature: string };
    };
    const bill = bills.get(payload.authorization.nonce);
    if (bill === undefined) throw new Error('a payment that nobody signed');
    return { bill, forged: payload.signature !== bill.payment.payload.signature };
  };
  const settleAs = async (bill: Bill, lot: Lot): Promise<SettleAnswer> => {
    switch (lot) {
      case 'success':
        return honest(bill, land(bill), clock.nowMs());
      case 'lost_landed':
        land(bill);
        return { kind: 'lost', why: 'reset' };
      case 'lost':
        return { kind: 'lost', why: 'timeout' };
      case 'lost_late':
        clock.after(luck.pick([900, 7_000, 45_000, 150_000]), () => land(bill));
        return { kind: 'lost', why: 'timeout' };
      case 'pending':
        clock.after(luck.pick([900, 7_000, 45_000]), () => land(bill));
        return { kind: 'pending', transaction: bill.transaction };
      case 'refused':
        return { kind: 'refused', reason: 'insufficient_funds' };
      case 'unsent':
        return { kind: 'unsent' };
      case 'look_up':
        if (luck.chance(0.5)) land(bill);
        return { kind: 'look_up', reason: 'unexpected_settle_error' };
      case 'refused_landed':
        bill.lied = true;
        land(bill);
        return { kind: 'refused', reason: 'insufficient_funds' };
      case 'settled_not':
        bill.lied = true;
        return { kind: 'settled', transaction: bill.transaction, amount: 10_000n };
      default:
        return lot satisfies never;
    }
  };

  return {
    bills,
    enter: (payment) => {
      const { from, nonce, validBefore } = payment.payload.authorization as {
        from: string;
        nonce: string;
        validBefore: string;
      };
      const bill: Bill = {
        nonce,
        payment,
        payer: from,
        validBeforeMs: Number(validBefore) * 1000,
        transaction: transactionOf(bills.size + 1),
        landed: undefined,
        canceledAtMs: undefined,
        firstSentMs: undefined,
        sends: 0,
        lied: false,
      };
      bills.set(nonce, bill);
      return bill;
    },
    cancel: (bill) => {
      if (bill.landed === undefined) bill.canceledAtMs ??= clock.nowMs();
    },
    show: (next) => {
      readable = next;
    },
    calm: () => {
      calm = true;
      readable = true;
    },
    facilitator: {
      supported: async () => ({
        kind: 'supported',
        kinds: [{ x402Version: 2, scheme: 'exact', network }],
      }),
      verify: async ({ payment }) => {
        const { bill, forged } = read(payment);
        await sleep(luck.pick([0, 0, 0, 1_000, 33_000]));
        if (forged) return { kind: 'invalid', reason: 'invalid_exact_evm_payload_signature' };
        if (bill.landed !== undefined || bill.canceledAtMs !== undefined)
          return { kind: 'invalid', reason: 'invalid_exact_evm_nonce_already_used' };
        if (calm || !luck.chance(0.15)) return { kind: 'valid' };
        return luck.chance(0.5)
          ? { kind: 'invalid', reason: 'insufficient_funds' }
          : { kind: 'unavailable', why: 'timeout' };
      },
      settle: async ({ payment }) => {
        const { bill, forged } = read(payment);
        if (forged) return { kind: 'refused', reason: 'invalid_exact_evm_payload_signature' };
        bill.firstSentMs ??= clock.nowMs();
        bill.sends += 1;
        await sleep(luck.pick([0, 0, 0, 500, 3_000]));
        const lot = calm ? 'success' : luck.weigh(parts.lies ? lyingLots : lots);
        const answer = await settleAs(bill, lot);
        await sleep(luck.pick([0, 0, 0, 500, 20_000, 45_000]));
        return answer;
      },
    },
    chain: {
      blockNumber: async () => {
        const block = blockAt(clock.nowMs());
        await sleep(luck.pick([0, 0, 1_500]));
        return readable ? block : undefined;
      },
      head: async () => (readable ? { block: blockAt(clock.nowMs()), timeMs: clock.nowMs() } : undefined),
      hasCode: async () => (readable ? false : undefined),
      fate: async ({ nonce, startBlock }): Promise<AuthorizationFate> => {
        await sleep(luck.pick([0, 0, 0, 3_000]));
        const bill = bills.get(nonce);
        if (!readable || bill === undefined) return { kind: 'unread', why: 'down' };
        return fateOf(bill, startBlock, clock.nowMs());
      },
    },
  };
}

type Lot =
  | 'success'
  | 'lost_landed'
  | 'lost'
  | 'lost_late'
  | 'pending'
  | 'refused'
  | 'unsent'
  | 'look_up'
  | 'refused_landed'
  | 'settled_not';

const lots: Readonly<Record<Lot, number>> = {
  success: 8,
  lost_landed: 3,
  lost: 2,
  lost_late: 2,
  pending: 1,
  refused: 2,
  unsent: 2,
  look_up: 2,
  refused_landed: 0,
  settled_not: 0,
};
const lyingLots: Readonly<Record<Lot, number>> = { ...lots, refused_landed: 2, settled_not: 1 };

/** What an honest facilitator says of a settle that it carried through. */
function honest(bill: Bill, landed: boolean, nowMs: number): SettleAnswer {
  if (landed) return { kind: 'settled', transaction: bill.transaction, amount: 10_000n };
  const over = nowMs >= bill.validBeforeMs && bill.landed === undefined && bill.canceledAtMs === undefined;
  return over
    ? { kind: 'refused', reason: 'invalid_exact_evm_payload_authorization_valid_before' }
    : { kind: 'look_up', reason: 'invalid_exact_evm_nonce_already_used' };
}

function fateOf(bill: Bill, startBlock: number | undefined, nowMs: number): AuthorizationFate {
  const { transaction, landed } = bill;
  const block = blockAt(nowMs);
  if (landed !== undefined) {
    const earlier = startBlock !== undefined && landed.block <= startBlock;
    return { kind: earlier ? 'used_elsewhere' : 'settled', transaction, block: landed.block };
  }
  if (bill.canceledAtMs !== undefined) return { kind: 'canceled', transaction, block };
  return nowMs > bill.validBeforeMs + finalityMs ? { kind: 'expired', block } : { kind: 'unused', block };
}

function blockAt(nowMs: number): number {
  return Math.floor(nowMs / blockMs);
}
