/**
 * The ways in which an answer of a facilitator is lost, cut, delayed or falsified, with names for the usual ones.
 * Only the answer is touched here; whether the money moved before it is the `forward` of the fault.
 */
import type { ServerResponse } from 'node:http';
import { sendJson } from './http.ts';
import { type Endpoint, refusal } from './service.ts';

/** What the caller gets, once the real facilitator has answered or was left out. */
export type FaultAnswer =
  /** The real answer, untouched. */
  | { readonly kind: 'upstream' }
  /** This status with a plain body, as a proxy in between would answer. */
  | { readonly kind: 'status'; readonly status: number }
  /** The connection is cut: before any byte, or after this many bytes of the real body. */
  | { readonly kind: 'reset'; readonly afterBytes?: number }
  /** The whole real body leaves, and a reset in place of the end of the message. */
  | { readonly kind: 'unended' }
  /** Nothing, until the caller or the rig closes, or for this long and then the connection is cut. */
  | { readonly kind: 'hang'; readonly forMs?: number }
  /** A complete HTTP answer with half of the JSON in it. */
  | { readonly kind: 'truncated' }
  /** Status 200 and a refusal with this reason. */
  | { readonly kind: 'refused'; readonly reason: string };

/** One fault: whether the real facilitator gets the call, what waits, and what the caller sees. */
export type Fault = {
  /** `twice`: it gets the call again once it has answered, as from a queue that delivers twice, and that answer counts. */
  readonly forward: boolean | 'twice';
  readonly answer: FaultAnswer;
  /** Wait before the real facilitator gets the call. */
  readonly beforeMs?: number;
  /** Wait before the caller gets the answer. */
  readonly afterMs?: number;
};

/** The name of a ready-made fault. */
export type FaultName =
  | 'pass'
  | 'land_then_502'
  | 'land_then_504'
  | 'land_then_reset'
  | 'land_then_cut'
  | 'land_then_unended'
  | 'land_then_hang'
  | 'land_then_truncated'
  | 'land_then_refused'
  | 'land_twice'
  | 'refused'
  | 'unavailable'
  | 'reset'
  | 'hang';

/** The faults by name: `land_…` move the money, once, and lose the answer, those after them move nothing. */
export const FAULTS: Readonly<Record<FaultName, Fault>> = {
  pass: { forward: true, answer: { kind: 'upstream' } },
  land_then_502: { forward: true, answer: { kind: 'status', status: 502 } },
  land_then_504: { forward: true, answer: { kind: 'status', status: 504 } },
  land_then_reset: { forward: true, answer: { kind: 'reset' } },
  land_then_cut: { forward: true, answer: { kind: 'reset', afterBytes: 24 } },
  land_then_unended: { forward: true, answer: { kind: 'unended' } },
  land_then_hang: { forward: true, answer: { kind: 'hang' } },
  land_then_truncated: { forward: true, answer: { kind: 'truncated' } },
  land_then_refused: { forward: true, answer: { kind: 'refused', reason: 'unexpected_settle_error' } },
  land_twice: { forward: 'twice', answer: { kind: 'upstream' } },
  refused: { forward: false, answer: { kind: 'refused', reason: 'invalid_exact_evm_insufficient_balance' } },
  unavailable: { forward: false, answer: { kind: 'status', status: 503 } },
  reset: { forward: false, answer: { kind: 'reset' } },
  hang: { forward: false, answer: { kind: 'hang' } },
};

/** What the real facilitator answered: its status and its body, byte for byte. */
export type Upstream = { readonly status: number; readonly body: Buffer };

/** An exchange to be answered in the way of a fault; `upstream` is missing when the real one was left out. */
export type Exchange = {
  readonly response: ServerResponse;
  readonly endpoint: Endpoint;
  readonly upstream: Upstream | undefined;
  /** Aborted when the rig is closed: what hangs then lets go. */
  readonly stopped: AbortSignal;
};

/** Answers, or fails to answer, as the fault says. */
export async function spoil(how: FaultAnswer, exchange: Exchange): Promise<void> {
  const { response, endpoint, stopped, upstream = { status: 200, body: Buffer.from('{}') } } = exchange;
  switch (how.kind) {
    case 'upstream':
      return relay(response, upstream);
    case 'status':
      response.writeHead(how.status, { 'content-type': 'text/plain' });
      response.end(`${how.status}\n`);
      return;
    case 'refused':
      return sendJson(response, 200, refusal(endpoint, how.reason, 'Refused by the test rig.'));
    case 'truncated':
      return relay(response, { ...upstream, body: upstream.body.subarray(0, upstream.body.length >> 1) });
    case 'reset':
      return cut(response, upstream, how.afterBytes ?? 0);
    case 'unended':
      return leaveOpen(response, upstream);
    case 'hang':
      await hang(response, stopped, how.forMs);
      response.destroy();
      return;
    default:
      return how satisfies never;
  }
}

/** Answers with what the real facilitator answered. */
export function relay(response: ServerResponse, upstream: Upstream): void {
  response.writeHead(upstream.status, {
    'content-type': 'application/json',
    'content-length': upstream.body.length,
  });
  response.end(upstream.body);
}

/** Announces the whole body, sends a part of it and closes; with no bytes at all the peer sees a reset. */
async function cut(response: ServerResponse, upstream: Upstream, afterBytes: number): Promise<void> {
  if (afterBytes === 0) {
    response.socket?.resetAndDestroy();
    return;
  }
  response.writeHead(upstream.status, {
    'content-type': 'application/json',
    'content-length': upstream.body.length,
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  response.write(upstream.body.subarray(0, afterBytes), () => resolve());
  await promise;
  response.destroy();
}

/** Without a length the caller waits for the last chunk, so that what it has got may be a part. */
async function leaveOpen(response: ServerResponse, upstream: Upstream): Promise<void> {
  response.writeHead(upstream.status, { 'content-type': 'application/json', 'transfer-encoding': 'chunked' });
  const { promise, resolve } = Promise.withResolvers<void>();
  response.write(upstream.body, () => resolve());
  await promise;
  response.socket?.resetAndDestroy();
}

async function hang(
  response: ServerResponse,
  stopped: AbortSignal,
  forMs: number | undefined,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  response.once('close', resolve);
  stopped.addEventListener('abort', () => resolve(), { once: true });
  const timer = forMs === undefined ? undefined : setTimeout(resolve, forMs);
  await promise;
  clearTimeout(timer);
}
