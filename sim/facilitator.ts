/**
 * The facilitator of a run, behind the same strict reader as a real one: it lands payments or does not, at once, late
 * or twice, and says what it likes. It is honest unless a payment is marked as lied about.
 */
import {
  createFacilitator,
  type Facilitator,
  type FacilitatorCall,
  type TransportResult,
} from '../lib/src/settlement/index.ts';
import type { JsonObject } from '../lib/src/wire/v2.ts';
import type { Luck } from '../lib/test/luck.ts';
import { network, said } from '../lib/test/rig.ts';
import { type Bill, type Chain, landed } from './chain.ts';
import type { Clock } from './clock.ts';

/** What becomes of one settle, and what is said of it. */
type Lot =
  | 'success'
  | 'duplicate'
  | 'lost_landed'
  | 'broken_landed'
  | 'lost'
  | 'lost_late'
  | 'pending'
  | 'refused'
  | 'unsent'
  | 'look_up'
  | 'other_payer'
  | 'refused_landed'
  | 'settled_not'
  | 'settled_later';

const honestLots: Readonly<Record<Lot, number>> = {
  success: 9,
  duplicate: 1,
  lost_landed: 2,
  broken_landed: 1,
  lost: 2,
  lost_late: 2,
  pending: 1,
  refused: 2,
  unsent: 2,
  look_up: 2,
  other_payer: 1,
  refused_landed: 0,
  settled_not: 0,
  settled_later: 0,
};
const lyingLots: Readonly<Record<Lot, number>> = {
  ...honestLots,
  refused_landed: 3,
  settled_not: 2,
  settled_later: 2,
};

export type MarketFacilitator = { readonly facilitator: Facilitator; readonly calm: () => void };

export function createMarketFacilitator(parts: {
  readonly clock: Clock;
  readonly luck: Luck;
  readonly chain: Chain;
  /** Whether it may lie. */
  readonly lies: boolean;
  readonly say: (line: () => string) => void;
  /** Hears of what no seller may do, as sending other octets the second time. */
  readonly fault: (words: string) => void;
}): MarketFacilitator {
  const { clock, luck, chain, say } = parts;
  let calm = false;
  const pause = (choices: readonly number[]): Promise<void> => clock.sleep(calm ? 0 : luck.pick(choices));

  const verify = async (bill: Bill, forged: boolean): Promise<TransportResult> => {
    await pause([0, 0, 0, 0, 1_000, 33_000]);
    if (forged) return invalid('invalid_exact_evm_payload_signature');
    if (landed(bill) !== undefined || bill.canceledAtMs !== undefined)
      return invalid('invalid_exact_evm_nonce_already_used');
    if (calm || !luck.chance(0.12)) return said({ isValid: true, payer: bill.payer });
    return luck.chance(0.5) ? invalid('insufficient_funds') : { kind: 'failed', why: 'timeout' };
  };
  const settle = async (bill: Bill, forged: boolean, text: string): Promise<TransportResult> => {
    if (forged) return refused('invalid_exact_evm_payload_signature');
    bill.firstSentMs ??= clock.nowMs();
    bill.sends += 1;
    bill.sentText ??= text;
    if (bill.sentText !== text) parts.fault(`S3: ${bill.name} was sent again with other octets`);
    await pause([0, 0, 0, 500, 3_000]);
    const lot = calm ? 'success' : luck.weigh(parts.lies ? lyingLots : honestLots);
    const answer = carryOut({ clock, luck, chain }, bill, lot);
    say(() => `facilitator  ${bill.name} ${lot}${landed(bill) === undefined ? '' : ', landed'}`);
    await pause([0, 0, 0, 500, 20_000, 45_000]);
    return answer;
  };
  const transport = async (call: FacilitatorCall): Promise<TransportResult> => {
    if (call.call === 'supported')
      return said({ kinds: [{ x402Version: 2, scheme: 'exact', network }], extensions: [], signers: {} });
    const { paymentPayload } = call.body;
    const { bill, forged } = read(chain, paymentPayload);
    return call.call === 'verify'
      ? verify(bill, forged)
      : settle(bill, forged, JSON.stringify(paymentPayload));
  };
  return {
    facilitator: createFacilitator(transport),
    calm: () => {
      calm = true;
    },
  };
}

function read(chain: Chain, message: unknown): { readonly bill: Bill; readonly forged: boolean } {
  const payload = member(message, 'payload');
  const bill = chain.bills.get(String(member(member(payload, 'authorization'), 'nonce')));
  if (bill === undefined) throw new Error('a payment that nobody signed');
  return { bill, forged: member(payload, 'signature') !== bill.payment.payload.signature };
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

type Powers = { readonly clock: Clock; readonly luck: Luck; readonly chain: Chain };

function carryOut({ clock, luck, chain }: Powers, bill: Bill, lot: Lot): TransportResult {
  const later = (...choices: readonly number[]): void =>
    void clock.after(luck.pick(choices), () => chain.land(bill));
  const lastMoment = bill.validBeforeMs - clock.nowMs() - 1;
  const named = { transaction: bill.transaction, network };
  switch (lot) {
    case 'success':
      return honest(bill, chain.land(bill), clock.nowMs());
    case 'duplicate':
      // It sent twice and judges by the second transaction, which reverts.
      chain.land(bill);
      return failed('invalid_exact_evm_transaction_failed', named);
    case 'lost_landed':
      chain.land(bill);
      return { kind: 'failed', why: 'reset' };
    case 'broken_landed':
      chain.land(bill);
      return said({ success: false, errorReason: 'insufficient_funds', ...named, transaction: '' }, 502);
    case 'lost':
      return { kind: 'failed', why: 'timeout' };
    case 'lost_late':
      later(900, 7_000, 45_000, 150_000, lastMoment);
      return { kind: 'failed', why: 'timeout' };
    case 'pending':
      later(900, 7_000, 45_000);
      return failed('settlement_pending', named);
    case 'refused':
      bill.refusals += 1;
      return refused('insufficient_funds');
    case 'unsent':
      bill.unsents += 1;
      return { kind: 'unsent' };
    case 'look_up':
      if (luck.chance(0.5)) chain.land(bill);
      return failed('unexpected_settle_error', { network, transaction: '' });
    case 'other_payer':
      chain.land(bill);
      return said({ success: true, payer: `0x${'77'.repeat(20)}`, ...named });
    case 'refused_landed':
      bill.lied = true;
      bill.refusals += 1;
      chain.land(bill);
      return refused('insufficient_funds');
    case 'settled_not':
      bill.lied = true;
      return success(bill);
    case 'settled_later':
      bill.lied = true;
      later(900, 45_000, lastMoment);
      return success(bill);
    default:
      return lot satisfies never;
  }
}

/** What an honest facilitator says of a settle that it carried through. */
function honest(bill: Bill, done: boolean, nowMs: number): TransportResult {
  if (done) return success(bill);
  const over = nowMs >= bill.validBeforeMs && landed(bill) === undefined && bill.canceledAtMs === undefined;
  if (!over) return failed('invalid_exact_evm_nonce_already_used', { network, transaction: '' });
  bill.refusals += 1;
  return refused('invalid_exact_evm_payload_authorization_valid_before');
}

function success({ payer, transaction }: Bill): TransportResult {
  return said({ success: true, payer, transaction, network });
}

function refused(errorReason: string): TransportResult {
  return failed(errorReason, { transaction: '', network });
}

function failed(errorReason: string, more: JsonObject): TransportResult {
  return said({ success: false, errorReason, ...more });
}

function invalid(invalidReason: string): TransportResult {
  return said({ isValid: false, invalidReason });
}
