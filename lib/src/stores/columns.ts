/**
 * What a server searches a record by. Each value comes from the same pure function that decides, so an index can never
 * disagree with a rule; none of them depends on the clock.
 */
import {
  answerForgetAtMs,
  blocksFromMs,
  type ClaimRecord,
  claimedAlias,
  dueFromMs,
  exposedPayer,
  type Flow,
  forgetAtMs,
  openUntilMs,
  proofFromMs,
} from '../claim/index.ts';
import type { Twins } from './operations.ts';

/** No moment that a store can name lies after this one. */
export const endlessMs: number = Number.MAX_SAFE_INTEGER;

/** Absent moments and names mean that the record is in no such index. Moments are Unix milliseconds. */
export type Columns = {
  readonly key: string;
  readonly twins: string;
  readonly flow: Flow;
  readonly money: ClaimRecord['money']['state'];
  readonly work: ClaimRecord['work']['state'];
  /** 0 where there is no lease. */
  readonly leaseUntilMs: number;
  readonly createdMs: number;
  readonly blocksFromMs?: number | undefined;
  readonly dueFromMs?: number | undefined;
  readonly proofFromMs?: number | undefined;
  readonly forgetAtMs?: number | undefined;
  readonly answerForgetAtMs?: number | undefined;
  readonly alias?: string | undefined;
  readonly exposed?: string | undefined;
  /** Of an exposed record; absent where its run went unpaid. */
  readonly openUntilMs?: number | undefined;
};

/** The columns of one record. */
export function columnsOf(record: ClaimRecord): Columns {
  const exposed = exposedPayer(record);
  return {
    key: record.key,
    twins: twinsName(record),
    flow: record.flow,
    money: record.money.state,
    work: record.work.state,
    leaseUntilMs: record.lease?.untilMs ?? 0,
    createdMs: record.createdAtMs,
    blocksFromMs: blocksFromMs(record),
    dueFromMs: dueFromMs(record),
    proofFromMs: proofFromMs(record),
    forgetAtMs: forgetAtMs(record),
    answerForgetAtMs: answerForgetAtMs(record),
    alias: claimedAlias(record),
    exposed,
    openUntilMs: exposed === undefined ? undefined : openUntilMs(record),
  };
}

/** One name for what makes two payments twins. */
export function twinsName(twins: Twins): string {
  return JSON.stringify([twins.fingerprint, twins.payer, twins.payTo, twins.network]);
}
