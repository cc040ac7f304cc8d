/** A price in words or in atomic units, and what it comes to on each accepted network: exact, or an error. */
import { maxAmount, moneyFaults, parseMoney } from '../wire/amount.ts';
import type { Asset, AssetTable } from './assets.ts';

/** Atomic units of one asset. */
export type AssetAmount = { readonly asset: Asset; readonly amount: bigint };

/** `'$0.01'`, asked in the dollar of every accepted network, or atomic units of one asset. */
export type Price = string | AssetAmount;

/** One price, or several ways to pay that are each enough. */
export type Prices = Price | readonly Price[];

/** A price, or a function of the same parsed request that the handler will see (B11). */
export type PriceOf<Parsed> = Prices | ((parsed: Parsed) => Prices | Promise<Prices>);

/** The amounts of a price, or in a sentence why it has none. */
export type Priced =
  | { readonly ok: true; readonly amounts: readonly AssetAmount[] }
  | { readonly ok: false; readonly why: string };

/** What a price comes to in each asset of the given networks; nothing is rounded, and nothing is free. */
export function priceAmounts(prices: unknown, networks: readonly string[], assets: AssetTable): Priced {
  const amounts: AssetAmount[] = [];
  const list: readonly unknown[] = Array.isArray(prices) ? prices : [prices];
  for (const price of list) {
    const priced = typeof price === 'string' ? dollars(price, networks, assets) : atomic(price);
    if (!priced.ok) return priced;
    amounts.push(...priced.amounts);
  }
  return amounts.length === 0 ? { ok: false, why: 'There is no price.' } : { ok: true, amounts };
}

function dollars(text: string, networks: readonly string[], assets: AssetTable): Priced {
  const amounts: AssetAmount[] = [];
  for (const network of networks) {
    const asset = assets.dollar(network);
    if (asset === undefined) return { ok: false, why: `No dollar asset is known on ${network}.` };
    const money = parseMoney(text, asset.decimals);
    if (!money.ok) return { ok: false, why: `${moneyFaults[money.fault]} It was "${text}" on ${network}.` };
    amounts.push({ asset, amount: money.value });
  }
  return { ok: true, amounts };
}

function atomic(price: unknown): Priced {
  if (!isAssetAmount(price)) {
    return {
      ok: false,
      why: 'A price is "$…" or { asset, amount } with an asset of defineAsset and a bigint.',
    };
  }
  if (price.amount <= 0n || price.amount > maxAmount) {
    return { ok: false, why: `${price.amount} units of ${price.asset.symbol} cannot be asked.` };
  }
  return { ok: true, amounts: [{ asset: price.asset, amount: price.amount }] };
}

function isAssetAmount(price: unknown): price is AssetAmount {
  if (typeof price !== 'object' || price === null || !('asset' in price) || !('amount' in price))
    return false;
  const { asset, amount } = price;
  return typeof amount === 'bigint' && typeof asset === 'object' && asset !== null && 'domain' in asset;
}
