/** A record of the code in the words of the model (model/picture.ts), as its store would read it at one moment. */
import { type ClaimRecord, leaseAlive } from '../lib/src/claim/index.ts';
import { type Parts, pictureOf } from '../model/picture.ts';

/** When, and by which rules, a record is read. */
export type Moment = {
  readonly nowMs: number;
  readonly graceMs: number;
  /** Sends begun since its money was last none, which no record counts by itself. */
  readonly begun: number;
};

/** The picture of a record, or of none. */
export function pictureAt(record: ClaimRecord | undefined, moment: Moment): string {
  return pictureOf(record === undefined ? undefined : partsOf(record, moment));
}

function partsOf(record: ClaimRecord, moment: Moment): Parts {
  const { money } = record;
  return {
    money: isRetired(record) ? 'none' : money.state,
    phase: 'phase' in money && money.phase !== 'deposit' ? money.phase : 'pay',
    sends: moment.begun,
    proven: 'rank' in money && money.rank === 'chain',
    work: workOf(record),
    attempts: record.attempts,
    lease: leaseOf(record, moment),
    owned: record.lease !== undefined,
    kept: record.answerBytes !== undefined,
    doubted: record.doubted === true,
    handed: record.deliveredAtMs !== undefined,
    superseded: record.supersededBy !== undefined,
  };
}

/** Refused although nobody was asked: what was kept and never sent has run out of time. */
export function isRetired({ money }: ClaimRecord): boolean {
  return money.state === 'refused' && money.why === 'expired' && money.rank === 'facilitator';
}

function workOf(record: ClaimRecord): Parts['work'] {
  const { work, sends } = record;
  if (isRetired(record)) return 'dead';
  if (work.state !== 'exhausted') return work.state;
  // Paid and exhausted is owed; the model counts the attempts and calls it failed.
  return sends === 0 ? 'dead' : 'failed';
}

function leaseOf(record: ClaimRecord, { nowMs, graceMs }: Moment): Parts['lease'] {
  if (leaseAlive(record, nowMs)) return 'valid';
  const inGrace = record.work.state === 'running' && nowMs < (record.lease?.untilMs ?? 0) + graceMs;
  return inGrace ? 'grace' : 'over';
}
