/**
 * Whether one payment was treated as promised (design section 1), judged from what can be seen from outside: what the
 * buyer was answered, what the chain shows, and the runs that the handlers wrote down.
 */
import { goods } from '../seller/goods.ts';
import type { Entry } from '../seller/journal.ts';
import type { Seen } from './buyer.ts';

/** All that is known of one payment when its round is over. */
export type Evidence = {
  readonly nonce: string;
  /** Octets of the answer that was asked for. */
  readonly size: number;
  readonly seen: readonly Seen[];
  readonly journal: readonly Entry[];
  /** Transactions that used the authorization, and what the buyer's account lost in the round. */
  readonly charges: readonly string[];
  readonly spent: bigint;
  readonly attempts: number;
  /** Codes that may be met in this round, beside those of a payment under way or in doubt. */
  readonly excused: readonly string[];
  /** Executions whose answer a store that was down may not have kept. */
  readonly unkept: number;
};

/** What one payment came to, and every promise that was broken. */
export type Verdict = {
  readonly runs: number;
  readonly deliveries: number;
  readonly charges: number;
  readonly violations: readonly string[];
};

/** A cent of a dollar of six decimals. */
const priceAtomic = 10_000n;
/** What a copy of a payment under way, or in doubt, is told, and one whose facilitator is too slow to verify it. */
const patientCodes: ReadonlySet<string> = new Set([
  'payment_in_progress',
  'settlement_unknown',
  'facilitator_unavailable',
]);

/** Judges a payment that was presented until it was served. */
export function judge(evidence: Evidence): Verdict {
  const { seen, charges } = evidence;
  const runs = runsOf(evidence);
  const served = seen.filter(({ status }) => status === 200);
  return {
    runs: runs.length,
    deliveries: served.length,
    charges: charges.length,
    violations: [
      ...judgeMoney(evidence, served),
      ...judgeRuns(evidence, runs),
      ...judgeServed(evidence, served),
      ...seen.flatMap((answer) => judgeAnswer(answer, evidence)),
    ],
  };
}

/** S4: charged once, what was asked, and every paid answer names that very transaction. */
function judgeMoney({ charges, spent }: Evidence, served: readonly Seen[]): readonly string[] {
  const found: string[] = [];
  if (charges.length !== 1) found.push(`S4: ${charges.length} charges on the chain`);
  if (spent !== priceAtomic) found.push(`S4: the buyer paid ${spent} for a price of ${priceAtomic}`);
  for (const { transaction, seat } of served) {
    if (transaction === undefined || !charges.includes(transaction))
      found.push(`S4: PAYMENT-RESPONSE of ${seat} names ${transaction ?? 'nothing'}, not ${charges.join()}`);
  }
  return found;
}

/** One execution of the work, from its start to whatever ended it. */
export type Run = { readonly who: string; readonly fromMs: number; readonly untilMs: number };

/** The executions of the payment's work. One ends with its process too, and where it stops to count or to move. */
export function runsOf({ nonce, journal }: Pick<Evidence, 'nonce' | 'journal'>): readonly Run[] {
  const mine = journal.filter((entry) => entry.nonce === nonce);
  return mine
    .filter(({ what }) => what === 'run')
    .map(({ who, atMs }) => {
      const end = mine.find(
        (entry) =>
          entry.who === who && entry.atMs > atMs && ['ran', 'lost', 'death', 'halt'].includes(entry.what),
      );
      return { who, fromMs: atMs, untilMs: end?.atMs ?? Number.POSITIVE_INFINITY };
    })
    .toSorted((a, b) => a.fromMs - b.fromMs);
}

/** S1: bounded by attempts, another one only where the one before was cut off, and never two at once. */
function judgeRuns(evidence: Evidence, runs: readonly Run[]): readonly string[] {
  const { attempts, journal, nonce, unkept } = evidence;
  const found: string[] = [];
  if (runs.length > attempts) found.push(`S1: ${runs.length} executions of ${attempts} attempts`);
  const cutOff = journal.filter(
    (entry) => entry.nonce === nonce && ['death', 'halt', 'lost'].includes(entry.what),
  ).length;
  if (runs.length > 1 + cutOff + unkept)
    found.push(`S1: ${runs.length} executions, and ${cutOff} were cut off`);
  for (const [at, run] of runs.entries()) {
    const before = runs[at - 1];
    if (before !== undefined && before.untilMs > run.fromMs)
      found.push(`S1: ${run.who} worked while ${before.who} did`);
  }
  return found;
}

/** S4: the answer arrives, it is whole, and it is the same to everybody. */
function judgeServed(evidence: Evidence, served: readonly Seen[]): readonly string[] {
  const { nonce, size, attempts } = evidence;
  const texts = new Set(served.map(({ text }) => text));
  if (texts.size === 0) return ['S4: it was never served'];
  if (texts.size > 1) return [`S1: ${texts.size} different answers for one payment`];
  const wanted = Array.from({ length: attempts }, (_, at) => goods(nonce, at + 1, size));
  const [text = ''] = texts;
  return wanted.includes(text) ? [] : [`S4: an answer of ${text.length} characters is not what was made`];
}

/** S3: whatever else is said to a payment whose money may be out, it is not asked for again, and not refused. */
function judgeAnswer(answer: Seen, { excused }: Evidence): readonly string[] {
  const { status, code, seat, invites } = answer;
  const what = `${seat} answered ${status}${code === undefined ? '' : ` ${code}`}`;
  if (invites) return [`S3: ${what} and asked for another payment`];
  if (status === 200 || status === 'cut') return [];
  if (status === 'mute') return [`S4: ${seat} did not answer at all`];
  const known = (status === 402 || status === 503) && code !== undefined;
  return known && (patientCodes.has(code) || excused.includes(code)) ? [] : [`S4: ${what}`];
}
