/**
 * A facilitator that breaks on purpose: it forwards to a real one and then loses, cuts, delays or falsifies the
 * answer, call by call, as a script says. A test rig for sellers; the money it moves is moved by the real one.
 */
import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { Agent, request as call } from 'undici';
import {
  closeServer,
  createJsonServer,
  listenLocal,
  MAX_BODY_BYTES,
  parseJson,
  readBody,
  sendJson,
} from './http.ts';
import { isRecord } from './request.ts';
import type { Endpoint } from './service.ts';
import { FAULTS, type Fault, type FaultName, relay, spoil, type Upstream } from './spoil.ts';

/** One fault for every call; a list, one for each call and `pass` after its end; or a choice for each call. */
export type FaultMode =
  | FaultName
  | Fault
  | readonly (FaultName | Fault)[]
  | ((call: { readonly index: number; readonly body: unknown }) => FaultName | Fault);

/** A call as the rig saw it; `landed` says whether the real facilitator settled it, once that is known. */
export type FaultCall = {
  readonly endpoint: Endpoint;
  readonly body: unknown;
  readonly fault: Fault;
  landed: boolean | undefined;
};

/** Where the real facilitator is, and how to begin. */
export type FaultOptions = {
  readonly upstream: string;
  readonly mode?: FaultMode;
  readonly verifyMode?: FaultMode;
  readonly port?: number;
};

/** The rig: a facilitator at `url`, with controls and counts. */
export type FaultyFacilitator = {
  readonly url: string;
  /** From the next settle on; a list starts at its beginning. */
  setMode(mode: FaultMode): void;
  setVerifyMode(mode: FaultMode): void;
  /** `false` refuses connections, so that no byte of a call is ever sent; `true` listens again. */
  setReachable(reachable: boolean): Promise<void>;
  counts(): {
    readonly supported: number;
    readonly verify: number;
    readonly settle: number;
    readonly landed: number;
  };
  calls(endpoint: Endpoint): readonly FaultCall[];
  /** Resolves once this many settles have arrived here since the start or the last `clear`. */
  arrived(count: number): Promise<void>;
  /** Resolves once this many settles have landed since the start or the last `clear`. */
  landed(count: number): Promise<void>;
  /** Forgets all calls and counts. */
  clear(): void;
  close(): Promise<void>;
};

/** Enough for any demonstration; a rig that is called more often than this is in a loop. */
const MAX_CALLS = 10_000;

/** Chains with slow blocks answer in seconds; a call without an answer for this long is a defect. */
const UPSTREAM_LIMIT_MS = 60_000;

type Rig = {
  readonly upstream: string;
  readonly agent: Agent;
  readonly stopped: AbortController;
  readonly calls: FaultCall[];
  readonly modes: Record<Endpoint, { mode: FaultMode; index: number }>;
  waiting: { readonly isDue: () => boolean; readonly resolve: () => void }[];
  supported: number;
};

/** Starts a facilitator that breaks as told, in front of a real one. */
export async function startFaultyFacilitator(options: FaultOptions): Promise<FaultyFacilitator> {
  const rig: Rig = {
    upstream: options.upstream.replace(/\/+$/, ''),
    agent: new Agent({ headersTimeout: UPSTREAM_LIMIT_MS, bodyTimeout: UPSTREAM_LIMIT_MS }),
    stopped: new AbortController(),
    calls: [],
    modes: {
      settle: { mode: options.mode ?? 'pass', index: 0 },
      verify: { mode: options.verifyMode ?? 'pass', index: 0 },
    },
    waiting: [],
    supported: 0,
  };
  const server = createJsonServer((request, response) => answer(rig, request, response));
  const port = await listenLocal(server, options.port ?? 0);
  return controlsOf(rig, server, port);
}

function controlsOf(rig: Rig, server: Server, port: number): FaultyFacilitator {
  return {
    url: `http://127.0.0.1:${port}`,
    setMode: (mode) => {
      rig.modes.settle = { mode, index: 0 };
    },
    setVerifyMode: (mode) => {
      rig.modes.verify = { mode, index: 0 };
    },
    setReachable: async (reachable) => {
      if (reachable === server.listening) return;
      if (reachable) {
        await listenLocal(server, port);
        return;
      }
      await closeServer(server, 0);
      await proveRefused(port);
    },
    counts: () => ({
      supported: rig.supported,
      verify: callsOf(rig, 'verify').length,
      settle: callsOf(rig, 'settle').length,
      landed: landedOf(rig),
    }),
    calls: (endpoint) => callsOf(rig, endpoint),
    arrived: (count) => waitUntil(rig, () => callsOf(rig, 'settle').length >= count),
    landed: (count) => waitUntil(rig, () => landedOf(rig) >= count),
    clear: () => {
      rig.calls.length = 0;
      rig.supported = 0;
    },
    close: async () => {
      rig.stopped.abort();
      await closeServer(server, 0);
      await rig.agent.close();
    },
  };
}

