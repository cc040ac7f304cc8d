/** A payment as its buyer sees it, and what one answer to it may say: everything is held against what truly happened. */
import type { Seen } from '../lib/test/rig.ts';
import { type Bill, landed } from './chain.ts';

export type Purchase = {
  readonly bill: Bill;
  /** What its buyer wants with it. */
  readonly target: string;
  /** What its record says that it buys, where there is one in the end. */
  bought: string | undefined;
  readonly firstAskedMs: number;
  /** Copies on their way now, and in all. */
  inFlight: number;
  presented: number;
  /** Told in so many words that a new payment is wanted; an honest buyer never shows this one again. */
  invited: boolean;
  /** The same, while no other copy of it was on its way anywhere. */
  buried: boolean;
  /** When it was first called unknown. */
  doubtedMs: number | undefined;
  /** When an answer that it bought was first written out whole, to whichever payment. */
  deliveredMs: number | undefined;
  /** An operator closed it. */
  closed: boolean;
};

export function newPurchase(bill: Bill, target: string, nowMs: number): Purchase {
  return {
    bill,
    target,
    bought: undefined,
    firstAskedMs: nowMs,
    inFlight: 0,
    presented: 0,
    invited: false,
    buried: false,
    doubtedMs: undefined,
    deliveredMs: undefined,
    closed: false,
  };
}

/** Around one answer: what was asked, and what the records said meanwhile. */
export type Hearing = {
  readonly purchase: Purchase;
  readonly seen: Seen;
  readonly target: string;
  readonly startedMs: number;
  readonly nowMs: number;
  /** No other copy was on its way meanwhile. */
  readonly alone: boolean;
  /** Money of the record, when the request came and when its answer left. */
  readonly money: readonly [before: string | undefined, after: string | undefined];
  /** When the answer left, an answer was kept for it whose send could still begin. */
  readonly sendable: boolean;
  readonly billOf: (nonce: string) => Bill | undefined;
  /** Sellers believe nobody but the chain. */
  readonly assured: boolean;
};

/** What the answer's own words are: the code, and what it says about money. */
export function wordsOf(seen: Seen): { readonly code: string; readonly money: string } {
  const header = seen.header('counterfoil-payment') ?? '';
  const word = (name: string): string => new RegExp(`${name}=(\\w+)`).exec(header)?.[1] ?? '';
  return { code: seen.problem.code || word('code'), money: seen.problem.money || word('money') };
}

/** Everything that one answer says that is not so. */
export function judgeAnswer(hearing: Hearing): readonly string[] {
  const { purchase, seen } = hearing;
  const { code } = wordsOf(seen);
  const told = `${purchase.bill.name} was told ${seen.status} ${code}`;
  const faults = [
    ...(code === 'internal_error' ? ['S5: an exception'] : []),
    ...judgeInvitation(hearing),
    ...(code === 'authorization_expired' && hearing.alone && hearing.sendable
      ? ['I5: said to be dead, and it could still be sent']
      : []),
    ...judgeMoney(hearing),
    ...(seen.status === 200 ? judgeGoods(hearing) : []),
  ];
  return faults.map((fault) => `${fault}: ${told}`);
}

/** True where the answer asks for another payment. */
export function invites({ required, status, problem }: Seen): boolean {
  return required !== undefined || (status === 402 && problem.retry === 'new_payment');
}

/** Money that may still move, or has. */
const unsettled: ReadonlySet<string | undefined> = new Set(['sending', 'unknown', 'settled']);

/** I3: while money is sending or unknown no answer invites a payment. */
function judgeInvitation({ purchase, seen, startedMs, alone, money }: Hearing): readonly string[] {
  if (!invites(seen)) return [];
  const [before, after] = money;
  const recorded = alone && unsettled.has(before) && unsettled.has(after);
  if (recorded) return [`I3: invites while the money is ${after}`];
  const { bill } = purchase;
  const excused = bill.lied || bill.outside || wasReorganised(bill);
  return !excused && movedBefore(bill, startedMs) ? ['I3: invites although the money has moved'] : [];
}

function judgeMoney({ purchase: { bill }, seen, startedMs }: Hearing): readonly string[] {
  // What was spent elsewhere was never sent from here, and nobody here need know.
  if (bill.lied || bill.outside || wasReorganised(bill)) return [];
  const { money } = wordsOf(seen);
  if (money === 'unmoved' && movedBefore(bill, startedMs)) return ['S3: unmoved is wrong'];
  const spent = bill.landings.length > 0 || bill.canceledAtMs !== undefined;
  return money === 'moved' && !spent ? ['S3: moved is wrong'] : [];
}

/** I2, S2: what is served was paid for, by this buyer, for this request. */
function judgeGoods({ purchase: { bill }, seen, target, billOf, assured }: Hearing): readonly string[] {
  const [payer, bought, nonce = ''] = seen.text.split(' ');
  const paid = billOf(nonce);
  const asserted = paid?.lied === true && !assured;
  const older = /served_by_earlier_payment/.test(seen.header('counterfoil-payment') ?? '');
  return [
    ...(payer === bill.payer ? [] : ['S2: somebody else’s answer']),
    ...(bought === target ? [] : ['S2: another request’s answer']),
    ...(paid === undefined || (paid.landings.length === 0 && !asserted)
      ? ['I2: served before it was paid']
      : []),
    ...(nonce === bill.nonce || older ? [] : ['S2: another payment’s answer']),
  ];
}

function movedBefore(bill: Bill, startedMs: number): boolean {
  const landing = landed(bill);
  return landing !== undefined && landing.atMs < startedMs;
}

function wasReorganised({ landings }: Bill): boolean {
  return landings.some(({ goneAtMs }) => goneAtMs !== undefined);
}

/**
 * S3: who was told that a payment is unknown, and pays anew for the same, is not charged a second time for it; and one
 * name of a purchase is charged once.
 */
export function judgeCharges(purchases: Iterable<Purchase>): readonly string[] {
  const charged = [...purchases].filter(
    ({ bill }) => landed(bill) !== undefined && !bill.lied && !bill.outside && !wasReorganised(bill),
  );
  return charged.flatMap((one) =>
    charged.flatMap((two) => {
      if (one === two || one.bill.payer !== two.bill.payer) return [];
      if (sameName(one, two) && one.bill.name < two.bill.name)
        return [`S3: ${one.bill.name} and ${two.bill.name} have one name and were both charged`];
      return doublyCharged(one, two)
        ? [`S3: ${one.bill.name} was in doubt and ${two.bill.name} was charged as well`]
        : [];
    }),
  );
}

function sameName(one: Purchase, two: Purchase): boolean {
  return one.bill.id !== undefined && one.bill.id === two.bill.id;
}

function doublyCharged(one: Purchase, two: Purchase): boolean {
  const twins = one.bought !== undefined && one.bought === two.bought && !one.closed;
  if (!twins || one.doubtedMs === undefined || one.doubtedMs >= two.firstAskedMs) return false;
  const sentMs = two.bill.firstSentMs ?? 0;
  return one.deliveredMs === undefined || one.deliveredMs > sentMs;
}
