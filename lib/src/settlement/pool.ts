/**
 * Several JSON-RPC endpoints of one chain that answer like one, or not at all (attack F10).
 *
 * Which facts may rest on one endpoint: none, where a quorum above one is configured. `settled` gives paid work away,
 * `expired`, `canceled` and `unused` let a payment be made again, and the time of a final block decides which: all of
 * it is money, so every reading needs the quorum, in the same block, and one endpoint that says otherwise, though
 * outvoted, makes it no reading. A liar can so delay what the chain would prove, which is seen and named by
 * `rpc_disagreement`; it cannot decide it. With a quorum of one each answer is believed alone, of whichever endpoint
 * gave it: that buys availability, not trust. Two endpoints with a quorum of one survive the loss of one; three with
 * the default of two survive it and need no trust in any.
 *
 * Height: `latest` is the highest block that a quorum has reached, and not lower than it once was, unless no endpoint
 * has reached that for ten minutes while the quorum moved on: then it was never true. Readings are pinned to it and asked only of endpoints that have it, so one that lags is never heard about an authorization. Where
 * it is the quorum that lags, one endpoint ahead of it is enough to deny that an authorization is unused; that it is
 * used, one endpoint alone still does not prove.
 */

import { eip155ChainId } from '../wire/caip.ts';
import { isJsonObject } from '../wire/json.ts';
import type { Json } from '../wire/v2.ts';
import type { Http } from '../world.ts';
import { essence } from './agree.ts';
import { createEndpoint, type Endpoint } from './endpoint.ts';
import { checkFunction, checkHeaders, checkHttpUrl, checkMembers, checkTimeout } from './option.ts';
import type { Rpc, RpcResult } from './rpc.ts';
import { hexOf, quantity } from './state.ts';

export type RpcPoolOptions = {
  /** The CAIP-2 network that all of them must serve, `eip155:8453`. */
  readonly network: string;
  /** From 1 to {@link mostEndpoints}, the preferred ones first. */
  readonly endpoints: readonly {
    readonly url: string;
    readonly headers?: Readonly<Record<string, string>>;
  }[];
  readonly http: Http;
  readonly monotonicMs: () => number;
  /** How many must say the same; default more than half of them. */
  readonly quorum?: number;
  /** For one call to one endpoint; default 2 s. */
  readonly timeoutMs?: number;
  readonly observe?: (event: RpcEvent) => void;
};

/** What operators see of a pool; an endpoint is named by its place in the list and its origin, never by its URL. */
export type RpcEvent =
  /** So many blocks behind the highest that was told; said when it changes. */
  | {
      readonly event: 'rpc_lag';
      readonly endpoint: number;
      readonly origin: string;
      readonly blocks: number;
    }
  /** These did not say the same; one alone denied what a quorum behind it says. */
  | { readonly event: 'rpc_disagreement'; readonly method: string; readonly origins: readonly string[] }
  /** It failed, and is not asked for `restMs`. */
  | {
      readonly event: 'rpc_down';
      readonly endpoint: number;
      readonly origin: string;
      readonly restMs: number;
    }
  | { readonly event: 'rpc_up'; readonly endpoint: number; readonly origin: string }
  /** A height that nobody reaches any more, made up by somebody, is given up for what the quorum says. */
  | { readonly event: 'rpc_height_lapsed'; readonly tag: string; readonly from: number; readonly to: number }
  /** It serves another chain. */
  | { readonly event: 'rpc_refused'; readonly endpoint: number; readonly origin: string };

/** Every look-up asks most of them; more would cost and not prove more. */
export const mostEndpoints = 8;

/**
 * How long a height is held against a quorum below it: longer than a node that starts again, or a balancer that mends
 * itself, stays behind, and short against an authorization's life, since meanwhile no payment is proved.
 */
export const heightLapseMs = 600_000;

const optionNames: ReadonlySet<string> = new Set([
  'network',
  'endpoints',
  'http',
  'monotonicMs',
  'quorum',
  'timeoutMs',
  'observe',
]);
const endpointNames: ReadonlySet<string> = new Set(['url', 'headers']);
const tags = ['latest', 'safe', 'finalized'] as const;
type Tag = (typeof tags)[number];

const tooFew: RpcResult = { ok: false, why: 'too few endpoints answer' };
const disagree: RpcResult = { ok: false, why: 'endpoints disagree' };
const lagging: RpcResult = { ok: false, why: 'endpoints lag behind' };

type Pool = {
  readonly endpoints: readonly Endpoint[];
  readonly quorum: number;
  /** What a quorum has shown under each tag. */
  readonly seen: Map<Tag, Height>;
  readonly monotonicMs: () => number;
  readonly observe: (event: RpcEvent) => void;
};

