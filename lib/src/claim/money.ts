/**
 * Money facts (design section 3). They are monotone: settled, held and refused may be recorded by anybody who has
 * the evidence, fence or not; each fact is appended to the send log; chain outranks facilitator, and of equal rank
 * the first stays (design 9.9). Nothing returns to `none`, with one exception that is no return: a send of which
 * not one byte left never happened.
 */
import {
  appendLog,
  atLeast,
  type ClaimRecord,
  deeper,
  type Finality,
  leaseAlive,
  type MoneyAxis,
  moneyNow,
  type SendEntry,
} from './record.ts';
import { proofFromMs } from './retention.ts';
import { type Change, holds, nextSend, type Patch, patched, type Step } from './step.ts';
import type { MoneyFact, RecordOutcome } from './store.ts';

type Verdict = { readonly money: MoneyAxis; readonly patch?: Patch; readonly dropAnswer?: true } | undefined;

/** Applies one money fact. */
export function recordMoney(
  record: ClaimRecord | undefined,
  fact: MoneyFact,
  nowMs: number,
): Step<RecordOutcome> {
  if (record === undefined) return { change: {}, outcome: { changed: false, nowMs } };
  if (fact.fact === 'unproven') return lookLater(record, nowMs);
  const verdict = judge(record, fact, nowMs);
  const sendLog = appendLog(record.sendLog, entryOf(record, fact, nowMs));
  if (verdict === undefined) {
    const next = patched(record, { sendLog }, nowMs);
    return { change: { record: next }, outcome: { record: next, changed: false, nowMs } };
  }
  const dropAnswer = verdict.dropAnswer === true ? { answerBytes: undefined } : {};
  // A send whose lease is over was read as unknown, and somebody may have been told so: doubt is sticky.
  const doubted = moneyNow(record, nowMs).state === 'unknown' ? { doubted: true as const } : {};
  const patch = { money: verdict.money, sendLog, ...doubted, ...verdict.patch, ...dropAnswer };
  const next = patched(record, patch, nowMs);
  const change: Change = {
    record: next,
    ...(keepsPayload(verdict.money) ? {} : { payload: null }),
    ...(verdict.dropAnswer === true ? { answer: null } : {}),
  };
  return { change, outcome: { record: next, changed: true, nowMs } };
}

function judge(record: ClaimRecord, fact: Exclude<MoneyFact, { fact: 'unproven' }>, nowMs: number): Verdict {
  switch (fact.fact) {
    case 'settled':
      return judgeSettled(record, fact, nowMs);
    case 'held':
      return isOut(record.money)
        ? { money: { state: 'held', transaction: fact.transaction, rank: fact.by } }
        : undefined;
    case 'refused':
      return judgeRefused(record, fact, nowMs);
    case 'unknown':
      return judgeUnknown(record, fact);
    case 'unsent':
      return judgeUnsent(record, fact, nowMs);
    case 'retired':
      return judgeRetired(record, nowMs);
    case 'voided': {
      const open = isOut(record.money) || record.money.state === 'held';
      return open
        ? { money: { state: 'voided', transaction: fact.transaction }, patch: { lease: undefined } }
        : undefined;
    }
    case 'reversed':
      return record.money.state === 'settled'
        ? {
            money: { state: 'reversed', transaction: fact.transaction },
            patch: { lease: undefined },
            dropAnswer: true,
          }
        : undefined;
    case 'refunded':
      return record.money.state === 'settled'
        ? { money: { state: 'refunded', reference: fact.reference }, patch: { lease: undefined } }
        : undefined;
    default:
      return fact satisfies never;
  }
}

function judgeSettled(record: ClaimRecord, fact: MoneyFact & { fact: 'settled' }, nowMs: number): Verdict {
  // Where the route asks for the chain's own word, a facilitator's is noted in the log and moves nothing (S07, F01).
  if (record.assurance !== undefined && !atLeast(finalityOf(fact), record.assurance)) return undefined;
  const { transaction, amount, by: rank, block, finality } = fact;
  const money: MoneyAxis = {
    state: 'settled',
    transaction,
    amount,
    rank,
    ...(block === undefined ? {} : { block }),
    ...(finality === undefined ? {} : { finality }),
  };
  const final = finality === 'finalized';
  const settled: Verdict = { money, patch: { proveAtMs: final ? undefined : nowMs + soonestProofMs } };
  const known = record.money;
  switch (known.state) {
    case 'sending':
    case 'unknown':
    case 'held':
      return settled;
    case 'settled':
      if (known.rank === 'facilitator') return rank === 'chain' ? settled : undefined;
      return rank === 'chain' && deeper(finality, known.finality) ? settled : undefined;
    case 'refused':
      // A facilitator refused and the chain shows the transfer: the buyer paid, so the work is owed.
      return known.rank === 'facilitator' && rank === 'chain' ? settled : undefined;
    case 'none':
    case 'voided':
    case 'reversed':
    case 'refunded':
      return undefined;
    default:
      return known satisfies never;
  }
}

function finalityOf(fact: MoneyFact & { fact: 'settled' }): Finality | undefined {
  return fact.by === 'chain' ? (fact.finality ?? 'latest') : undefined;
}

/**
 * What is not final is first looked at again this soon, and this late at the latest. The moment is written down, so that
 * whoever waits longest comes first, however many newcomers there are.
 */
const soonestProofMs = 15_000;
const latestProofMs = 600_000;

/** A refusal that only a facilitator asserts is looked at as a settlement is. */
function proveAtMs({ by }: MoneyFact & { fact: 'refused' }, nowMs: number): number | undefined {
  return by === 'facilitator' ? nowMs + soonestProofMs : undefined;
}

