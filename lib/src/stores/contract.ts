/**
 * The methods of a claim store over one `run` that carries an operation to its table, and the limits on what a
 * caller may ask. A limit broken here is a programmer's mistake: a TypeError for what a store is opened with, a
 * TypeError or RangeError for what it is asked.
 */
import type { ClaimStore, ExposureLimits } from '../claim/index.ts';
import type { Answers, Operation, Questions } from './operations.ts';

/** Records per `list`, `due` and `prune`: one page, so that no call holds the store for long. */
export const pageLimit = 1_000;
/** Octets of one answer or payload; far above any route's `maxAnswerBytes`, far below what a row may hold. */
export const blobLimit = 67_108_864;
/** UTF-16 units of a key; ours have 64, other schemes may be longer. */
export const keyLimit = 256;
/** A lease longer than a day is a unit mistake. */
export const leaseLimitMs = 86_400_000;

export type Run = <O extends Operation>(operation: O, question: Questions[O]) => Promise<Answers[O]>;

/** Builds the contract's methods; `run` must be atomic and answer only what is kept. */
export function storeOver(run: Run, about: Pick<ClaimStore, 'name' | 'durable' | 'close'>): ClaimStore {
  return {
    ...about,
    find: async (key) => run('find', { key: checkedKey(key) }),
    take: async (request) => {
      checkedKey(request.purchase.key);
      checkAlias(request.purchase.alias);
      checkLease(request.times.leaseMs);
      checkNotNegative('graceMs', request.times.graceMs);
      if (request.exposure !== undefined) checkExposure(request.exposure);
      if (request.begin !== undefined) checkBlob('payload', request.begin.payload);
      return run('take', request);
    },
    heartbeat: async (hold, leaseMs) => run('heartbeat', { hold, leaseMs: checkLease(leaseMs) }),
    keepAndBeginSend: async (hold, send) => {
      checkLease(send.leaseMs);
      checkBlob('answer', send.answer);
      checkBlob('payload', send.payload);
      return run('keepAndBeginSend', { hold, send });
    },
    beginSend: async (key, send) => {
      checkLease(send.leaseMs);
      return run('beginSend', { key: checkedKey(key), send });
    },
    recordMoney: async (key, fact) => run('recordMoney', { key: checkedKey(key), fact }),
    startWork: async (hold, leaseMs) => run('startWork', { hold, leaseMs: checkLease(leaseMs) }),
    finish: async (hold, result) => {
      checkLease(result.leaseMs);
      checkBlob('answer', result.answer);
      return run('finish', { hold, result });
    },
    fail: async (hold) => run('fail', { hold }),
    release: async (hold) => run('release', { hold }),
    deliver: async (key, note) => {
      if (note.kind === 'complete') checkNotNegative('keepMs', note.keepMs);
      if (note.kind === 'closed') checkReference(note.reference);
      return run('deliver', { key: checkedKey(key), note });
    },
    readAnswer: async (key) => run('readAnswer', { key: checkedKey(key) }),
    readPayload: async (key) => run('readPayload', { key: checkedKey(key) }),
    due: async (limit) => run('due', { limit: checkPage(limit) }),
    unproven: async (limit) => run('unproven', { limit: checkPage(limit) }),
    list: async (query) => {
      checkPage(query.limit);
      return run('list', query);
    },
    prune: async (limit) => run('prune', { limit: checkPage(limit) }),
  };
}

/** Refuses what is no object, and option names that nobody reads, since a misspelt limit is no limit. */
export function checkOptions(maker: string, options: unknown, known: readonly string[]): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new TypeError(`${maker} needs an object of options.`);
  }
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown !== undefined) throw new TypeError(`${maker} has no option "${unknown}".`);
}

/** A call that waits longer outlives every lease that it could serve, and so has no limit. */
export const timeoutLimitMs = 60_000;

/** An option that is a whole number from one to `most`; anything else is a TypeError. */
export function checkCount(name: string, value: number, most: number = Number.MAX_SAFE_INTEGER): number {
  if (isCount(value) && value <= most) return value;
  const bound = most === Number.MAX_SAFE_INTEGER ? 'above zero' : `from 1 to ${most}`;
  throw new TypeError(`${name} must be a whole number ${bound}, not ${String(value)}.`);
}

/** What is absent has a default; null is no option, so that a setting that was not found does not pass for one. */
export function withDefault<T>(value: T | undefined, fallback: T): T {
  return value === undefined ? fallback : value;
}

/** An option that is true or false: a word such as "no" would count as yes. */
export function checkFlag(name: string, value: boolean): boolean {
  if (typeof value === 'boolean') return value;
  throw new TypeError(`${name} must be true or false.`);
}

/** An option that is absent or a clock to read. */
export function checkClock(clock: (() => number) | undefined): (() => number) | undefined {
  if (clock === undefined || typeof clock === 'function') return clock;
  throw new TypeError('clock must be a function that gives Unix milliseconds.');
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value > 0;
}

/** A whole number in a question, from one to `most`. */
function checkAsked(name: string, value: number, most: number): number {
  if (isCount(value) && value <= most) return value;
  throw new RangeError(`${name} must be a whole number from 1 to ${most}, not ${value}.`);
}

function checkedKey(key: string): string {
  if (typeof key === 'string' && key.length > 0 && key.length <= keyLimit && key.isWellFormed()) return key;
  throw new TypeError(`A payment key is a well-formed text of 1 to ${keyLimit} characters.`);
}

/** A hash, as fingerprints are: an identifier itself must never reach a store. */
function checkAlias(alias: string | undefined): void {
  if (alias === undefined || (typeof alias === 'string' && /^[0-9a-f]{64}$/.test(alias))) return;
  throw new TypeError('A payment alias is a text of 64 lower-case hex digits.');
}

/** What an operator writes beside a record it closes: a ticket or a transaction, and no letter. */
export const referenceLimit = 256;
/** One `take` counts up to these; more would be no limit. */
export const exposureCountLimit = 10_000;

function checkReference(reference: string): void {
  if (typeof reference === 'string' && reference.length > 0 && reference.length <= referenceLimit) return;
  throw new TypeError(`A reference is a text of 1 to ${referenceLimit} characters.`);
}

function checkExposure({ unpaid, open }: ExposureLimits): void {
  for (const [name, count] of [
    ['unpaid', unpaid],
    ['open', open],
  ] as const) {
    checkAsked(`exposure.${name}`, count, exposureCountLimit);
  }
}

function checkLease(leaseMs: number): number {
  if (Number.isSafeInteger(leaseMs) && leaseMs > 0 && leaseMs <= leaseLimitMs) return leaseMs;
  throw new RangeError(`leaseMs must be whole milliseconds from 1 to ${leaseLimitMs}, not ${leaseMs}.`);
}

function checkNotNegative(name: string, value: number): void {
  if (Number.isSafeInteger(value) && value >= 0) return;
  throw new RangeError(`${name} must be whole milliseconds of at least zero, not ${value}.`);
}

function checkPage(limit: number): number {
  return checkAsked('limit', limit, pageLimit);
}

function checkBlob(name: string, bytes: Uint8Array): void {
  if (bytes instanceof Uint8Array && bytes.length <= blobLimit) return;
  throw new RangeError(`${name} must be a Uint8Array of at most ${blobLimit} octets.`);
}
