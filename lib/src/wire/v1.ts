/**
 * What is left of x402 version 1 in the wild, enough to recognise it by name and to say what to change:
 * its two headers and its network names. Version 1 itself is not served from here.
 */

/** The header in which a version 1 buyer sends its payment. */
export const paymentHeaderV1 = 'x-payment';

/** The header in which a version 1 seller reports the settlement. */
export const paymentResponseHeaderV1 = 'x-payment-response';

/** Version 1's network names with their CAIP-2 networks (EIP-155 registry; Solana by genesis hash). */
const networksV1: ReadonlyMap<string, string> = new Map([
  ['ethereum', 'eip155:1'],
  ['sepolia', 'eip155:11155111'],
  ['abstract', 'eip155:2741'],
  ['abstract-testnet', 'eip155:11124'],
  ['base', 'eip155:8453'],
  ['base-mainnet', 'eip155:8453'],
  ['base-sepolia', 'eip155:84532'],
  ['avalanche', 'eip155:43114'],
  ['avalanche-fuji', 'eip155:43113'],
  ['iotex', 'eip155:4689'],
  ['sei', 'eip155:1329'],
  ['sei-testnet', 'eip155:1328'],
  ['polygon', 'eip155:137'],
  ['polygon-amoy', 'eip155:80002'],
  ['peaq', 'eip155:3338'],
  ['story', 'eip155:1514'],
  ['educhain', 'eip155:41923'],
  ['skale-base-sepolia', 'eip155:324705682'],
  ['megaeth', 'eip155:4326'],
  ['monad', 'eip155:143'],
  ['stable', 'eip155:988'],
  ['stable-testnet', 'eip155:2201'],
  ['celo', 'eip155:42220'],
  ['flare', 'eip155:14'],
  ['solana', 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'],
  ['solana-devnet', 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1'],
]);

/** The CAIP-2 network that a version 1 network name means, or undefined. */
export function networkOfV1(name: string): string | undefined {
  return networksV1.get(name);
}