/** Looked for better proof in vain: the next look waits about as long as the payment is old. */
function lookLater(record: ClaimRecord, nowMs: number): Step<RecordOutcome> {
  if (proofFromMs(record) === undefined) return { change: {}, outcome: { record, changed: false, nowMs } };
  const waitMs = Math.min(Math.max(nowMs - record.createdAtMs, soonestProofMs), latestProofMs);
  const next = patched(record, { proveAtMs: nowMs + waitMs }, nowMs);
  return { change: { record: next }, outcome: { record: next, changed: false, nowMs } };
}

function judgeRefused(record: ClaimRecord, fact: MoneyFact & { fact: 'refused' }, nowMs: number): Verdict {
  const refused: MoneyAxis = { state: 'refused', why: fact.why, reason: fact.reason, rank: fact.by };
  const money = record.money;
  if (fact.by === 'chain' && fact.ifNeverSent === true && money.state !== 'none') return undefined;
  // A refusal that only a facilitator asserts may yet be overridden, so its answer stays until it is pruned.
  const proven = fact.by === 'chain' ? ({ dropAnswer: true } as const) : {};
  switch (money.state) {
    case 'none':
      return fact.by === 'chain' ? { money: refused, patch: { lease: undefined }, ...proven } : undefined;
    case 'sending':
    case 'unknown':
      if (fact.by === 'facilitator' && !answersTheOnlySend(record, fact.n)) return undefined;
      if (money.phase === 'charge' || money.phase === 'void') return backToHeld(record);
      return { money: refused, patch: { lease: undefined, proveAtMs: proveAtMs(fact, nowMs) }, ...proven };
    case 'settled':
      return money.rank === 'facilitator' && fact.by === 'chain'
        ? { money: refused, patch: { lease: undefined }, ...proven }
        : undefined;
    case 'refused':
      return money.rank === 'facilitator' && fact.by === 'chain' ? { money: refused, ...proven } : undefined;
    case 'held':
    case 'voided':
    case 'reversed':
    case 'refunded':
      return undefined;
    default:
      return money satisfies never;
  }
}

/**
 * A late refusal of send 1, heard while identical bytes of send 2 are under way, proves nothing: the model shows
 * it leading to a payable 402 for money that then moves.
 */
function answersTheOnlySend(record: ClaimRecord, n: number): boolean {
  if (!isOut(record.money) || record.money.n !== n) return false;
  return record.money.phase === 'charge' || record.money.phase === 'void' || record.sends === 1;
}

/** A refused charge or void leaves the deposit where it was (design 9.10). */
function backToHeld(record: ClaimRecord): Verdict {
  const deposit = record.sendLog.find((entry) => entry.said === 'held');
  return { money: { state: 'held', transaction: deposit?.transaction ?? '', rank: 'facilitator' } };
}

function judgeUnknown(record: ClaimRecord, fact: MoneyFact & { fact: 'unknown' }): Verdict {
  const money = record.money;
  if (!isOut(money) || money.n !== fact.n) return undefined;
  const transaction = fact.transaction ?? (money.state === 'unknown' ? money.transaction : undefined);
  return {
    money: {
      state: 'unknown',
      phase: money.phase,
      n: money.n,
      ...(transaction === undefined ? {} : { transaction }),
    },
    // Its owner answers 503 now, and anybody may resolve it from here.
    patch: { lease: undefined, abandoned: true, doubted: true },
  };
}

function judgeUnsent(record: ClaimRecord, fact: MoneyFact & { fact: 'unsent' }, nowMs: number): Verdict {
  const money = record.money;
  if (money.state !== 'sending' || money.n !== fact.n || !holds(record, fact.hold)) return undefined;
  if (!leaseAlive(record, nowMs)) return undefined;
  const sends = record.sends - 1;
  const next: MoneyAxis =
    sends > 0 ? { state: 'unknown', phase: money.phase, n: money.n } : { state: 'none' };
  return { money: next, patch: { lease: undefined, sends } };
}

/** Written before the buyer is invited to pay anew: no later reading of any clock may send it after all. */
function judgeRetired(record: ClaimRecord, nowMs: number): Verdict {
  if (record.money.state !== 'none' || leaseAlive(record, nowMs)) return undefined;
  const reason = 'authorization_expired';
  const money: MoneyAxis = { state: 'refused', why: 'expired', reason, rank: 'facilitator' };
  return { money, patch: { lease: undefined }, dropAnswer: true };
}

function isOut(money: MoneyAxis): money is MoneyAxis & { state: 'sending' | 'unknown' } {
  return money.state === 'sending' || money.state === 'unknown';
}

/** The payload is kept from begin-send to a terminal money state (design 9.4). */
function keepsPayload(money: MoneyAxis): boolean {
  return money.state === 'none' || isOut(money) || money.state === 'held';
}

function entryOf(
  record: ClaimRecord,
  fact: Exclude<MoneyFact, { fact: 'unproven' }>,
  nowMs: number,
): SendEntry {
  const money = record.money;
  const n = 'n' in fact ? fact.n : isOut(money) ? money.n : Math.max(0, nextSend(record) - 1);
  const phase = isOut(money) ? money.phase : 'pay';
  const by = 'by' in fact ? fact.by : 'seller';
  const reason = 'reason' in fact && fact.reason !== undefined ? { reason: fact.reason } : {};
  const transaction =
    'transaction' in fact && fact.transaction !== undefined ? { transaction: fact.transaction } : {};
  return { atMs: nowMs, n, phase, said: fact.fact, by, ...reason, ...transaction };
}
