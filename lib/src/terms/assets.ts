/**
 * The tokens that a price in dollars is asked in, with the EIP-712 domain that their EIP-3009 signatures are made
 * under. The name is the token's own `name()` and differs between chains of one token: a wrong one gives a
 * well-formed signature that the token refuses (G03), so every row says where it was checked.
 */
import type { Eip712Domain } from '../crypto/eip712.ts';
import { checksumAddress, plausibleAddress } from '../crypto/keccak.ts';
import { eip155ChainId } from '../wire/caip.ts';
import { parseAddress } from '../wire/hex.ts';

/** A token that can be paid with EIP-3009. */
export type Asset = {
  /** CAIP-2, `eip155:<chain id>`. */
  readonly network: string;
  /** EIP-55 spelling, as it goes on the wire. */
  readonly address: string;
  readonly symbol: string;
  readonly decimals: number;
  /** Whether a price such as `$0.01` may be asked in it, one for one. */
  readonly dollar: boolean;
  /** One object for the life of the asset, so that its separator is computed once. */
  readonly domain: Eip712Domain;
};

/** What a seller says of a token that is not in the table; `name` and `version` are the token's EIP-712 domain. */
export type AssetDefinition = {
  readonly network: string;
  readonly address: string;
  readonly symbol: string;
  readonly decimals: number;
  readonly name: string;
  readonly version: string;
  /** Default false: a token is no dollar because somebody forgot to say so. */
  readonly dollar?: boolean;
};

/** The assets a seller knows: its own before the well-known ones. */
export type AssetTable = {
  /** By CAIP-2 network and address in any letter case. */
  readonly lookup: (network: string, address: string) => Asset | undefined;
  /** What `$` means on a network: the first dollar there, own before well-known. */
  readonly dollar: (network: string) => Asset | undefined;
};

/** No token in use has more; a larger figure is a typing error that would move the price by powers of ten. */
const maxDecimals = 36;
/** Longer than any token's name; the two texts travel in every 402. */
const maxNameLength = 64;

const definitionKeys = new Set(['network', 'address', 'symbol', 'decimals', 'name', 'version', 'dollar']);

/**
 * A token of the seller's own choice; a TypeError where a member is missing or impossible, above all the EIP-712
 * name and version (G03).
 */
export function defineAsset(definition: AssetDefinition): Asset {
  for (const key of Object.keys(definition)) {
    if (!definitionKeys.has(key)) throw new TypeError(`An asset has no member "${key}".`);
  }
  const { network, symbol, decimals, name, version, dollar = false } = definition;
  const chainId = eip155ChainId(network);
  if (chainId === undefined)
    throw new TypeError(`An asset's network is eip155:<chain id>, not "${network}".`);
  const address = configuredAddress(definition.address, `asset ${symbol} on ${network}`);
  if (!Number.isInteger(decimals) || decimals < 0 || decimals > maxDecimals) {
    throw new TypeError(`The decimals of ${symbol} on ${network} must lie between 0 and ${maxDecimals}.`);
  }
  for (const [member, text] of Object.entries({ symbol, name, version })) {
    if (typeof text !== 'string' || text === '' || text.length > maxNameLength || !text.isWellFormed()) {
      throw new TypeError(
        `The asset ${address} on ${network} needs its ${member}; name and version are those of the token's EIP-712 domain.`,
      );
    }
  }
  const domain = Object.freeze({
    name,
    version,
    chainId: BigInt(chainId),
    verifyingContract: address.toLowerCase(),
  });
  return Object.freeze({ network, address, symbol, decimals, dollar, domain });
}

/** Reads an address out of configuration: a TypeError for a wrong shape, a failed EIP-55 check or the zero address. */
export function configuredAddress(text: string, whose: string): string {
  const address = typeof text === 'string' ? parseAddress(text) : undefined;
  if (address === undefined) throw new TypeError(`The address of ${whose} must be 0x and 40 hex digits.`);
  if (!plausibleAddress(text)) {
    throw new TypeError(`The address of ${whose} does not fit its own check (EIP-55): ${text}`);
  }
  if (/^0x0{40}$/.test(address)) throw new TypeError(`The address of ${whose} is the zero address.`);
  return checksumAddress(address);
}

