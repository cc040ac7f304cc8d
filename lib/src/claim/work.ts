/**
 * Work transitions (design section 3): compare-and-set on (owner, fence). A stale owner, whatever it computed,
 * gets `lost` and changes nothing.
 */
import { appendLog, type ClaimRecord, leaseAlive, moneyMoved, type Phase } from './record.ts';
import { holds, nextSend, type Patch, patched, type Step } from './step.ts';
import type { DeliveryNote, Hold, HoldOutcome, RecordOutcome, SendStart } from './store.ts';

function lost(record: ClaimRecord | undefined, nowMs: number): Step<HoldOutcome> {
  return { change: {}, outcome: { kind: 'lost', ...(record === undefined ? {} : { record }), nowMs } };
}

function held(record: ClaimRecord, patch: Patch, nowMs: number): Step<HoldOutcome> {
  const next = patched(record, patch, nowMs);
  return { change: { record: next }, outcome: { kind: 'held', record: next, nowMs } };
}

/** Extends a lease that is still alive; one that is over stays over, since others may act on that by now. */
export function heartbeat(
  record: ClaimRecord | undefined,
  hold: Hold,
  { leaseMs, nowMs }: { readonly leaseMs: number; readonly nowMs: number },
): Step<HoldOutcome> {
  if (!holds(record, hold) || !leaseAlive(record, nowMs)) return lost(record, nowMs);
  return held(record, { lease: { ...record.lease, untilMs: nowMs + leaseMs } }, nowMs);
}

/** The answer becomes durable and the send begins, in one step (I7). */
export function keepAndBeginSend(
  record: ClaimRecord | undefined,
  hold: Hold,
  send: SendStart & {
    readonly answer: Uint8Array;
    readonly phase: Phase;
    readonly leaseMs: number;
    readonly nowMs: number;
  },
): Step<HoldOutcome> {
  const { nowMs } = send;
  if (!holds(record, hold) || record.work.state !== 'running' || record.money.state !== 'none') {
    return lost(record, nowMs);
  }
  const n = nextSend(record);
  const step = held(
    record,
    {
      work: { state: 'done', partial: false },
      money: { state: 'sending', phase: send.phase, n },
      lease: { ...record.lease, untilMs: nowMs + send.leaseMs },
      sendLog: appendLog(record.sendLog, { atMs: nowMs, n, phase: send.phase, said: 'begun', by: 'seller' }),
      sends: record.sends + 1,
      answerBytes: send.answer.length,
      startBlock: record.startBlock ?? send.startBlock,
    },
    nowMs,
  );
  return { ...step, change: { ...step.change, answer: send.answer, payload: send.payload } };
}

/** After the money moved, the owner of the send starts the work; the attempt is counted here. */
export function startWork(
  record: ClaimRecord | undefined,
  hold: Hold,
  { leaseMs, nowMs }: { readonly leaseMs: number; readonly nowMs: number },
): Step<HoldOutcome> {
  const startable = record?.work.state === 'idle' || record?.work.state === 'failed';
  if (!holds(record, hold) || !startable || !moneyMoved(record.money)) return lost(record, nowMs);
  if (record.attempts >= record.maxAttempts) return lost(record, nowMs);
  const lease = { ...record.lease, untilMs: nowMs + leaseMs };
  return held(record, { work: { state: 'running' }, attempts: record.attempts + 1, lease }, nowMs);
}

/** Work done where the money moved first. */
export function finish(
  record: ClaimRecord | undefined,
  hold: Hold,
  result: {
    readonly answer: Uint8Array;
    readonly partial: boolean;
    readonly leaseMs: number;
    readonly nowMs: number;
  },
): Step<HoldOutcome> {
  const { nowMs } = result;
  if (!holds(record, hold) || record.work.state !== 'running' || !moneyMoved(record.money))
    return lost(record, nowMs);
  const step = held(
    record,
    {
      work: { state: 'done', partial: result.partial },
      answerBytes: result.answer.length,
      lease: { ...record.lease, untilMs: nowMs + result.leaseMs },
    },
    nowMs,
  );
  return { ...step, change: { ...step.change, answer: result.answer } };
}

/** A run that failed: idle again while attempts are left, else exhausted. */
export function fail(record: ClaimRecord | undefined, hold: Hold, nowMs: number): Step<HoldOutcome> {
  if (!holds(record, hold) || record.work.state !== 'running') return lost(record, nowMs);
  const state = record.attempts < record.maxAttempts ? 'failed' : 'exhausted';
  return held(record, { work: { state }, lease: undefined }, nowMs);
}

/** Gives the claim back: the work never started and nothing was sent, so the attempt does not count. */
export function release(record: ClaimRecord | undefined, hold: Hold, nowMs: number): Step<HoldOutcome> {
  if (!holds(record, hold) || record.money.state !== 'none' || record.work.state !== 'running') {
    return lost(record, nowMs);
  }
  const attempts = record.attempts - 1;
  if (attempts > 0 || record.sendLog.length > 0) {
    return held(
      record,
      { work: { state: attempts > 0 ? 'failed' : 'idle' }, attempts, lease: undefined },
      nowMs,
    );
  }
  return { change: { record: null, answer: null, payload: null }, outcome: { kind: 'held', record, nowMs } };
}

/** Notes the first complete write, that nobody is left to answer, or that an operator has dealt with it. */
export function deliver(
  record: ClaimRecord | undefined,
  note: DeliveryNote,
  nowMs: number,
): Step<RecordOutcome> {
  if (record === undefined) return { change: {}, outcome: { changed: false, nowMs } };
  const patch = patchOf(record, note, nowMs);
  if (patch === undefined) return { change: {}, outcome: { record, changed: false, nowMs } };
  const next = patched(record, patch, nowMs);
  return { change: { record: next }, outcome: { record: next, changed: true, nowMs } };
}

function patchOf(record: ClaimRecord, note: DeliveryNote, nowMs: number): Patch | undefined {
  switch (note.kind) {
    case 'complete':
      return delivered(record, note.keepMs, nowMs);
    case 'abandoned':
      return abandoned(record);
    case 'closed': {
      const open = record.money.state !== 'none' && record.closed === undefined && !leaseAlive(record, nowMs);
      return open ? { closed: { atMs: nowMs, reference: note.reference }, lease: undefined } : undefined;
    }
    default:
      return note satisfies never;
  }
}

function delivered(record: ClaimRecord, keepMs: number, nowMs: number): Patch | undefined {
  if (record.deliveredAtMs !== undefined || record.work.state !== 'done' || !moneyMoved(record.money))
    return undefined;
  return { deliveredAtMs: nowMs, keepUntilMs: nowMs + keepMs, lease: undefined };
}

/** A client that leaves never stops the work or the send: their lease stays. */
function abandoned(record: ClaimRecord): Patch | undefined {
  if (record.deliveredAtMs !== undefined) return undefined;
  const resting = record.work.state !== 'running' && record.money.state !== 'sending';
  return resting ? { abandoned: true, lease: undefined } : { abandoned: true };
}