async function answer(rig: Rig, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const endpoint = endpointOf(request);
  if (endpoint === undefined) {
    if (request.url === '/supported') rig.supported += 1;
    return relay(response, await forward(rig, request, undefined));
  }
  const body = await readBody(request);
  if (body === undefined)
    return sendJson(response, 413, { error: 'too_large', message: `${MAX_BODY_BYTES} bytes` });
  const record = recordCall(rig, endpoint, parseJson(body));
  const { fault } = record;
  await pause(rig, fault.beforeMs);
  let upstream = fault.forward === false ? undefined : await forward(rig, request, body);
  record.landed = endpoint === 'settle' && upstream !== undefined && isSuccess(upstream);
  if (fault.forward === 'twice') upstream = await forward(rig, request, body);
  wake(rig);
  await pause(rig, fault.afterMs);
  await spoil(fault.answer, { response, endpoint, upstream, stopped: rig.stopped.signal });
}

function endpointOf(request: IncomingMessage): Endpoint | undefined {
  if (request.method !== 'POST') return undefined;
  if (request.url === '/verify') return 'verify';
  return request.url === '/settle' ? 'settle' : undefined;
}

function recordCall(rig: Rig, endpoint: Endpoint, body: unknown): FaultCall {
  if (rig.calls.length >= MAX_CALLS) throw new Error(`more than ${MAX_CALLS} calls of a test rig`);
  const state = rig.modes[endpoint];
  const record: FaultCall = {
    endpoint,
    body,
    fault: chooseFault(state.mode, state.index, body),
    landed: undefined,
  };
  state.index += 1;
  rig.calls.push(record);
  wake(rig);
  return record;
}

function chooseFault(mode: FaultMode, index: number, body: unknown): Fault {
  if (typeof mode === 'string') return FAULTS[mode];
  if (typeof mode === 'function') return chooseFault(mode({ index, body }), 0, body);
  if ('answer' in mode) return mode;
  return chooseFault(mode[index] ?? 'pass', 0, body);
}

/** Not tied to the caller: a seller that dies after it has sent its call does not take the payment back. */
async function forward(rig: Rig, request: IncomingMessage, body: Buffer | undefined): Promise<Upstream> {
  const answered = await call(`${rig.upstream}${request.url ?? '/'}`, {
    method: request.method === 'POST' ? 'POST' : 'GET',
    headers: { 'content-type': 'application/json' },
    body: body ?? null,
    dispatcher: rig.agent,
  });
  return { status: answered.statusCode, body: Buffer.from(await answered.body.arrayBuffer()) };
}

/** Waits, unless the rig is closed meanwhile. */
async function pause(rig: Rig, ms: number | undefined): Promise<void> {
  if (ms === undefined || rig.stopped.signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  rig.stopped.signal.addEventListener('abort', () => resolve(), { once: true });
  const timer = setTimeout(resolve, ms);
  await promise;
  clearTimeout(timer);
}

/** Also gives callers of this process the turn in which they notice that their kept connections are gone. */
async function proveRefused(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect').catch(() => {});
  socket.destroy();
}

function waitUntil(rig: Rig, isDue: () => boolean): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  rig.waiting.push({ isDue, resolve });
  wake(rig);
  return promise;
}

/** Called after each change of the counts. */
function wake(rig: Rig): void {
  const due = rig.waiting.filter((waiter) => waiter.isDue());
  rig.waiting = rig.waiting.filter((waiter) => !due.includes(waiter));
  for (const waiter of due) waiter.resolve();
}

function callsOf(rig: Rig, endpoint: Endpoint): readonly FaultCall[] {
  return rig.calls.filter((record) => record.endpoint === endpoint);
}

function landedOf(rig: Rig): number {
  return rig.calls.filter((record) => record.landed === true).length;
}

function isSuccess(upstream: Upstream): boolean {
  const value = parseJson(upstream.body);
  return isRecord(value) && value.success === true;
}