/** Puts a seller's own assets before the well-known ones; the same token twice among them is a TypeError. */
export function createAssetTable(own: readonly Asset[] = []): AssetTable {
  const byKey = new Map<string, Asset>();
  const dollars = new Map<string, Asset>();
  for (const asset of own) {
    if (byKey.has(assetKey(asset.network, asset.address))) {
      throw new TypeError(`The asset ${asset.address} on ${asset.network} is defined twice.`);
    }
    add(asset);
  }
  for (const asset of wellKnownAssets) add(asset);
  return {
    lookup: (network, address) => byKey.get(assetKey(network, address)),
    dollar: (network) => dollars.get(network),
  };

  function add(asset: Asset): void {
    const key = assetKey(asset.network, asset.address);
    if (!byKey.has(key)) byKey.set(key, asset);
    if (asset.dollar && !dollars.has(asset.network)) dollars.set(asset.network, asset);
  }
}

function assetKey(network: string, address: string): string {
  return `${network}/${address.toLowerCase()}`;
}

/** A well-known asset by CAIP-2 network and address in any letter case. */
export function lookupAsset(network: string, address: string): Asset | undefined {
  return wellKnownTable.lookup(network, address);
}

function usdc(chainId: number, address: string, name: 'USDC' | 'USD Coin'): Asset {
  const network = `eip155:${chainId}`;
  return defineAsset({ network, address, symbol: 'USDC', decimals: 6, name, version: '2', dollar: true });
}

/**
 * USDC where it can be paid with EIP-3009. Every address stands in viem 2.57.20 `viem/tokens` too. Names and versions:
 * [O] the default table of @x402/evm 2.27.0; [S] they reproduce the DOMAIN_SEPARATOR() that others read on chain in
 * 2026, which no other name does. The tests beside this file compare all three.
 */
export const wellKnownAssets: readonly Asset[] = Object.freeze([
  usdc(1, '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48', 'USD Coin'), // Ethereum [O, S]
  usdc(10, '0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85', 'USD Coin'), // OP Mainnet [S]
  usdc(130, '0x078D782b760474a361dDA0AF3839290b0EF57AD6', 'USDC'), // Unichain [S]
  usdc(137, '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359', 'USD Coin'), // Polygon [O, S]
  usdc(143, '0x754704Bc059F8C67012fEd69BC8A327a5aafb603', 'USDC'), // Monad [O, S]
  usdc(146, '0x29219dd400f2Bf60E5a23d13Be72B486D4038894', 'USDC'), // Sonic [S]
  usdc(480, '0x79A02482A880bCE3F13e09Da970dC34db4CD24d1', 'USDC'), // World Chain [S]
  usdc(999, '0xb88339CB7199b77E23DB6E890353E22632Ba630f', 'USDC'), // HyperEVM [S]
  usdc(1329, '0xe15fC38F6D8c56aF07bbCBe3BAf5708A2Bf42392', 'USDC'), // Sei [O, S]
  usdc(8453, '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', 'USD Coin'), // Base [O, S]
  usdc(42161, '0xaf88d065e77c8cC2239327C5EDb3A432268e5831', 'USD Coin'), // Arbitrum One [O, S]
  usdc(42220, '0xcebA9300f2b948710d2653dD7B07f33A8B32118C', 'USDC'), // Celo [O, S]
  usdc(43114, '0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E', 'USD Coin'), // Avalanche [O, S]
  usdc(1328, '0x4fCF1784B31630811181f670Aea7A7bEF803eaED', 'USDC'), // Sei testnet [O]
  usdc(43113, '0x5425890298aed601595a70AB815c96711a31Bc65', 'USD Coin'), // Avalanche Fuji [S]
  usdc(80002, '0x41E94Eb019C0762f9Bfcf9Fb1E58725BfB0e7582', 'USDC'), // Polygon Amoy [S]
  usdc(84532, '0x036CbD53842c5426634e7929541eC2318f3dCF7e', 'USDC'), // Base Sepolia [O, S]
  usdc(421614, '0x75faf114eafb1BDbe2F0316DF893fd58CE46AA4d', 'USD Coin'), // Arbitrum Sepolia [O, S]
  usdc(11142220, '0x01C5C0122039549AD1493B8220cABEdD739BC44E', 'USDC'), // Celo Sepolia [O]
  usdc(11155111, '0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238', 'USDC'), // Ethereum Sepolia [S]
  usdc(11155420, '0x5fd84259d66Cd46123540766Be93DFE6D43130D7', 'USDC'), // OP Sepolia [S]
]);

const wellKnownTable = createAssetTable();
