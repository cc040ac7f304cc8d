/**
 * The laws of design section 3 as they can be judged from one change of a record, and from the truth of the chain. They
 * know nothing of the model: what both miss would have to be missed twice.
 */
import {
  type ClaimRecord,
  forgettable,
  leaseAlive,
  type MoneyAxis,
  needsAttention,
} from '../lib/src/claim/index.ts';
import { type Bill, finalityMs, landed } from './chain.ts';
import { isRetired } from './sight.ts';
import type { Change } from './watch.ts';

/** What is broken, in words that begin with the name of the law. */
export type Fault = string;

/** What is true of the payment beside its record. */
export type Truth = {
  readonly bill: Bill | undefined;
  /** Its answer was written out whole once. */
  readonly delivered: boolean;
  readonly graceMs: number;
};

type Seen = Change & Truth;
type Law = (seen: Seen) => Fault | undefined;

/** I1: a right to run is given only when nobody else can still run, and an answer keeps the lease as it is. */
const oneOwner: Law = ({ before, after, nowMs, graceMs }) => {
  const given = after?.lease !== undefined && after.lease.fence !== before?.lease?.fence;
  if (!given || before?.lease === undefined) return undefined;
  if (leaseAlive(before, nowMs)) return `I1: a new owner while the lease of ${before.lease.owner} is alive`;
  const grace = before.work.state === 'running' && nowMs < before.lease.untilMs + graceMs;
  return grace ? `I1: a new owner in the grace of ${before.lease.owner}` : undefined;
};

/** I1: what is over stays over, for whoever owns it; only a right that is given anew lives. */
const deadStaysDead: Law = ({ operation, before, after, nowMs }) => {
  if (operation !== 'heartbeat' || before?.lease === undefined || after === undefined) return undefined;
  const revived = !leaseAlive(before, nowMs) && leaseAlive(after, nowMs);
  return revived ? 'I1: a heartbeat revived a lease that was over' : undefined;
};

/** I6: work changes by the hand of its newest owner alone. */
const byItsOwner: Law = ({ operation, asked, before }) => {
  if (!held.has(operation) || before === undefined) return undefined;
  const [hold] = asked;
  const member = (name: string): unknown =>
    typeof hold === 'object' && hold !== null ? Reflect.get(hold, name) : undefined;
  const newest = before.lease?.owner === member('owner') && before.fence === member('fence');
  return newest ? undefined : `I6: ${operation} by ${String(member('owner'))}, who is not the newest owner`;
};

/** The operations that are asked with a hold. */
const held: ReadonlySet<string> = new Set([
  'heartbeat',
  'keepAndBeginSend',
  'startWork',
  'finish',
  'fail',
  'release',
]);

/** I6, S1: counters grow, and only a claim that is given back takes one off. */
const counters: Law = ({ operation, before, after }) => {
  if (after === undefined) return undefined;
  if (after.attempts > after.maxAttempts) return `S1: attempt ${after.attempts} of ${after.maxAttempts}`;
  if (before === undefined) return undefined;
  const given = operation === 'release' ? 1 : 0;
  if (after.fence < before.fence) return 'I6: the fence went back';
  if (after.attempts < before.attempts - given) return 'S1: an attempt was forgotten';
  if (after.attempts > before.attempts + 1) return 'S1: two attempts at once';
  return undefined;
};

/** I5, I6: money goes where design section 3 says, and nowhere else. */
const money: Law = ({ before, after }) => {
  const from = before?.money ?? { state: 'none' as const };
  if (after === undefined || after.money === from) return undefined;
  const to = after.money;
  if (from.state === to.state) return undefined;
  const way = `${from.state} -> ${to.state}`;
  if (!ways.has(way)) return `I6: money went ${way}`;
  if (way === 'sending -> none' && before !== undefined && before.sends > 1)
    return 'I6: money went back to none after more than one send';
  if (from.state === 'refused' && (from.rank === 'chain' || !provenBy(to)))
    return `I5: a refusal by the ${from.rank} was overruled by less`;
  if (from.state === 'settled' && to.state === 'refused' && from.rank === 'chain')
    return 'I6: a proven settlement was refused';
  return undefined;
};

const ways: ReadonlySet<string> = new Set([
  'none -> sending',
  'none -> refused',
  'sending -> none',
  'sending -> unknown',
  'sending -> settled',
  'sending -> refused',
  'unknown -> sending',
  'unknown -> settled',
  'unknown -> refused',
  'refused -> settled',
  'settled -> refused',
  'settled -> reversed',
  'settled -> refunded',
]);

function provenBy(axis: MoneyAxis): boolean {
  return 'rank' in axis && axis.rank === 'chain';
}

/** I5: what was declared dead before it was sent, or is answered from another payment, is never sent. */
const deadIsDead: Law = ({ before, after }) => {
  if (before === undefined || after?.money.state !== 'sending' || before.money.state === 'sending')
    return undefined;
  if (before.supersededBy !== undefined) return 'I5: a superseded payment was sent';
  if (before.work.state === 'exhausted' && before.money.state === 'none')
    return 'I5: an exhausted payment was sent';
  return isRetired(before) ? 'I5: a payment that was declared dead was sent' : undefined;
};

/** I7: where the money moves last, the answer is durable before the send. */
const keptFirst: Law = ({ before, after, answerBytes, own }) => {
  const begun = after?.money.state === 'sending' && before?.money.state !== 'sending';
  if (!begun || !own || after.flow !== 'authorization') return undefined;
  const kept = after.answerBytes !== undefined && answerBytes === after.answerBytes;
  return kept ? undefined : 'I7: the send began before the answer was kept';
};

