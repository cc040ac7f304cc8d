/**
 * How this program talks to its chain: viem clients for chain 31337 on a loopback address.
 * Nothing is retried: a transaction sent twice is a bug to be seen, and the node is on the same machine.
 */
import {
  type Chain,
  createPublicClient,
  createTestClient,
  createWalletClient,
  defineChain,
  type HttpTransport,
  http,
  type PublicClient,
  type TestClient,
  type WalletClient,
} from 'viem';
import { CHAIN_ID } from './anvil.ts';

/** A dump of a chain of some thousand blocks takes a tenth of a second; a busy machine may need longer. */
const CALL_LIMIT_MS = 30_000;

/** Reads of the local chain. */
export type Reader = PublicClient<HttpTransport, Chain>;

/** The node's own controls: mining, snapshots, code, dumps. */
export type Control = TestClient<'anvil', HttpTransport, Chain>;

/** Sends what is signed already, or what the node signs for one of its own accounts. */
export type Sender = WalletClient<HttpTransport, Chain>;

/** The three ways to use one node. */
export type Clients = { readonly reader: Reader; readonly control: Control; readonly sender: Sender };

/** The local chain as viem describes one; its id is on no real network. */
export const devnetChain: Chain = defineChain({
  id: CHAIN_ID,
  name: 'Counterfoil devnet',
  nativeCurrency: { name: 'Local Ether', symbol: 'LOCALETH', decimals: 18 },
  rpcUrls: { default: { http: [] } },
  testnet: true,
});

/** The clients of the node behind this JSON-RPC address. */
export function createClients(rpcUrl: string): Clients {
  const base = {
    chain: devnetChain,
    transport: http(rpcUrl, { retryCount: 0, timeout: CALL_LIMIT_MS }),
    cacheTime: 0,
  };
  return {
    reader: createPublicClient(base),
    control: createTestClient({ ...base, mode: 'anvil' }),
    sender: createWalletClient(base),
  };
}
