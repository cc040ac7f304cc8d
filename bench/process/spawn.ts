/**
 * The parent's side of a child process: starts it with this very Node, asks it questions over an IPC channel, and
 * ends it by its own handle. A child whose parent is killed sees the channel close and ends by itself.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { isObject } from './read.ts';

/** A running child. */
export type Child = {
  readonly name: string;
  readonly pid: number;
  /** Rejects with a `ChildError` when the child answers with a fault, takes too long, or is gone. */
  readonly ask: (what: string, input?: unknown) => Promise<unknown>;
  /** Closes the channel, upon which the child tidies up and ends; killed when it takes too long. Safe to call twice. */
  readonly stop: () => Promise<void>;
};

/** A child that failed, did not answer, or is gone: nothing can be measured then. */
class ChildError extends Error {
  override readonly name = 'ChildError';
}

/** The longest round on a slow and busy machine: a thousand calls of 20 ms each, and then some. */
const askLimitMs = 120_000;
/** Longer than a child may tidy up. */
const stopLimitMs = 6_000;
/** Of what a child wrote to its standard error the end is kept: it says why it died. */
const keptErrorChars = 2_000;

type Line = {
  readonly name: string;
  readonly child: ChildProcess;
  readonly exited: Promise<void>;
  readonly pending: Map<number, Pending>;
  lastId: number;
  errors: string;
};

type Pending = { readonly resolve: (answer: unknown) => void; readonly reject: (fault: Error) => void };

/** Starts `file` as a child process; it must call `serveParent`. */
export function startChild(name: string, file: string): Child {
  const child = spawn(process.execPath, [file], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
  const { promise: exited, resolve } = Promise.withResolvers<void>();
  const line: Line = { name, child, exited, pending: new Map(), lastId: 0, errors: '' };
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    line.errors = (line.errors + text).slice(-keptErrorChars);
  });
  child.on('message', (message: unknown) => hear(line, message));
  child.on('error', (fault) => end(line, fault.message));
  child.on('exit', (code, signal) => {
    end(line, signal === null ? `exit code ${code}` : signal);
    resolve();
  });
  return {
    name,
    pid: child.pid ?? -1,
    ask: (what, input) => ask(line, what, input),
    stop: () => stop(line),
  };
}

async function ask(line: Line, what: string, input: unknown): Promise<unknown> {
  const { child, name, pending } = line;
  if (!child.connected) throw new ChildError(`The process ${name} is gone.`);
  line.lastId += 1;
  const id = line.lastId;
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  pending.set(id, { resolve, reject });
  const timer = setTimeout(
    () => reject(new ChildError(`The process ${name} did not answer "${what}" in ${askLimitMs} ms.`)),
    askLimitMs,
  );
  try {
    child.send({ id, ask: what, input }, (fault) => {
      if (fault !== null) reject(new ChildError(`The process ${name} is gone: ${fault.message}`));
    });
    return await promise;
  } finally {
    clearTimeout(timer);
    pending.delete(id);
  }
}

function hear(line: Line, message: unknown): void {
  if (!isObject(message) || typeof message.id !== 'number') return;
  const waiting = line.pending.get(message.id);
  if (typeof message.fault === 'string')
    waiting?.reject(new ChildError(`The process ${line.name}: ${message.fault}`));
  else waiting?.resolve(message.answer);
}

/** Everybody who waits for an answer learns that none will come. */
function end(line: Line, why: string): void {
  const [last = ''] = line.errors.trim().split('\n').slice(-1);
  const told = last === '' ? why : `${why}, last words: ${last}`;
  for (const waiting of line.pending.values())
    waiting.reject(new ChildError(`The process ${line.name} ended (${told}).`));
}

async function stop({ child, exited }: Line): Promise<void> {
  if (child.connected) child.disconnect();
  // A process that could not be started has no pid and never exits.
  if (child.pid === undefined) return;
  const timer = setTimeout(() => child.kill('SIGKILL'), stopLimitMs);
  await exited;
  clearTimeout(timer);
}