/** I2, S3: money facts come from somebody who said so, or from the chain. */
const evidence: Law = ({ before, after, bill, nowMs }) => {
  const to = after?.money;
  if (bill === undefined || to === undefined || to === before?.money) return undefined;
  // A send whose beginning its sender never heard of has left nothing, and may be taken back.
  const left = bill.sentText !== undefined && bill.unsents === 0;
  if (to.state === 'none' && before !== undefined && before.money.state !== 'none' && left)
    return 'S3: taken back, and bytes had left';
  if (to.state === 'settled') {
    const moved = bill.landings.length > 0;
    if (to.rank === 'chain' && !moved) return 'I2: settled by a chain that never saw it';
    return moved || bill.lied ? undefined : 'I2: settled, and nobody said so';
  }
  if (to.state !== 'refused' || before?.money.state === 'refused') return undefined;
  if (to.rank === 'chain') return refusedByChain(to.why, bill, nowMs);
  return to.why === 'expired' || bill.refusals > 0 ? undefined : 'S3: refused, and nobody said no';
};

function refusedByChain(why: string, bill: Bill, nowMs: number): Fault | undefined {
  const over = nowMs > bill.validBeforeMs + finalityMs;
  if (why === 'expired' && (!over || landed(bill) !== undefined))
    return 'S3: expired, says a chain that may still take it';
  if (why === 'canceled' && bill.canceledAtMs === undefined) return 'S3: canceled, and nobody canceled it';
  if (why === 'used_elsewhere' && bill.landings.length === 0)
    return 'S3: used elsewhere, and it was never used';
  const ours = bill.firstSentMs !== undefined && (bill.landings[0]?.atMs ?? 0) >= bill.firstSentMs;
  if (why === 'used_elsewhere' && ours && !bill.outside)
    return 'S4: used elsewhere, says the record of a transfer that was sent from here';
  return undefined;
}

/** S3: what was in doubt once may have been told so; and what was delivered was. */
const sticky: Law = ({ before, after }) => {
  if (before === undefined || after === undefined) return undefined;
  if (before.doubted === true && after.doubted !== true) return 'S3: a doubt was forgotten';
  if (before.deliveredAtMs !== undefined && after.deliveredAtMs !== before.deliveredAtMs)
    return 'I6: a delivery was forgotten';
  if (before.supersededBy !== undefined && after.supersededBy !== before.supersededBy)
    return 'I6: a superseded payment was freed';
  return undefined;
};

/** S2: what was sent stays with its request, its signature and its payer. */
const bound: Law = ({ before, after }) => {
  if (before === undefined || after === undefined || before.money.state === 'none') return undefined;
  const same = before.fingerprint === after.fingerprint && before.signatureHash === after.signatureHash;
  return same ? undefined : 'S2: a payment that was sent changed its request';
};

/** S4, I4: what was paid for is delivered, can be delivered, or is owed and listed until an operator closes it. */
const nothingLost: Law = ({ before, after, nowMs }) => {
  if (after === undefined)
    return before === undefined || forgettable(before, nowMs) ? undefined : lostWords(before);
  const owed =
    after.money.state === 'settled' && after.deliveredAtMs === undefined && after.closed === undefined;
  if (!owed) return undefined;
  if (after.work.state === 'done' && after.answerBytes === undefined)
    return 'I4: the answer of a paid and undelivered payment is gone';
  const listed = needsAttention(after, nowMs) || leaseAlive(after, nowMs);
  return listed ? undefined : 'I4: owed work is on no list';
};

function lostWords({ money: { state } }: ClaimRecord): Fault {
  return `S4: a record whose money is ${state} was forgotten too soon`;
}

/** I6: what an operator has dealt with outside is neither sent nor run after all. */
const closedRests: Law = ({ before, after }) => {
  if (before?.closed === undefined || after === undefined) return undefined;
  const moves = after.lease !== undefined || after.closed === undefined;
  return moves ? 'I6: what an operator had closed was taken up again' : undefined;
};

/** S4: a client that left got nothing. */
const noted: Law = ({ before, after, bill, delivered }) => {
  const fresh = after?.deliveredAtMs !== undefined && before?.deliveredAtMs === undefined;
  return fresh && bill !== undefined && !delivered ? 'S4: noted as delivered, and nobody got it' : undefined;
};

/** Released only what never was sent; the record and all of its attempts go. */
const released: Law = ({ operation, before, after }) => {
  if (operation !== 'release' || before === undefined || after !== undefined) return undefined;
  return before.money.state === 'none' && before.sends === 0
    ? undefined
    : 'I6: a payment that was sent was released';
};

const laws: readonly Law[] = [
  oneOwner,
  deadStaysDead,
  byItsOwner,
  counters,
  money,
  deadIsDead,
  keptFirst,
  evidence,
  sticky,
  bound,
  nothingLost,
  closedRests,
  noted,
  released,
];

/** Every law that one change breaks. */
export function judgeLaws(change: Change, truth: Truth): readonly Fault[] {
  // What is given back is gone at once, and owes nobody anything.
  const fitting = change.operation === 'release' ? laws.filter((law) => law !== nothingLost) : laws;
  return fitting.flatMap((law) => law({ ...change, ...truth }) ?? []);
}