type Height = {
  /** The highest block. */
  readonly block: number;
  /** Since when nobody has reached it, and where the quorum stood then. */
  readonly below?: { readonly sinceMs: number; readonly block: number };
};

/**
 * One `Rpc` over several endpoints, for `createChainReader`. Throws TypeError for a network that is not EVM, for no or
 * too many endpoints or one that is named twice, a quorum that they cannot reach, and options that are none.
 */
export function createRpcPool(options: RpcPoolOptions): Rpc {
  const pool = openPool(options);
  return async (method, params) => {
    switch (method) {
      case 'eth_blockNumber': {
        const head = await tagged(pool, 'latest');
        return head.ok && isJsonObject(head.value) ? { ok: true, value: head.value.number ?? null } : head;
      }
      case 'eth_getBlockByNumber': {
        const tag = tags.find((name) => name === params[0]);
        return tag === undefined ? agreed(pool, { method, params }) : tagged(pool, tag);
      }
      case 'eth_call':
        return undenied(pool, { method, params });
      default:
        return agreed(pool, { method, params });
    }
  };
}

function openPool(options: RpcPoolOptions): Pool {
  checkMembers('createRpcPool', options, optionNames);
  const chainId = typeof options.network === 'string' ? eip155ChainId(options.network) : undefined;
  if (chainId === undefined) throw new TypeError(`network: "${options.network}" is no EVM network.`);
  const length = checkEndpoints(options.endpoints);
  checkFunction('http', options.http);
  checkFunction('monotonicMs', options.monotonicMs);
  if (options.observe !== undefined) checkFunction('observe', options.observe);
  checkTimeout(options.timeoutMs);
  const { quorum = Math.floor(length / 2) + 1 } = options;
  if (!Number.isSafeInteger(quorum) || quorum < 1 || quorum > length) {
    throw new TypeError(`quorum must be a whole number from 1 to ${length}.`);
  }
  const observe = quietly(options.observe);
  const { http, monotonicMs, timeoutMs } = options;
  const endpoints = options.endpoints.map(({ url, headers }, place) =>
    createEndpoint({ place, url, headers, timeoutMs, chainId, http, monotonicMs, observe }),
  );
  return { endpoints, quorum, seen: new Map(), monotonicMs, observe };
}

/** How many there are. A quorum of one server with itself would believe it alone, so none may be named twice. */
function checkEndpoints(endpoints: RpcPoolOptions['endpoints']): number {
  if (!Array.isArray(endpoints)) throw new TypeError('endpoints must be a list.');
  const { length } = endpoints;
  if (length < 1 || length > mostEndpoints) {
    throw new TypeError(`An RPC pool has from 1 to ${mostEndpoints} endpoints, not ${length}.`);
  }
  const servers = new Set<string>();
  for (const [place, endpoint] of endpoints.entries()) {
    const name = `endpoints[${place}]`;
    checkMembers(name, endpoint, endpointNames);
    checkHttpUrl(`${name}.url`, endpoint.url);
    checkHeaders(`${name}.headers`, endpoint.headers);
    servers.add(serverOf(endpoint.url));
  }
  if (servers.size < length) throw new TypeError('endpoints name one server twice.');
  return length;
}

/** An address as parsed, without what no server sees; a key in its path or query makes it another. */
function serverOf(text: string): string {
  const url = new URL(text);
  return `${url.protocol}//${url.username}:${url.password}@${url.host}${url.pathname.replace(/\/+$/, '')}${url.search}`;
}

/** An observer that throws must not turn a reading into none. */
function quietly(observe: RpcPoolOptions['observe']): (event: RpcEvent) => void {
  return (event) => {
    try {
      observe?.(event);
    } catch {
      // What an observer does with an event is its own affair.
    }
  };
}

type Answer = { readonly endpoint: Endpoint; readonly value: Json; readonly text: string };

async function answerOf(endpoint: Endpoint, call: Call): Promise<Answer | undefined> {
  const told = await endpoint.ask(call.method, call.params);
  if (!told.ok) return undefined;
  const value = essence(call.method, told.value);
  return { endpoint, value, text: JSON.stringify(value) };
}

type Call = { readonly method: string; readonly params: readonly Json[] };

/**
 * The highest block under a tag that a quorum has reached. All are asked, since the fastest may be the one that lags.
 * The block itself is taken from those who name it, or read again from a quorum that has it.
 */
