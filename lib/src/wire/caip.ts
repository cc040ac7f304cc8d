/**
 * Chain-agnostic names: CAIP-2 networks (`eip155:8453`) and CAIP-10 accounts. Only the canonical spelling is
 * read, because a network is part of the payment key and one chain must have one name.
 */

import { parseAddress } from './hex.ts';

/** A network taken apart; `namespace:reference` is its text. */
export type Network = { readonly namespace: string; readonly reference: string };

/** An account on a network; an eip155 address is lower case. */
export type Account = { readonly network: string; readonly address: string };

/** CAIP-2: a namespace of 3 to 8 and a reference of 1 to 32 characters. */
const networkPattern = /^([-a-z0-9]{3,8}):([-_a-zA-Z0-9]{1,32})$/;

/** CAIP-10: the account address. */
const accountPattern = /^[-.%a-zA-Z0-9]{1,128}$/;

/** An EIP-155 chain id: decimal, no leading zero; 0 is no chain. */
const chainIdPattern = /^[1-9][0-9]*$/;

/** Parses a canonical CAIP-2 network, or gives undefined; `eip155:08453` and `EIP155:8453` are not canonical. */
export function parseNetwork(text: string): Network | undefined {
  const parts = networkPattern.exec(text);
  const namespace = parts?.[1];
  const reference = parts?.[2];
  if (namespace === undefined || reference === undefined) return undefined;
  if (namespace === 'eip155' && !chainIdPattern.test(reference)) return undefined;
  return { namespace, reference };
}

/** Formats a network; one that {@link parseNetwork} would not read throws TypeError. */
export function formatNetwork(network: Network): string {
  const text = `${network.namespace}:${network.reference}`;
  if (parseNetwork(text) === undefined) throw new TypeError('not a canonical CAIP-2 network');
  return text;
}

/** The EIP-155 chain id of a network text, or undefined for another namespace, a non-canonical text or an id above 2^53 - 1. */
export function eip155ChainId(text: string): number | undefined {
  const network = parseNetwork(text);
  if (network?.namespace !== 'eip155') return undefined;
  const chainId = Number(network.reference);
  return Number.isSafeInteger(chainId) ? chainId : undefined;
}

/** Parses a CAIP-10 account; an eip155 address must be one and comes back in lower case. */
export function parseAccount(text: string): Account | undefined {
  const end = text.lastIndexOf(':');
  const network = text.slice(0, Math.max(end, 0));
  const address = text.slice(end + 1);
  const parsed = parseNetwork(network);
  if (parsed === undefined || !accountPattern.test(address)) return undefined;
  if (parsed.namespace !== 'eip155') return { network, address };
  const evm = parseAddress(address);
  return evm === undefined ? undefined : { network, address: evm };
}

/** Formats an account; one that {@link parseAccount} would not read throws TypeError. */
export function formatAccount(account: Account): string {
  const parsed = parseAccount(`${account.network}:${account.address}`);
  if (parsed === undefined) throw new TypeError('not a CAIP-10 account');
  return `${parsed.network}:${parsed.address}`;
}
