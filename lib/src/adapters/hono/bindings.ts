/**
 * What @hono/node-server puts into `c.env`: Node's own request and response. With them a handler could write past the
 * answer that it returns, which is the one that is sold (H15). So behind the gate it finds both under guard: reading
 * and listening go on as usual, interim answers come to nothing, whatever else would reach the wire gives up the work.
 * The bindings of other platforms are left as they are.
 */
import type { HeaderList } from '../../seller/index.ts';
import { guarded } from '../node/guard.ts';
import { showHeaders } from '../node/show.ts';

type GiveUp = (fault: unknown) => void;

/** The address of the client's end of the connection, where the platform is Node. */
export function peerOf(env: unknown): string | undefined {
  const address = member(member(incomingOf(env), 'socket'), 'remoteAddress');
  return typeof address === 'string' ? address : undefined;
}

/**
 * The target, where the platform is Node and that is none of origin form: the server has made another URL of it than
 * Host tells, and only one of the two can be what was asked for (RFC 9112, section 3.2.2).
 */
export function oddTarget(env: unknown): string | undefined {
  const target = member(incomingOf(env), 'url');
  return typeof target === 'string' && !target.startsWith('/') ? target : undefined;
}

function incomingOf(env: unknown): unknown {
  return member(member(env, 'server') ?? env, 'incoming');
}

/** The bindings under guard; the same object where there is nothing to guard. `headers` are those that stay visible. */
export function guardBindings(env: unknown, headers: HeaderList, giveUp: GiveUp): unknown {
  const server = member(env, 'server');
  if (isObject(env) && isObject(server) && 'incoming' in server) {
    return { ...env, server: guardBindings(server, headers, giveUp) };
  }
  const received = member(env, 'incoming');
  if (!isObject(env) || !(isIncoming(received) || isStreamed(received))) return env;
  // By its names alone: under a symbol lies the way to a WebSocket, which would be opened whatever is settled.
  const bindings: Record<string, unknown> = Object.fromEntries(Object.entries(env));
  const { incoming, outgoing } = bindings;
  if (isIncoming(incoming)) showHeaders(incoming, headers);
  if (isStreamed(incoming)) showStreamed(incoming, headers);
  if (isObject(incoming)) bindings.incoming = guardedIncoming(incoming, giveUp);
  if (isObject(outgoing)) bindings.outgoing = guardedOutgoing(outgoing, giveUp);
  return bindings;
}

const connections: readonly (string | symbol)[] = ['client', 'connection', 'socket'];
/** What HTTP/2 has in their place. */
const streams: readonly (string | symbol)[] = ['session', 'stream'];
/** Methods of a response that change nothing of it. */
const harmless: ReadonlySet<string | symbol> = new Set([
  'addListener',
  'eventNames',
  'getHeader',
  'getHeaderNames',
  'getHeaders',
  'hasHeader',
  'listenerCount',
  'listeners',
  'off',
  'on',
  'once',
  'removeListener',
]);
/** Asked for by middlewares such as earlyHints; the work does not fail for want of them. */
const interim: ReadonlySet<string | symbol> = new Set([
  'writeContinue',
  'writeEarlyHints',
  'writeInformation',
  'writeProcessing',
]);

function guardedIncoming(incoming: object, giveUp: GiveUp): object {
  return new Proxy(incoming, { get: (target, name) => shown(target, name, giveUp) });
}

function guardedOutgoing(outgoing: object, giveUp: GiveUp): object {
  const refuse = (): false => {
    giveUp(new TypeError('Behind the payment gate a handler answers with the Response that it returns.'));
    return false;
  };
  return new Proxy(outgoing, {
    get: (target, name) => {
      const value = shown(target, name, giveUp);
      if (name === 'req') return isObject(value) ? guardedIncoming(value, giveUp) : value;
      if (interim.has(name)) return swallow;
      return typeof value === 'function' && !harmless.has(name) ? refuse : value;
    },
    set: () => {
      refuse();
      return true;
    },
  });
}

/** A member as its owner has it, the connection under guard. */
function shown(owner: object, name: string | symbol, giveUp: GiveUp): unknown {
  const value: unknown = Reflect.get(owner, name, owner);
  if (connections.includes(name)) return isSocket(value) ? guarded(value, giveUp) : value;
  if (streams.includes(name) && isObject(value)) return guardedOutgoing(value, giveUp);
  return typeof value === 'function' ? value.bind(owner) : value;
}

/** Its callback is called, as if the interim answer were out. */
function swallow(...parts: readonly unknown[]): void {
  const done = parts.at(-1);
  if (typeof done === 'function') queueMicrotask(() => done());
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function isIncoming(value: unknown): value is Parameters<typeof showHeaders>[0] {
  return isObject(value) && 'rawHeaders' in value && 'headersDistinct' in value;
}

/** A request of HTTP/2, which has its fields in two getters, and a stream that is its response too. */
type Streamed = { readonly stream: unknown; readonly rawHeaders: string[]; readonly headers: object };

function isStreamed(value: unknown): value is Streamed {
  return isObject(value) && 'stream' in value && isStrings(member(value, 'rawHeaders'));
}

function isStrings(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((text) => typeof text === 'string');
}

/** As {@link showHeaders}: both are the lists that the getters give again; pseudo-fields stay. */
function showStreamed({ rawHeaders, headers }: Streamed, visible: HeaderList): void {
  const shown = new Set(visible.map(([name]) => name));
  const stays = (name: string): boolean => name.startsWith(':') || shown.has(name.toLowerCase());
  for (const name of Object.keys(headers)) if (!stays(name)) Reflect.deleteProperty(headers, name);
  const kept = rawHeaders.filter((_text, at, all) => stays(String(all[at - (at % 2)])));
  rawHeaders.splice(0, rawHeaders.length, ...kept);
}

function isSocket(value: unknown): value is Parameters<typeof guarded>[0] {
  return isObject(value) && 'destroy' in value && 'write' in value;
}

function member(value: unknown, name: string): unknown {
  return isObject(value) ? Reflect.get(value, name) : undefined;
}
