/**
 * Points a response that others already hold at another one. Express hands every handler of a request the same
 * object, so the gate cannot give out a captured response; it makes the one that is there speak for it instead.
 * Node itself goes on reporting through the real response: nobody diverts `emit`.
 */
import { ServerResponse } from 'node:http';
import type { Handover } from '../node/deliver.ts';

export type Diversion = Handover & {
  /** From now on whoever holds the response writes to `captured` and reads from it. */
  readonly to: (captured: ServerResponse) => void;
};

/** What writes, or ends the connection; turned away even after the delivery, since a handler may be running on. */
export const writers = [
  'addTrailers',
  'appendHeader',
  'cork',
  'destroy',
  'end',
  'flushHeaders',
  'removeHeader',
  'setHeader',
  'setHeaders',
  'setTimeout',
  'uncork',
  'write',
  'writeContinue',
  'writeEarlyHints',
  'writeHead',
  'writeHeader',
  'writeInformation',
  'writeProcessing',
] as const;

export const readers = [
  'addListener',
  'eventNames',
  'getHeader',
  'getHeaderNames',
  'getHeaders',
  'getRawHeaderNames',
  'hasHeader',
  'listenerCount',
  'listeners',
  'off',
  'on',
  'once',
  'prependListener',
  'prependOnceListener',
  'rawListeners',
  'removeAllListeners',
  'removeListener',
] as const;

/**
 * What a handler sets. `__onFinished` is where the package on-finished, Express's own ears, keeps its listeners: those
 * of a logger before the gate hear the client, those of a file being sent behind it must not.
 */
export const settings = [
  '__onFinished',
  'sendDate',
  'statusCode',
  'statusMessage',
  'strictContentLength',
] as const;

/** What Node sets and a handler reads; `_header` because well-known middlewares look there for `headersSent`. */
export const states = [
  '_header',
  'closed',
  'connection',
  'destroyed',
  'errored',
  'finished',
  'headersSent',
  'socket',
  'writableCorked',
  'writableEnded',
  'writableFinished',
  'writableLength',
  'writableNeedDrain',
] as const;

/**
 * Below everything public: what reaches these while the response is diverted, as the prototype's own `write` does when
 * it is called on it, would be on the wire.
 */
const bolts = ['_send', '_writeRaw'] as const;

/** Where a diverted response keeps what speaks through it, and what Node noted on it meanwhile. */
const targetKey = Symbol('counterfoil.target');
const notedKey = Symbol('counterfoil.noted');

/** Made once: what is laid over a response looks up its target when it is used. */
const onlyWriters = methods(writers);
const everything = [
  ...onlyWriters,
  ...methods(bolts),
  ...methods(readers),
  ...fields(settings, setOnTarget),
  ...fields(states, note),
];

/** Prepares a response to be diverted; until `to` is called nothing changes. */
export function createDiversion(response: ServerResponse): Diversion {
  let diverted = false;
  let giveBack = (): void => {};
  return {
    to: (captured) => {
      diverted = true;
      const noted = new Map<string, unknown>();
      Object.defineProperty(response, targetKey, { value: captured, configurable: true });
      Object.defineProperty(response, notedKey, { value: noted, configurable: true });
      const undo = lay(response, everything);
      giveBack = () => {
        undo();
        for (const [name, value] of noted) Reflect.set(response, name, value);
      };
    },
    take: () => giveBack(),
    done: () => {
      if (diverted) lay(response, onlyWriters);
    },
  };
}

/** Through whatever wraps or inherits from the response. */
function targetOf(holder: object): ServerResponse {
  const target: unknown = Reflect.get(holder, targetKey);
  if (!(target instanceof ServerResponse)) throw new TypeError('This response is not diverted.');
  return target;
}

function setOnTarget(holder: object, name: string, value: unknown): void {
  Reflect.set(targetOf(holder), name, value);
}

/** What Node notes on the real response, such as its closed socket, is written when that is given back. */
function note(holder: object, name: string, value: unknown): void {
  const noted: unknown = Reflect.get(holder, notedKey);
  if (noted instanceof Map) noted.set(name, value);
}

type Layer = readonly [name: string, descriptor: PropertyDescriptor];

/** Methods that run on the target; what returns the target returns the response that the caller holds. */
function methods(names: readonly string[]): readonly Layer[] {
  // What this version of Node does not have stays missing.
  const present = names.filter((name) => typeof Reflect.get(ServerResponse.prototype, name) === 'function');
  return present.map((name) => {
    const run = function (this: object, ...parts: unknown[]): unknown {
      const target = targetOf(this);
      const result: unknown = Reflect.apply(Reflect.get(target, name), target, parts);
      return result === target ? this : result;
    };
    // Writable, because middlewares wrap these by assignment.
    return [name, { value: run, writable: true, configurable: true, enumerable: true }];
  });
}

function fields(
  names: readonly string[],
  write: (holder: object, name: string, value: unknown) => void,
): readonly Layer[] {
  return names.map((name) => {
    const get = function (this: object): unknown {
      return Reflect.get(targetOf(this), name);
    };
    const set = function (this: object, value: unknown): void {
      write(this, name, value);
    };
    return [name, { get, set, configurable: true, enumerable: true }];
  });
}

/** Lays properties over the object's own and returns how to take them off again, whoever wrapped them since. */
function lay(response: ServerResponse, layers: readonly Layer[]): () => void {
  const covered = new Map<string, PropertyDescriptor>();
  for (const [name, descriptor] of layers) {
    const own = Object.getOwnPropertyDescriptor(response, name);
    if (own !== undefined) covered.set(name, own);
    // A plain new property is assigned, which is five times as fast as defining it.
    const plain = own === undefined && 'value' in descriptor;
    if (!plain || !Reflect.set(response, name, descriptor.value))
      Object.defineProperty(response, name, descriptor);
  }
  return () => {
    for (const [name] of layers) {
      const own = covered.get(name);
      if (own === undefined) Reflect.deleteProperty(response, name);
      else Object.defineProperty(response, name, own);
    }
  };
}
