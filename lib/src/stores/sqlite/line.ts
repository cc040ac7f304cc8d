/**
 * The main thread's end of the worker: numbers the calls, posts those of one turn together, settles each promise
 * with its reply, and bounds what is under way. The worker keeps the process alive only while an answer is due.
 */
import { Worker } from 'node:worker_threads';
import { StoreError } from '../error.ts';
import type { Answers, Operation, Questions } from '../operations.ts';
import type { FromWorker, ToWorker, WorkerSettings } from './messages.ts';

/** Calls under way: about half a second of work, after which a client is better told to come back. */
const inFlightLimit = 10_000;
/** Octets of answers and payloads under way: two of the largest that a store keeps. */
const inFlightBytesLimit = 134_217_728;

export type Line = {
  readonly call: <O extends Operation>(operation: O, question: Questions[O]) => Promise<Answers[O]>;
  /** Waits for what is under way, then ends the worker. */
  readonly close: () => Promise<void>;
};

/** `never` because only the caller knows which answer its number stands for. */
type Pending = {
  readonly resolve: (value: never) => void;
  readonly reject: (error: StoreError) => void;
  readonly bytes: number;
};

type Outgoing = {
  readonly id: number;
  readonly operation: Operation;
  readonly question: Questions[Operation];
};

type State = {
  readonly worker: Worker;
  readonly pending: Map<number, Pending>;
  outgoing: Outgoing[];
  bytes: number;
  lastId: number;
  /** Why no call is taken any more. */
  ended?: StoreError;
};

/** Starts the worker, or takes the given one; rejects with the reason when it cannot open the store. */
export async function openLine(
  settings: WorkerSettings,
  worker: Worker = startWorker(settings),
): Promise<Line> {
  const state: State = { worker, pending: new Map(), outgoing: [], bytes: 0, lastId: 0 };
  const gone = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  await opened(worker, gone);
  worker.on('message', (message: FromWorker<never>) => settle(state, message));
  worker.on('error', (cause) => end(state, workerGone(cause)));
  worker.on('exit', () => end(state, workerGone()));
  worker.unref();
  let closing: Promise<void> | undefined;
  return {
    call: (operation, question) => call(state, operation, question),
    close: () => {
      closing ??= close(state, gone);
      return closing;
    },
  };
}

function startWorker(settings: WorkerSettings): Worker {
  return new Worker(workerUrl(), {
    name: 'counterfoil-claims',
    workerData: settings,
    // Node 22 calls node:sqlite experimental on every start; the flags of the parent are not the worker's.
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
}

/** The source runs as it is in development; the published package holds JavaScript. */
function workerUrl(): URL {
  return new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js', import.meta.url);
}

async function opened(worker: Worker, gone: Promise<void>): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    worker.once('message', (message: FromWorker) => {
      if (message.kind === 'failed') reject(new StoreError(message.failure.code, message.failure.message));
      else resolve();
    });
    worker.once('error', (cause) => reject(workerGone(cause)));
    void gone.then(() => reject(workerGone()));
  });
}

function call<O extends Operation>(state: State, operation: O, question: Questions[O]): Promise<Answers[O]> {
  const bytes = blobBytes(question);
  if (state.ended !== undefined) return Promise.reject(state.ended);
  if (state.pending.size >= inFlightLimit || (state.bytes > 0 && state.bytes + bytes > inFlightBytesLimit)) {
    return Promise.reject(
      new StoreError('store_overloaded', 'Too many calls of the claim store are under way.'),
    );
  }
  return new Promise((resolve, reject) => {
    const id = ++state.lastId;
    if (state.pending.size === 0) state.worker.ref();
    state.pending.set(id, { resolve, reject, bytes });
    state.bytes += bytes;
    if (state.outgoing.push({ id, operation, question }) === 1) queueMicrotask(() => post(state));
  });
}

function post(state: State): void {
  const calls = state.outgoing;
  state.outgoing = [];
  if (calls.length > 0) state.worker.postMessage({ kind: 'calls', calls });
}

function settle(state: State, message: FromWorker<never>): void {
  if (message.kind !== 'replies') return;
  for (const reply of message.replies) {
    const pending = state.pending.get(reply.id);
    if (pending === undefined) continue;
    state.pending.delete(reply.id);
    state.bytes -= pending.bytes;
    if (reply.ok) pending.resolve(reply.value);
    else pending.reject(new StoreError(reply.failure.code, reply.failure.message));
  }
  if (state.pending.size === 0 && state.ended === undefined) state.worker.unref();
}

async function close(state: State, gone: Promise<void>): Promise<void> {
  post(state);
  state.ended ??= new StoreError('store_closed', 'The claim store is closed.');
  state.worker.ref();
  const message: ToWorker = { kind: 'close' };
  state.worker.postMessage(message);
  await gone;
}

/** Nobody knows what became of the calls under way: the seller answers 503, money unknown. */
function end(state: State, reason: StoreError): void {
  state.ended ??= reason;
  const waiting = [...state.pending.values()];
  state.pending.clear();
  for (const { reject } of waiting) reject(state.ended);
}

function workerGone(cause?: unknown): StoreError {
  return new StoreError('store_failed', 'The worker of the claim store is gone.', { cause });
}

function blobBytes(question: Questions[Operation]): number {
  if ('begin' in question) return question.begin?.payload.length ?? 0;
  if ('send' in question) {
    return 'answer' in question.send ? question.send.answer.length + question.send.payload.length : 0;
  }
  return 'result' in question ? question.result.answer.length : 0;
}
