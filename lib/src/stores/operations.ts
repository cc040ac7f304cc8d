/**
 * Every operation of the store contract as one synchronous step over a table. A store that can read and write in
 * one atomic step (memory, a transaction in a worker) only brings the table; the rules come from `claim/`.
 */
import {
  type AliasView,
  aliasAtStake,
  aliasLimit,
  type BeginOutcome,
  type BeginRequest,
  beginSend,
  type Change,
  type ClaimRecord,
  type DeliveryNote,
  deliver,
  type Exposure,
  type ExposureLimits,
  type ExposureView,
  fail,
  finish,
  forgetAnswer,
  type Hold,
  type HoldOutcome,
  heartbeat,
  keepAndBeginSend,
  type ListQuery,
  type MoneyFact,
  olderLimit,
  type Phase,
  type Purchase,
  payerName,
  type RecordOutcome,
  recordMoney,
  release,
  type SendStart,
  type Step,
  startWork,
  type TakeOutcome,
  type TakeRequest,
  take,
} from '../claim/index.ts';

/** The payments that the earlier-payment rule compares with each other. */
export type Twins = Pick<Purchase, 'network' | 'payer' | 'payTo' | 'fingerprint'>;

/** What a store's data must answer; every method sees the writes before it. */
export type Table = {
  readonly nowMs: () => number;
  readonly record: (key: string) => ClaimRecord | undefined;
  /** Records that stand before newer payments now (`blocksFromMs` reached), oldest first. */
  readonly older: (twins: Twins, nowMs: number, limit: number) => readonly ClaimRecord[];
  /** Records whose `claimedAlias` this is, oldest first. */
  readonly aliased: (alias: string, limit: number) => readonly ClaimRecord[];
  /** What records whose `exposedPayer` this is amount to now; only whether it reaches the limits must be exact. */
  readonly exposure: (payer: string, limits: ExposureLimits, nowMs: number) => Exposure;
  readonly full: () => boolean;
  /** Records whose `dueFromMs` is reached, oldest first. */
  readonly due: (nowMs: number, limit: number) => readonly ClaimRecord[];
  /** Records whose `proofFromMs` is reached, the longest due first. */
  readonly unproven: (nowMs: number, limit: number) => readonly ClaimRecord[];
  /** In the order of their keys; a send whose lease is over is listed as unknown. */
  readonly list: (query: ListQuery, nowMs: number) => readonly ClaimRecord[];
  /** Records whose `forgetAtMs` has passed. */
  readonly expired: (nowMs: number, limit: number) => readonly ClaimRecord[];
  /** Records whose `answerForgetAtMs` has passed. */
  readonly stale: (nowMs: number, limit: number) => readonly ClaimRecord[];
  readonly answer: (key: string) => Uint8Array | undefined;
  readonly payload: (key: string) => Uint8Array | undefined;
  readonly write: (key: string, change: Change) => void;
};

type Found = { readonly record?: ClaimRecord; readonly nowMs: number };

/** What each operation is asked. */
export type Questions = {
  readonly find: { readonly key: string };
  readonly take: TakeRequest;
  readonly heartbeat: { readonly hold: Hold; readonly leaseMs: number };
  readonly keepAndBeginSend: {
    readonly hold: Hold;
    readonly send: SendStart & {
      readonly answer: Uint8Array;
      readonly phase: Phase;
      readonly leaseMs: number;
    };
  };
  readonly beginSend: { readonly key: string; readonly send: BeginRequest };
  readonly recordMoney: { readonly key: string; readonly fact: MoneyFact };
  readonly startWork: { readonly hold: Hold; readonly leaseMs: number };
  readonly finish: {
    readonly hold: Hold;
    readonly result: { readonly answer: Uint8Array; readonly partial: boolean; readonly leaseMs: number };
  };
  readonly fail: { readonly hold: Hold };
  readonly release: { readonly hold: Hold };
  readonly deliver: { readonly key: string; readonly note: DeliveryNote };
  readonly readAnswer: { readonly key: string };
  readonly readPayload: { readonly key: string };
  readonly due: { readonly limit: number };
  readonly unproven: { readonly limit: number };
  readonly list: ListQuery;
  readonly prune: { readonly limit: number };
};

/** What each operation answers. */
export type Answers = {
  readonly find: Found;
  readonly take: TakeOutcome;
  readonly heartbeat: HoldOutcome;
  readonly keepAndBeginSend: HoldOutcome;
  readonly beginSend: BeginOutcome;
  readonly recordMoney: RecordOutcome;
  readonly startWork: HoldOutcome;
  readonly finish: HoldOutcome;
  readonly fail: HoldOutcome;
  readonly release: HoldOutcome;
  readonly deliver: RecordOutcome;
  readonly readAnswer: Uint8Array | undefined;
  readonly readPayload: Uint8Array | undefined;
  readonly due: readonly ClaimRecord[];
  readonly unproven: readonly ClaimRecord[];
  readonly list: readonly ClaimRecord[];
  readonly prune: number;
};

export type Operation = keyof Questions;

/** How many forgettable records a full store drops to make room for one newcomer; bounds the cost of one take. */
export const roomLimit = 16;

type Steps = {
  readonly [O in Operation]: (table: Table, question: Questions[O]) => Answers[O];
};

