/**
 * What a seller that starts now would do about a record, in words: the restart table of the design, section 3. It
 * explains; the decisions themselves are made in the library, on the same two axes.
 */
import { type ClaimRecord, leaseAlive, type MoneyAxis, moneyNow } from 'counterfoil/claim';
import { formatTime } from '../time.ts';

/** One sentence about what happens next, and to whom it is left. */
export function nextStep(record: ClaimRecord, nowMs: number): string {
  if (record.supersededBy !== undefined)
    return 'Never sent: presented again, it is answered from the older payment that it would have paid for twice.';
  if (record.closed !== undefined)
    return 'Closed by an operator: nobody waits for it, no work runs for it any more, and it is forgotten in time.';
  const money = moneyNow(record, nowMs);
  switch (money.state) {
    case 'none':
      return unsentStep(record, nowMs);
    case 'sending':
      return `In progress: its owner is sending; if it falls silent, the money counts as unknown from ${leaseEnd(record)}.`;
    case 'unknown':
      return unknownStep(record, nowMs);
    case 'held':
      return heldStep(record);
    case 'settled':
      return settledStep(record, nowMs);
    case 'refused':
    case 'voided':
    case 'reversed':
    case 'refunded':
      return deadStep(money);
    default:
      return money satisfies never;
  }
}

function unsentStep(record: ClaimRecord, nowMs: number): string {
  if (leaseAlive(record, nowMs)) return `In progress: its owner holds the lease until ${leaseEnd(record)}.`;
  switch (record.work.state) {
    case 'done':
      return record.validBeforeMs > nowMs
        ? 'The kept answer is sent for settlement only when the payment is presented again.'
        : 'Dead: the authorization ended before anything was sent; nobody was charged.';
    case 'exhausted':
      return 'Dead: all attempts failed and nothing was sent; a new payment is asked for.';
    case 'idle':
    case 'running':
    case 'failed':
      return attemptStep(record, 'Nothing was sent.');
    default:
      return record.work satisfies never;
  }
}

function attemptStep(record: ClaimRecord, before: string): string {
  const { attempts, maxAttempts } = record;
  if (attempts >= maxAttempts)
    return `${before} All ${maxAttempts} attempts are used up: the work does not run again.`;
  return `${before} Presented again, it starts attempt ${attempts + 1} of ${maxAttempts}.`;
}

function unknownStep(record: ClaimRecord, nowMs: number): string {
  const first = 'The chain is asked, by `counterfoil reconcile` or when the payment is presented again.';
  if (record.validBeforeMs <= nowMs)
    return `${first} The authorization has ended: it is never sent again; used means settled, unused means refused once that block is final.`;
  return `${first} Settled: its answer is delivered. Unused: the identical bytes are sent again when it is presented (sent ${record.sends} times so far).`;
}

function heldStep(record: ClaimRecord): string {
  if (record.work.state === 'done') return 'The deposit is charged for the work that was done.';
  if (record.work.state === 'failed' || record.work.state === 'exhausted')
    return 'The deposit is given back.';
  return 'The deposit is held: the work runs when the payment is presented again, or the deposit is given back in time.';
}

function settledStep(record: ClaimRecord, nowMs: number): string {
  switch (record.work.state) {
    case 'done':
      return keptStep(record, nowMs);
    case 'exhausted':
      return 'Owed: the money moved and all attempts failed; repay or deliver by hand, then `counterfoil payments close`.';
    case 'running':
      if (leaseAlive(record, nowMs)) return `In progress: its owner works; lease until ${leaseEnd(record)}.`;
      return attemptStep(record, 'Owed: the money moved and the work is not done.');
    case 'idle':
    case 'failed':
      return attemptStep(record, 'Owed: the money moved and the work is not done.');
    default:
      return record.work satisfies never;
  }
}

function keptStep(record: ClaimRecord, nowMs: number): string {
  const { keepUntilMs } = record;
  if (record.answerBytes === undefined)
    return 'Presented again, it is told that it was spent (409); its answer is gone.';
  if (keepUntilMs === undefined)
    return 'Presented again, it gets its kept answer without a charge; it was never delivered whole.';
  if (keepUntilMs <= nowMs)
    return 'Its kept answer may be dropped now; presented again after that, it is told that it was spent (409).';
  return `Presented again, it gets its kept answer without a charge until ${formatTime(keepUntilMs)}.`;
}

function deadStep(money: MoneyAxis & { state: 'refused' | 'voided' | 'reversed' | 'refunded' }): string {
  switch (money.state) {
    case 'refused':
      return money.why === 'used_elsewhere'
        ? 'Dead here: the authorization was spent elsewhere, not by this seller. Find out by whom.'
        : `Dead: the settlement was refused (${money.why}); a new payment is asked for.`;
    case 'voided':
      return 'Closed: the deposit was given back.';
    case 'reversed':
      return 'Dead: the chain undid the settlement for good; what was delivered was not paid for, and a new payment is asked for.';
    case 'refunded':
      return 'Closed: the money was paid back.';
    default:
      return money satisfies never;
  }
}

function leaseEnd(record: ClaimRecord): string {
  return record.lease === undefined ? 'now' : formatTime(record.lease.untilMs);
}
