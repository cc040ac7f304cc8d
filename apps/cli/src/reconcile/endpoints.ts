/**
 * The chains that a command may ask: `--rpc` with a network and a URL, or a URL alone, which is asked for its chain.
 * Several endpoints of one network answer like one (attack F10). URLs hold keys, so only their origins are shown.
 */
import {
  type Chains,
  createChainReader,
  createRpc,
  createRpcPool,
  type RpcEvent,
} from 'counterfoil/settlement';
import { displayText, hushed, parseNetwork } from 'counterfoil/wire';
import type { World } from 'counterfoil/world';
import { MisuseError } from '../io.ts';

export type Endpoint = { readonly network?: string | undefined; readonly url: string };

/** Reads `network=url` or `url`; anything else, and an endpoint that is given twice, is a MisuseError. */
export function endpointsOf(texts: readonly string[]): readonly Endpoint[] {
  const endpoints = texts.map(endpointOf);
  const places = new Set(endpoints.map(({ url }) => placeOf(url)));
  // One that is asked twice would agree with itself, and make the quorum that two are meant to be (F10).
  if (places.size < endpoints.length) throw new MisuseError('--rpc names one endpoint twice.');
  return endpoints;
}

/** Alike for URLs that differ only in how they are written: case, default port, last slash, fragment. */
function placeOf(text: string): string {
  const url = new URL(text);
  url.hash = '';
  url.pathname = url.pathname.replace(/\/+$/, '');
  return url.href;
}

function endpointOf(text: string): Endpoint {
  if (isHttp(text)) return { url: text };
  const at = text.indexOf('=');
  const network = text.slice(0, Math.max(0, at));
  const url = text.slice(at + 1);
  if (parseNetwork(network) === undefined) {
    const shown = displayText(hushed(text).slice(0, 40));
    throw new MisuseError(`--rpc takes a URL, or network=url as eip155:8453=https://…, not "${shown}".`);
  }
  if (!network.startsWith('eip155:'))
    throw new MisuseError(`The state of payments on ${network} cannot be read: only eip155 networks can.`);
  if (!isHttp(url)) throw new MisuseError(`The RPC URL of ${network} must be http or https.`);
  return { network, url };
}

function isHttp(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

type Parts = {
  readonly world: Pick<World, 'http' | 'monotonicMs'>;
  /** Told one line about an endpoint that lags, lies or is down. */
  readonly note: (line: string) => void;
};

/** A reader for each network; rejects where an endpoint without a network does not say which chain it serves. */
export async function openChains(endpoints: readonly Endpoint[], parts: Parts): Promise<Chains> {
  const byNetwork = new Map<string, string[]>();
  for (const { network, url } of endpoints) {
    const name = network ?? (await networkOf(url, parts));
    byNetwork.set(name, [...(byNetwork.get(name) ?? []), url]);
  }
  const readers = new Map(
    [...byNetwork].map(([network, urls]) => [network, createChainReader(rpcOf(network, urls, parts))]),
  );
  return (network) => readers.get(network);
}

function rpcOf(network: string, urls: readonly string[], parts: Parts): ReturnType<typeof createRpcPool> {
  const { http, monotonicMs } = parts.world;
  const observe = (event: RpcEvent): void => parts.note(lineOf(network, event));
  try {
    return createRpcPool({ network, endpoints: urls.map((url) => ({ url })), http, monotonicMs, observe });
  } catch (fault) {
    // Too many of them, or a network that has no such endpoints.
    throw fault instanceof TypeError ? new MisuseError(`--rpc: ${fault.message}`) : fault;
  }
}

async function networkOf(url: string, { world }: Parts): Promise<string> {
  const result = await createRpc({ url, http: world.http })('eth_chainId', []);
  const shape = /^0x[0-9a-f]{1,13}$/i;
  if (result.ok && typeof result.value === 'string' && shape.test(result.value))
    return `eip155:${Number.parseInt(result.value.slice(2), 16)}`;
  throw new Error(`${new URL(url).origin} does not say which chain it serves.`);
}

function lineOf(network: string, event: RpcEvent): string {
  switch (event.event) {
    case 'rpc_lag':
      return `${network}: ${event.origin} is ${event.blocks} blocks behind.`;
    case 'rpc_disagreement':
      return `${network}: ${event.origins.join(', ')} do not agree (${event.method}).`;
    case 'rpc_down':
      return `${network}: ${event.origin} does not answer.`;
    case 'rpc_up':
      return `${network}: ${event.origin} answers again.`;
    case 'rpc_height_lapsed':
      return `${network}: block ${event.from} (${event.tag}) is not believed any more; the endpoints are at ${event.to}.`;
    case 'rpc_refused':
      return `${network}: ${event.origin} serves another chain and is not asked.`;
    default:
      return event satisfies never;
  }
}