async function tagged(pool: Pool, tag: Tag): Promise<RpcResult> {
  const call: Call = { method: 'eth_getBlockByNumber', params: [tag, false] };
  const awake = pool.endpoints.filter((endpoint) => endpoint.awake());
  const answers = await Promise.all(awake.map((endpoint) => answerOf(endpoint, call)));
  const told = answers
    .filter((answer) => answer !== undefined)
    .map((answer) => ({ ...answer, block: numberOf(answer.value) }))
    .filter((answer) => answer.block >= 0)
    .sort((a, b) => b.block - a.block);
  if (tag === 'latest') {
    for (const { endpoint, block } of told) endpoint.sawHead(block, told[0]?.block ?? block);
  }
  const reached = told[pool.quorum - 1];
  if (reached === undefined) return tooFew;
  const height = heightAfter(pool, tag, { quorum: reached.block, highest: told[0]?.block ?? reached.block });
  pool.seen.set(tag, height);
  if (reached.block < height.block) return lagging;
  const naming = told.filter(({ block }) => block === reached.block);
  if (naming.length < pool.quorum) {
    return agreed(pool, { ...call, params: [hexOf(reached.block), false] });
  }
  return unanimous(pool, call.method, naming);
}

/**
 * A quorum that stands still below the height is one that lags, however long; a chain moves on. Where too few answer,
 * nothing is learnt either way.
 */
function heightAfter(
  pool: Pool,
  tag: Tag,
  told: { readonly quorum: number; readonly highest: number },
): Height {
  const { block, below } = pool.seen.get(tag) ?? { block: 0 };
  if (told.quorum >= block) return { block: told.quorum };
  if (told.highest >= block) return { block };
  const nowMs = pool.monotonicMs();
  if (below === undefined) return { block, below: { sinceMs: nowMs, block: told.quorum } };
  if (nowMs - below.sinceMs < heightLapseMs || told.quorum <= below.block) return { block, below };
  pool.observe({ event: 'rpc_height_lapsed', tag, from: block, to: told.quorum });
  return { block: told.quorum };
}

function numberOf(block: Json): number {
  return isJsonObject(block) ? (quantity(block.number) ?? -1) : -1;
}

/** Asks as many as the quorum has, and another one for each that fails; gives what all of them say. */
async function agreed(pool: Pool, call: Call): Promise<RpcResult> {
  const needed = blockNeeded(pool, call);
  const waiting = pool.endpoints.filter((endpoint) => endpoint.awake() && endpoint.head() >= needed);
  const answers: Answer[] = [];
  while (answers.length < pool.quorum) {
    const asked = waiting.splice(0, pool.quorum - answers.length);
    if (answers.length + asked.length < pool.quorum) return tooFew;
    const heard = await Promise.all(asked.map((endpoint) => answerOf(endpoint, call)));
    answers.push(...heard.filter((answer) => answer !== undefined));
    const said = unanimous(pool, call.method, answers);
    if (!said.ok && answers.length > 0) return said;
  }
  return unanimous(pool, call.method, answers);
}

const zero = /^0x0{64}$/;

/**
 * The state of an authorization at a block. Where it is unused there, those who have told a newer block are asked about
 * theirs: a node can serve the state of its own newest block, so one that cannot has made it up and denies nothing.
 */
async function undenied(pool: Pool, call: Call): Promise<RpcResult> {
  const said = await agreed(pool, call);
  if (!said.ok || typeof said.value !== 'string' || !zero.test(said.value)) return said;
  const block = blockNeeded(pool, call);
  const ahead = pool.endpoints.filter((endpoint) => endpoint.awake() && endpoint.head() > block);
  const asked = ahead.map((endpoint) =>
    answerOf(endpoint, { ...call, params: [call.params[0] ?? null, hexOf(endpoint.head())] }),
  );
  const denied = (await Promise.all(asked)).find(
    (answer) => answer !== undefined && answer.value !== said.value,
  );
  return denied === undefined ? said : disagreement(pool, call.method, [denied]);
}

function newest(pool: Pool): number {
  return pool.seen.get('latest')?.block ?? -1;
}

function unanimous(pool: Pool, method: string, answers: readonly Answer[]): RpcResult {
  const [first] = answers;
  if (first === undefined) return tooFew;
  if (answers.every(({ text }) => text === first.text)) return { ok: true, value: first.value };
  return disagreement(pool, method, answers);
}

function disagreement(pool: Pool, method: string, answers: readonly Answer[]): RpcResult {
  pool.observe({
    event: 'rpc_disagreement',
    method,
    origins: answers.map(({ endpoint }) => endpoint.origin),
  });
  return disagree;
}

/** The block that an endpoint must have to be asked: the one a call is pinned to, else the newest of the pool. */
function blockNeeded(pool: Pool, { method, params }: Call): number {
  const pinned = pinOf(method, params);
  return (typeof pinned === 'string' ? quantity(pinned) : undefined) ?? newest(pool);
}

function pinOf(method: string, [first, second]: readonly Json[]): Json | undefined {
  switch (method) {
    case 'eth_getBlockByNumber':
      return first;
    case 'eth_getLogs':
      return isJsonObject(first) ? first.toBlock : undefined;
    default:
      return second;
  }
}
