/**
 * One endpoint of a pool: asked only once it has shown that it serves the expected chain, and left alone for a while
 * after it failed. It is never named by more than its origin: paths and user names hold keys.
 */
import type { Http } from '../world.ts';
import type { RpcEvent } from './pool.ts';
import { createRpc, type Rpc, type RpcResult } from './rpc.ts';
import { quantity } from './state.ts';

export type Endpoint = {
  /** Its place in the list, from 0: two keys at one provider have the same origin. */
  readonly place: number;
  readonly origin: string;
  readonly ask: Rpc;
  /** False while it rests after a failure. */
  readonly awake: () => boolean;
  /** The newest block it last told, -1 before it told any. */
  readonly head: () => number;
  /** Notes the newest block it told, and the highest that anybody told. */
  readonly sawHead: (block: number, highest: number) => void;
};

export type EndpointOptions = {
  readonly place: number;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly timeoutMs?: number | undefined;
  readonly chainId: number;
  readonly http: Http;
  readonly monotonicMs: () => number;
  readonly observe: (event: RpcEvent) => void;
};

/** A single lost packet costs an endpoint half a second … */
const firstRestMs = 500;
/** … and one that stays down is tried once a minute. */
const longestRestMs = 60_000;
/** 500 ms doubled so often is past the longest rest. */
const mostDoublings = 7;

/** Throws TypeError for a URL that is neither http nor https. */
export function createEndpoint(options: EndpointOptions): Endpoint {
  const { place, observe, monotonicMs } = options;
  const rpc = createRpc({
    url: options.url,
    http: options.http,
    ...(options.headers === undefined ? {} : { headers: options.headers }),
    ...(options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs }),
  });
  const name = { endpoint: place, origin: new URL(options.url).origin };
  let failures = 0;
  let restUntilMs = Number.NEGATIVE_INFINITY;
  let checking: Promise<RpcResult> | undefined;
  let head = -1;
  let lag = 0;

  const awake = (): boolean => monotonicMs() >= restUntilMs;
  const rest = (restMs: number): void => {
    restUntilMs = monotonicMs() + restMs;
  };
  /** Several calls that fail together are one failure. */
  const failed = (): void => {
    if (!awake()) return;
    const restMs = Math.min(longestRestMs, firstRestMs * 2 ** Math.min(failures, mostDoublings));
    failures += 1;
    rest(restMs);
    observe({ event: 'rpc_down', ...name, restMs });
  };
  const heard = async (method: string, params: Parameters<Rpc>[1]): Promise<RpcResult> => {
    const result = await rpc(method, params);
    if (result.ok) {
      if (failures > 0) observe({ event: 'rpc_up', ...name });
      failures = 0;
      return result;
    }
    // Behind the address may stand another node, or another chain, from now on.
    checking = undefined;
    if (result.declined !== true) failed();
    return result;
  };
  const check = async (): Promise<RpcResult> => {
    const told = await heard('eth_chainId', []);
    if (!told.ok) return told;
    if (quantity(told.value) === options.chainId) return told;
    checking = undefined;
    rest(longestRestMs);
    observe({ event: 'rpc_refused', ...name });
    return { ok: false, why: 'another chain' };
  };
  return {
    place,
    origin: name.origin,
    awake,
    head: () => head,
    sawHead: (block, highest) => {
      head = block;
      if (highest - block === lag) return;
      lag = highest - block;
      observe({ event: 'rpc_lag', ...name, blocks: lag });
    },
    ask: async (method, params) => {
      checking ??= check();
      const checked = await checking;
      return checked.ok ? heard(method, params) : checked;
    },
  };
}