const steps: Steps = {
  find: (table, { key }) => found(table.record(key), table.nowMs()),
  take: takeStep,
  heartbeat: (table, { hold, leaseMs }) =>
    commit(table, hold.key, heartbeat(table.record(hold.key), hold, { leaseMs, nowMs: table.nowMs() })),
  keepAndBeginSend: (table, { hold, send }) =>
    commit(
      table,
      hold.key,
      keepAndBeginSend(table.record(hold.key), hold, { ...send, nowMs: table.nowMs() }),
    ),
  beginSend: beginSendStep,
  recordMoney: (table, { key, fact }) =>
    commit(table, key, recordMoney(table.record(key), fact, table.nowMs())),
  startWork: (table, { hold, leaseMs }) =>
    commit(table, hold.key, startWork(table.record(hold.key), hold, { leaseMs, nowMs: table.nowMs() })),
  finish: (table, { hold, result }) =>
    commit(table, hold.key, finish(table.record(hold.key), hold, { ...result, nowMs: table.nowMs() })),
  fail: (table, { hold }) => commit(table, hold.key, fail(table.record(hold.key), hold, table.nowMs())),
  release: (table, { hold }) => commit(table, hold.key, release(table.record(hold.key), hold, table.nowMs())),
  deliver: (table, { key, note }) => commit(table, key, deliver(table.record(key), note, table.nowMs())),
  readAnswer: (table, { key }) => table.answer(key),
  readPayload: (table, { key }) => table.payload(key),
  due: (table, { limit }) => table.due(table.nowMs(), limit),
  unproven: (table, { limit }) => table.unproven(table.nowMs(), limit),
  list: (table, query) => table.list(query, table.nowMs()),
  prune: (table, { limit }) => prune(table, table.nowMs(), limit),
};

/** Runs one operation; the caller makes it atomic. */
export function operate<O extends Operation>(table: Table, operation: O, question: Questions[O]): Answers[O] {
  return steps[operation](table, question);
}

/** True for operations that never write, which a store may answer without its write lock. */
export function readsOnly(operation: Operation): boolean {
  switch (operation) {
    case 'find':
    case 'readAnswer':
    case 'readPayload':
    case 'due':
    case 'unproven':
    case 'list':
      return true;
    case 'take':
    case 'heartbeat':
    case 'keepAndBeginSend':
    case 'beginSend':
    case 'recordMoney':
    case 'startWork':
    case 'finish':
    case 'fail':
    case 'release':
    case 'deliver':
    case 'prune':
      return false;
    default:
      return operation satisfies never;
  }
}

function found(record: ClaimRecord | undefined, nowMs: number): Found {
  return record === undefined ? { nowMs } : { record, nowMs };
}

function takeStep(table: Table, request: TakeRequest): TakeOutcome {
  const nowMs = table.nowMs();
  const { key } = request.purchase;
  const record = table.record(key);
  const supersedes = record?.supersededBy === undefined ? undefined : table.record(record.supersededBy);
  // First, since making room may forget a record that this step would otherwise write again.
  const full = record === undefined && isFull(table, nowMs);
  const view = {
    nowMs,
    full,
    ...(record === undefined ? {} : { record }),
    ...(supersedes === undefined ? {} : { supersedes }),
    older: request.earlierPayment === 'off' ? [] : table.older(request.purchase, nowMs, olderLimit),
    ...aliased(table, aliasAtStake(record, request.purchase)),
    ...exposure(table, request, nowMs),
  };
  return commit(table, key, take(view, request));
}

/** A payment without an identifier pays for no look. */
function aliased(table: Table, alias: string | undefined): Pick<AliasView, 'aliased'> {
  return alias === undefined ? {} : { aliased: table.aliased(alias, aliasLimit) };
}

/** Nor does one whose flow lends no work. */
function exposure(
  table: Table,
  { purchase, exposure: limits, begin }: TakeRequest,
  nowMs: number,
): ExposureView {
  if (limits === undefined || begin !== undefined) return {};
  return { exposure: table.exposure(payerName(purchase), limits, nowMs) };
}

/** Only what retention allows makes room; nothing else is ever evicted. */
function isFull(table: Table, nowMs: number): boolean {
  return table.full() && (prune(table, nowMs, roomLimit) === 0 || table.full());
}

function beginSendStep(table: Table, { key, send }: Questions['beginSend']): BeginOutcome {
  const nowMs = table.nowMs();
  const record = table.record(key);
  const looks = record !== undefined && send.earlierPayment === 'serve';
  const older = looks ? table.older(record, nowMs, olderLimit) : [];
  const view = { older, nowMs, ...aliased(table, aliasAtStake(record)) };
  return commit(table, key, beginSend(record, view, send));
}

function prune(table: Table, nowMs: number, limit: number): number {
  const expired = table.expired(nowMs, limit);
  for (const { key } of expired) table.write(key, { record: null, answer: null, payload: null });
  for (const record of table.stale(nowMs, limit)) table.write(record.key, forgetAnswer(record, nowMs));
  return expired.length;
}

function commit<O>(table: Table, key: string, step: Step<O>): O {
  table.write(key, step.change);
  return step.outcome;
}
