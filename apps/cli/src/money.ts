/** Amounts for people: exact, with all decimals that say something. */
import { type Asset, lookupAsset } from 'counterfoil/terms';

/** `0.01 USDC`: atomic units as a decimal number, at least two decimals where the token has them. */
export function formatAsset(amount: bigint, asset: Pick<Asset, 'decimals' | 'symbol'>): string {
  const { decimals, symbol } = asset;
  const digits = amount.toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  const shown = fraction.padEnd(Math.min(2, decimals), '0');
  return `${whole}${shown === '' ? '' : `.${shown}`} ${symbol}`;
}

/** With the decimals of a well-known asset; else the atomic units as they are, and says so. */
export function formatMoney(amount: bigint, token: { network: string; address: string }): string {
  const asset = lookupAsset(token.network, token.address);
  return asset === undefined ? `${amount} units` : formatAsset(amount, asset);
}
